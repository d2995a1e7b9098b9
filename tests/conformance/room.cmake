include(tests/support/room.cmake)
twinloom_test(conformance api core_evaluate frontends_arrays frontends_fx tests_support)
add_dependencies(test_conformance twinloom)
# Sanitizers make a graph take ten times as long.
if(TWINLOOM_SANITIZE)
  set(graphs 60)
else()
  set(graphs 500)
endif()
target_compile_definitions(test_conformance PRIVATE
  TWINLOOM_FAILURES="${CMAKE_BINARY_DIR}/Testing/Temporary/conformance"
  TWINLOOM_PROGRAM="$<TARGET_FILE:twinloom>"
  TWINLOOM_DEFAULT_GRAPHS=${graphs})
