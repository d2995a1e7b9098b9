twinloom_test(emit backends_cpu)
