# Rounds of each of 8 threads; all of them where races are looked for.
set(safety_rounds 30)
if(TWINLOOM_SANITIZE STREQUAL thread)
  set(safety_rounds 500)
endif()
twinloom_test(safety api)
target_compile_definitions(test_safety PRIVATE TWINLOOM_SAFETY_ROUNDS=${safety_rounds})
