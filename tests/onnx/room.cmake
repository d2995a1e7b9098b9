twinloom_test(onnx frontends_onnx core_evaluate api_c tests_support tools_twinloom nlohmann_json::nlohmann_json)
target_compile_definitions(test_onnx PRIVATE TWINLOOM_PROGRAM="$<TARGET_FILE:twinloom>"
                           TWINLOOM_SOURCE="${CMAKE_SOURCE_DIR}")
if(TWINLOOM_SANITIZE)
  target_compile_definitions(test_onnx PRIVATE TWINLOOM_SANITIZED TWINLOOM_EXAMPLE_GPT2="")
else()
  target_compile_definitions(test_onnx PRIVATE TWINLOOM_EXAMPLE_GPT2="$<TARGET_FILE:example_gpt2>")
  add_dependencies(test_onnx twinloom example_gpt2)
endif()
