twinloom_test(onnx frontends_onnx core_evaluate api_c tests_support nlohmann_json::nlohmann_json)
target_compile_definitions(test_onnx PRIVATE TWINLOOM_PROGRAM="$<TARGET_FILE:twinloom>"
                           TWINLOOM_SOURCE="${CMAKE_SOURCE_DIR}")
if(TWINLOOM_SANITIZE)
  target_compile_definitions(test_onnx PRIVATE TWINLOOM_SANITIZED)
else()
  add_dependencies(test_onnx twinloom)
endif()
