include(tests/support/room.cmake)
twinloom_test(runtime api core_evaluate tests_support tests_sealed tests_programs)
