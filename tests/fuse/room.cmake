twinloom_test(fuse core_fuse core_lower core_evaluate core_graph core_loops)
target_sources(test_fuse PRIVATE ${CMAKE_SOURCE_DIR}/tests/lower/run_lowered.cpp)
