twinloom_test(base core_base)
