include(tests/support/room.cmake)
twinloom_test(conformance api core_evaluate frontends_arrays frontends_fx tests_support tests_programs
              tests_schedules tests_sealed tools_twinloom GPU
              ENVIRONMENT ${TWINLOOM_LEAKS_LEFT_OUT})
add_dependencies(test_conformance twinloom)
twinloom_amount(graphs 2000 40)
twinloom_amount(one_pass_graphs 10 3)
twinloom_amount(fast_graphs 100 10)
twinloom_amount(onnx_graphs 200 20)
target_compile_definitions(test_conformance PRIVATE TWINLOOM_ONE_PASS_GRAPHS=${one_pass_graphs}
                           TWINLOOM_DEFAULT_FAST_GRAPHS=${fast_graphs} TWINLOOM_DEFAULT_ONNX_GRAPHS=${onnx_graphs})

# `ninja random_graphs` runs more of them than a test can, and keeps count in ledger.md.
file(GLOB graph_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/conformance/*.cpp)
list(FILTER graph_sources EXCLUDE REGEX _test.cpp$)
add_executable(run_random_graphs EXCLUDE_FROM_ALL ${graph_sources} ${CMAKE_SOURCE_DIR}/tests/conformance/ledger/main.cpp)
target_include_directories(run_random_graphs PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(run_random_graphs PRIVATE api core_evaluate frontends_arrays frontends_fx frontends_onnx tests_support
                      tests_programs tests_schedules tests_sealed tools_twinloom)
add_custom_target(random_graphs
  COMMAND run_random_graphs --ledger ${CMAKE_SOURCE_DIR}/tests/conformance/ledger.md
  USES_TERMINAL)
foreach(program test_conformance run_random_graphs)
  twinloom_allocator(${program})
  target_compile_definitions(${program} PRIVATE
    TWINLOOM_FAILURES="${CMAKE_BINARY_DIR}/Testing/Temporary/conformance"
    TWINLOOM_PROGRAM="$<TARGET_FILE:twinloom>"
    TWINLOOM_DEFAULT_GRAPHS=${graphs})
endforeach()
