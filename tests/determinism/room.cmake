# More threads than cores would wait for each other by counting.
twinloom_test(determinism core_pipeline backends_cpu backends_reference ENVIRONMENT OMP_WAIT_POLICY=passive)
twinloom_amount(runs 250 25)
target_compile_definitions(test_determinism PRIVATE TWINLOOM_RUNS=${runs})
