include(tests/support/room.cmake)
twinloom_test(kernels tools_twinloom tests_programs)
target_compile_definitions(test_kernels PRIVATE TWINLOOM_SHARED="${CMAKE_SOURCE_DIR}/../shared")
