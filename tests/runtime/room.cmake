include(tests/support/room.cmake)
twinloom_test(runtime api core_evaluate tests_support tests_sealed tests_programs)
target_sources(test_runtime PRIVATE ${CMAKE_SOURCE_DIR}/tests/object_cache/place.cpp)
