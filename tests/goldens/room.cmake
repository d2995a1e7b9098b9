# Plans and writes texts, and never compiles them: the dialect of CUDA needs none of its headers.
set(goldens_sources planners.cpp subjects.cpp make_texts.cpp texts.cpp differences.cpp)
list(TRANSFORM goldens_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
add_library(tests_goldens STATIC ${goldens_sources})
foreach(name cases speed_cases plain_levels ways_cases gpu_cases gpu_indexed_cases gpu_inputs inputs)
  target_sources(tests_goldens PRIVATE ${CMAKE_SOURCE_DIR}/perf/${name}.cpp)
endforeach()
if(NOT TARGET backends_cuda)
  target_sources(tests_goldens PRIVATE ${CMAKE_SOURCE_DIR}/backends/cuda/dialect.cpp
                                       ${CMAKE_SOURCE_DIR}/backends/cuda/launch_bounds.cpp)
endif()
target_link_libraries(tests_goldens PUBLIC tools_twinloom PRIVATE plain_loops_avx2 plain_loops_avx512)
target_compile_options(tests_goldens PRIVATE $<$<CONFIG:Release>:-O1>)
target_compile_definitions(tests_goldens PRIVATE TWINLOOM_GRAPHS_FOLDER="${CMAKE_SOURCE_DIR}/tests/graphs")

add_executable(goldens ${CMAKE_CURRENT_LIST_DIR}/program/main.cpp)
target_link_libraries(goldens PRIVATE tests_goldens)
target_compile_options(goldens PRIVATE $<$<CONFIG:Release>:-O1>)
target_compile_definitions(goldens PRIVATE TWINLOOM_GOLDENS_FOLDER="${CMAKE_CURRENT_LIST_DIR}")
twinloom_allocator(goldens)
foreach(machine cpu-avx2 cpu-avx512 h200)
  add_test(NAME goldens.${machine} COMMAND goldens ${machine})
  set_tests_properties(goldens.${machine} PROPERTIES LABELS goldens)
endforeach()

# What it says of a difference.
add_executable(test_goldens ${CMAKE_CURRENT_LIST_DIR}/differences_test.cpp)
target_link_libraries(test_goldens PRIVATE tests_goldens GTest::gtest GTest::gtest_main)
gtest_discover_tests(test_goldens TEST_PREFIX goldens. DISCOVERY_TIMEOUT 120 PROPERTIES LABELS goldens)
