find_library(Z3_LIBRARY z3 REQUIRED)
twinloom_test(index core_index ${Z3_LIBRARY} SWEEPS Proof.SimplifyChangesNoValue)
