include(tests/support/room.cmake)
twinloom_test(schedule core_schedule core_emit tests_schedules
              SWEEPS *.ChosenSchedules/*:Nests/Equal.*/norm_backwards:Nests/Equal.*/rows_and_columns)
