# CUDA's headers are all that a build needs; its libraries are opened when a program runs. The device headers travel
# inside the library.
target_include_directories(backends_cuda SYSTEM PRIVATE ${CUDA_INCLUDE})
target_link_libraries(backends_cuda PRIVATE ${CMAKE_DL_LIBS})
# What is built with this back end knows it.
target_compile_definitions(backends_cuda INTERFACE TWINLOOM_HAS_CUDA)
include(cmake/embed.cmake)
file(GLOB cuda_device_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/backends/cuda/device/*.h)
twinloom_embed(backends_cuda twinloom::cuda::cuda_headers backends/cuda/device_text.h cuda ${cuda_device_headers})
twinloom_embed(backends_cuda twinloom::cuda::abi_headers backends/cuda/device_text.h core/emit
               ${CMAKE_SOURCE_DIR}/core/emit/abi.h)
twinloom_embed(backends_cuda twinloom::cuda::table_headers backends/cuda/device_text.h core/ops
               ${CMAKE_SOURCE_DIR}/core/ops/pointwise.def ${CMAKE_SOURCE_DIR}/core/ops/quick.def)
# All of them as one text, of which a kernel is given what it needs: declarations.h.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/include)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/backends/cuda/device ${CMAKE_BINARY_DIR}/generated/include/cuda SYMBOLIC)
set(flat_text ${CMAKE_BINARY_DIR}/generated/backends/cuda/flat_text.cpp)
file(GLOB device_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/ops/device/*.h)
add_custom_command(
  OUTPUT ${flat_text}
  COMMAND ${CMAKE_COMMAND} -DCOMPILER=${CMAKE_CXX_COMPILER} -DROOT=${CMAKE_SOURCE_DIR}
          -DINCLUDE=${CMAKE_BINARY_DIR}/generated/include -DOUTPUT=${flat_text}
          -P ${CMAKE_SOURCE_DIR}/backends/cuda/flatten.cmake
  DEPENDS ${cuda_device_headers} ${device_headers} ${CMAKE_SOURCE_DIR}/core/emit/abi.h
          ${CMAKE_SOURCE_DIR}/core/ops/pointwise.def ${CMAKE_SOURCE_DIR}/core/ops/quick.def
          ${CMAKE_SOURCE_DIR}/backends/cuda/flatten.cmake
  VERBATIM)
target_sources(backends_cuda PRIVATE ${flat_text})

# What exported sources include besides the device headers.
file(GLOB cuda_exported CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/backends/cuda/exported/*.h)
twinloom_embed(backends_cuda twinloom::cuda::cuda_exported_headers backends/cuda/source_target.h include ${cuda_exported})
twinloom_embed(backends_cuda twinloom::cuda::sort_sources backends/cuda/source_target.h include/backends/cuda
               ${CMAKE_SOURCE_DIR}/backends/cuda/sort.h ${CMAKE_SOURCE_DIR}/backends/cuda/sort.cpp)
