twinloom_test(measure core_measure)
