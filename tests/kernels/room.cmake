include(tests/support/room.cmake)
twinloom_test(kernels tools_twinloom tests_programs tests_goldens)
target_compile_definitions(test_kernels PRIVATE TWINLOOM_PRINTED_GRAPHS="${CMAKE_SOURCE_DIR}/tests/graphs/printed")
