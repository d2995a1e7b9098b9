twinloom_test(machine core_machine)
