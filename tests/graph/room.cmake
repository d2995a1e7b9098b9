twinloom_test(graph core_graph)
