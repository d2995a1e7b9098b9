twinloom_test(kernels tools_twinloom)
target_compile_definitions(test_kernels PRIVATE TWINLOOM_SHARED="${CMAKE_SOURCE_DIR}/../shared")
