include(${CMAKE_SOURCE_DIR}/tests/support/room.cmake)
twinloom_test(library_calls core_pipeline core_library_calls backends_cpu tests_support)
