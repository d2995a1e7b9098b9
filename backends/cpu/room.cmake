# OpenMP serves the parallel loop of a kernel; the device headers travel inside the library.
find_package(OpenMP REQUIRED COMPONENTS CXX)
target_link_libraries(backends_cpu PRIVATE OpenMP::OpenMP_CXX)
include(cmake/embed.cmake)
file(GLOB cpu_device_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/backends/cpu/device/*.h)
twinloom_embed(backends_cpu twinloom::cpu::cpu_headers backends/cpu/dialect.h cpu ${cpu_device_headers})
twinloom_embed(backends_cpu twinloom::cpu::abi_headers backends/cpu/dialect.h core/emit
               ${CMAKE_SOURCE_DIR}/core/emit/abi.h)
