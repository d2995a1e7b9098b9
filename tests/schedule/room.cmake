twinloom_test(schedule core_schedule SWEEPS Nests/Equal.*/norm_backwards:Nests/Equal.*/rows_and_columns)
