# OpenMP serves the parallel loop of a kernel; the device headers travel inside the library.
find_package(OpenMP REQUIRED COMPONENTS CXX)
target_link_libraries(backends_cpu PRIVATE OpenMP::OpenMP_CXX)
include(cmake/embed.cmake)
file(GLOB cpu_device_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/backends/cpu/device/*.h)
twinloom_embed(backends_cpu twinloom::cpu::cpu_headers backends/cpu/dialect.h cpu ${cpu_device_headers})
twinloom_embed(backends_cpu twinloom::cpu::abi_headers backends/cpu/dialect.h core/emit
               ${CMAKE_SOURCE_DIR}/core/emit/abi.h)

# The prelude of kernels is compiled while the project is built, by the parts of this room that it is made of.
set(preludes ${CMAKE_BINARY_DIR}/preludes)
file(MAKE_DIRECTORY ${preludes})
add_executable(precompile ${CMAKE_SOURCE_DIR}/backends/cpu/precompile/precompile.cpp
               ${CMAKE_SOURCE_DIR}/backends/cpu/isa.cpp ${CMAKE_SOURCE_DIR}/backends/cpu/dialect.cpp)
target_link_libraries(precompile PRIVATE core_emit jit)
twinloom_embed(precompile twinloom::cpu::cpu_headers backends/cpu/dialect.h cpu ${cpu_device_headers})
twinloom_embed(precompile twinloom::cpu::abi_headers backends/cpu/dialect.h core/emit
               ${CMAKE_SOURCE_DIR}/core/emit/abi.h)
add_custom_command(OUTPUT ${preludes}/avx2.pch ${preludes}/avx512.pch
                   COMMAND precompile ${preludes} DEPENDS precompile VERBATIM)
set_source_files_properties(${CMAKE_SOURCE_DIR}/backends/cpu/preludes.cpp PROPERTIES
  COMPILE_DEFINITIONS "TWINLOOM_PRELUDES=\"${preludes}\""
  OBJECT_DEPENDS "${preludes}/avx2.pch;${preludes}/avx512.pch")

# What exported sources include besides the device headers.
file(GLOB cpu_exported CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/backends/cpu/exported/*.h)
twinloom_embed(backends_cpu twinloom::cpu::cpu_exported_headers backends/cpu/source_target.h include ${cpu_exported})
twinloom_embed(backends_cpu twinloom::cpu::task_headers backends/cpu/source_target.h include/core/runtime
               ${CMAKE_SOURCE_DIR}/core/runtime/tasks.h)
twinloom_embed(backends_cpu twinloom::cpu::floating_point_headers backends/cpu/source_target.h include/backends/cpu
               ${CMAKE_SOURCE_DIR}/backends/cpu/floating_point.h)
