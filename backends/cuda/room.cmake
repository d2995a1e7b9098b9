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
