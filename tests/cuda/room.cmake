if(TARGET backends_cuda)
  twinloom_test(cuda backends_cuda core_schedule GPU ENVIRONMENT ${TWINLOOM_LEAKS_LEFT_OUT})
  target_sources(test_cuda PRIVATE ${CMAKE_SOURCE_DIR}/tests/schedule/nests.cpp)

  # Every f32 input of every function of one input, on a GPU and on the CPU: minutes, so no test runs it.
  add_executable(gpu_functions EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/cuda/functions/main.cpp)
  target_include_directories(gpu_functions PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(gpu_functions PRIVATE api CLI11::CLI11)
endif()
