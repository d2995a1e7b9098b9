twinloom_test(schedule core_schedule)
