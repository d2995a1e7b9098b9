if(TARGET backends_cuda)
  twinloom_test(cuda backends_cuda core_schedule GPU ENVIRONMENT ${TWINLOOM_LEAKS_LEFT_OUT})
  target_sources(test_cuda PRIVATE ${CMAKE_SOURCE_DIR}/tests/schedule/nests.cpp)
endif()
