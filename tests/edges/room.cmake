twinloom_test(edges core_pipeline core_evaluate backends_cpu backends_reference)
target_compile_definitions(test_edges PRIVATE TWINLOOM_EDGES="${CMAKE_SOURCE_DIR}/tests/edges/edges.md")
