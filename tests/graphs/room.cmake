include(tests/support/room.cmake)
add_test(NAME graphs.RealRunsOfPyTorch
         COMMAND ${CMAKE_CURRENT_LIST_DIR}/run_graphs $<TARGET_FILE:twinloom>
                 ${CMAKE_CURRENT_LIST_DIR}/printed ${shared}/graphs)
set_tests_properties(graphs.RealRunsOfPyTorch PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 LABELS graphs_gpu)
if(TWINLOOM_SANITIZE)
  set_tests_properties(graphs.RealRunsOfPyTorch PROPERTIES ENVIRONMENT TWINLOOM_NETWORKS=0)
endif()
