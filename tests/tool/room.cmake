include(tests/support/room.cmake)
twinloom_test(tool tools_twinloom tests_sealed nlohmann_json::nlohmann_json)
add_dependencies(test_tool twinloom)
target_compile_definitions(test_tool PRIVATE TWINLOOM_PROGRAM="$<TARGET_FILE:twinloom>"
                           TWINLOOM_SOURCE="${CMAKE_SOURCE_DIR}")
if(TARGET backends_cuda)
  target_compile_definitions(test_tool PRIVATE TWINLOOM_HAS_CUDA)
endif()
