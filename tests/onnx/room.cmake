twinloom_test(onnx frontends_onnx core_evaluate api_c tests_support tools_twinloom nlohmann_json::nlohmann_json)
target_compile_definitions(test_onnx PRIVATE TWINLOOM_PROGRAM="$<TARGET_FILE:twinloom>"
                           TWINLOOM_SOURCE="${CMAKE_SOURCE_DIR}")
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND AND NOT TWINLOOM_SANITIZE)
  add_test(NAME onnx.ExportedByPyTorch
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/export_torch_models
                   ${CMAKE_BINARY_DIR}/Testing/Temporary/torch_models --program $<TARGET_FILE:twinloom>)
  set_tests_properties(onnx.ExportedByPyTorch PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1200 LABELS onnx
                       ENVIRONMENT "TWINLOOM_CACHE_BYTES=0")
endif()
if(TWINLOOM_SANITIZE)
  target_compile_definitions(test_onnx PRIVATE TWINLOOM_SANITIZED TWINLOOM_EXAMPLE_GPT2="")
else()
  target_compile_definitions(test_onnx PRIVATE TWINLOOM_EXAMPLE_GPT2="$<TARGET_FILE:example_gpt2>")
  add_dependencies(test_onnx twinloom example_gpt2)
endif()
