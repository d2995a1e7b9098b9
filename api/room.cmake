# #include <twinloom/twinloom.h>
target_include_directories(api PUBLIC ${CMAKE_SOURCE_DIR}/api)
if(TARGET backends_cuda)
  target_compile_definitions(api PRIVATE TWINLOOM_HAS_CUDA)
endif()
