if(TARGET backends_cuda)
  twinloom_test(cuda backends_cuda)
endif()
