twinloom_test(schedule core_schedule SWEEPS *.ChosenSchedules/*:Nests/Equal.*/norm_backwards:Nests/Equal.*/rows_and_columns)
