if(TARGET backends_cuda)
  twinloom_test(cuda backends_cuda core_schedule GPU ENVIRONMENT ${TWINLOOM_LEAKS_LEFT_OUT}
                SWEEPS *.CompileWithoutAWarning*:*.NvrtcTakesWhatIsChosen*)
  target_sources(test_cuda PRIVATE ${CMAKE_SOURCE_DIR}/tests/schedule/nests.cpp
                                   ${CMAKE_SOURCE_DIR}/tests/schedule/scan_nests.cpp
                                   ${CMAKE_SOURCE_DIR}/tests/schedule/nests_below_bounds.cpp
                                   ${CMAKE_SOURCE_DIR}/tests/schedule/nests_of_panels.cpp
                                   ${CMAKE_SOURCE_DIR}/tests/schedule/nests_with_lookups.cpp)
  target_include_directories(test_cuda SYSTEM PRIVATE ${CUDA_INCLUDE})

  # Libraries that the tests open in place of CUDA's: LIBRARY SOURCE DEFINITION...
  function(twinloom_stand_in library source)
    add_library(${library} MODULE ${CMAKE_SOURCE_DIR}/tests/cuda/stand_ins/${source})
    target_include_directories(${library} PRIVATE ${CMAKE_SOURCE_DIR})
    target_include_directories(${library} SYSTEM PRIVATE ${CUDA_INCLUDE})
    target_link_libraries(${library} PRIVATE fmt::fmt)
    target_compile_definitions(${library} PRIVATE ${ARGN})
    set_target_properties(${library} PROPERTIES CXX_VISIBILITY_PRESET default
                          LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/stand_ins)
    add_dependencies(test_cuda ${library})
  endfunction()
  twinloom_stand_in(driver driver.cpp STAND_IN_VERSION=12000)
  twinloom_stand_in(old_driver driver.cpp STAND_IN_VERSION=11040)
  twinloom_stand_in(part_of_driver driver.cpp STAND_IN_VERSION=12000 STAND_IN_PARTS)
  # A library that is open already is taken for every later one of its name.
  twinloom_stand_in(one_gpu one_gpu.cpp)
  target_link_options(one_gpu PRIVATE -Wl,-soname,libcuda.so.1)
  twinloom_stand_in(old_nvrtc nvrtc.cpp)
  twinloom_stand_in(old_nvrtc-builtins nvrtc.cpp)

  # The sort again, where two of a block's threads that touch one place without a wait between them are found.
  if(NOT TWINLOOM_SANITIZE)
    add_executable(test_sort_races ${CMAKE_SOURCE_DIR}/tests/cuda/sort_test.cpp
                   ${CMAKE_SOURCE_DIR}/backends/cuda/sort.cpp)
    target_include_directories(test_sort_races PRIVATE ${CMAKE_SOURCE_DIR})
    target_compile_options(test_sort_races PRIVATE -fsanitize=thread)
    target_link_options(test_sort_races PRIVATE -fsanitize=thread)
    target_link_libraries(test_sort_races PRIVATE core_base GTest::gtest GTest::gtest_main)
    gtest_discover_tests(test_sort_races TEST_PREFIX races. DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 1200 LABELS cuda)
  endif()

  # What functions take of a GPU, as a table.
  add_executable(gpu_costs EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/cuda/costs/main.cpp)
  foreach(source compiler cost_kernels gpu_cost machine_code)
    target_sources(gpu_costs PRIVATE ${CMAKE_SOURCE_DIR}/tests/cuda/${source}.cpp)
  endforeach()
  target_include_directories(gpu_costs PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(gpu_costs PRIVATE backends_cuda GTest::gtest)

  # Every f32 input of every function of one input, on a GPU and on the CPU: minutes, so no test runs it.
  add_executable(gpu_functions EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/cuda/functions/main.cpp)
  target_include_directories(gpu_functions PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(gpu_functions PRIVATE api CLI11::CLI11)
endif()
