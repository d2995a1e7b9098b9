twinloom_test(cost core_cost core_machine)

# Estimates beside times that were measured on a GPU, which need none, and on a CPU with one worker and two.
if(NOT TWINLOOM_SANITIZE)
  add_test(NAME cost.BesideMeasuredOfACpu
           COMMAND regret --measured ${CMAKE_SOURCE_DIR}/perf/measured/xeon-1.json
                   ${CMAKE_SOURCE_DIR}/perf/measured/xeon-2.json --estimates measured)
  set_tests_properties(cost.BesideMeasuredOfACpu PROPERTIES LABELS cost TIMEOUT 120)
  add_test(NAME cost.BesideMeasured
           COMMAND regret --measured ${CMAKE_SOURCE_DIR}/perf/measured/h200.json
                   ${CMAKE_SOURCE_DIR}/perf/measured/h200-2026-11-30.json --estimates h200)
  set_tests_properties(cost.BesideMeasured PROPERTIES LABELS cost TIMEOUT 120)
endif()
