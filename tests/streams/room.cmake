# What a caller may rely on where there is a GPU; all are skipped where there is none.
if(TARGET backends_cuda AND NOT TWINLOOM_SANITIZE)
  twinloom_test(streams api GPU ENVIRONMENT ${TWINLOOM_LEAKS_LEFT_OUT})
  target_include_directories(test_streams SYSTEM PRIVATE ${CUDA_INCLUDE})
  target_sources(test_streams PRIVATE ${CMAKE_SOURCE_DIR}/tests/determinism/families.cpp
                 ${CMAKE_SOURCE_DIR}/tests/determinism/inputs.cpp)
endif()
