include(tests/support/room.cmake)
twinloom_test(measure core_measure core_schedule tests_programs tests_sealed)
