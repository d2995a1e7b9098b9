twinloom_test(evaluate core_evaluate)
