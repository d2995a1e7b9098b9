# The compiler and the session need nothing of the other rooms.
twinloom_test(jit jit)
