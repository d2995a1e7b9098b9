twinloom_test(lower core_fuse core_lower core_evaluate core_graph core_loops)
