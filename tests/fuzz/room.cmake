# Arguments in memory that notices are the random graphs' own.
include(tests/support/room.cmake)
twinloom_test(fuzz api core_evaluate tests_support)
twinloom_allocator(test_fuzz)
target_sources(test_fuzz PRIVATE ${CMAKE_SOURCE_DIR}/tests/conformance/arguments.cpp)
twinloom_amount(fuzz_cases 500 60)
target_compile_definitions(test_fuzz PRIVATE TWINLOOM_DEFAULT_CASES=${fuzz_cases})
