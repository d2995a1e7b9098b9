# More threads than cores would wait for each other by counting.
twinloom_test(determinism core_pipeline backends_cpu backends_reference ENVIRONMENT OMP_WAIT_POLICY=passive)
# Sanitizers make a run take several times as long.
if(TWINLOOM_SANITIZE)
  set(runs 25)
else()
  set(runs 250)
endif()
target_compile_definitions(test_determinism PRIVATE TWINLOOM_RUNS=${runs})
