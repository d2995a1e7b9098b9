include(${CMAKE_SOURCE_DIR}/tests/support/room.cmake)
twinloom_test(loops core_loops tests_support)
