include(tests/support/room.cmake)
twinloom_test(backends backends_cpu backends_reference tests_support)
