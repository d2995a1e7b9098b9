# Arguments in memory that notices are the random graphs' own.
include(tests/support/room.cmake)
twinloom_test(fuzz api core_evaluate tests_support frontends_onnx tools_twinloom)
twinloom_allocator(test_fuzz)
target_sources(test_fuzz PRIVATE ${CMAKE_SOURCE_DIR}/tests/conformance/arguments.cpp)
twinloom_amount(fuzz_cases 500 60)
twinloom_amount(fuzz_models 100 20)
target_compile_definitions(test_fuzz PRIVATE TWINLOOM_DEFAULT_CASES=${fuzz_cases} TWINLOOM_DEFAULT_MODELS=${fuzz_models}
                           TWINLOOM_SHARED="${shared}")
