twinloom_test(steps core_schedule)
