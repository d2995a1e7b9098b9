# Programs that measure; none runs among the tests.
add_executable(compile_time ${CMAKE_SOURCE_DIR}/perf/compile_time.cpp ${CMAKE_SOURCE_DIR}/perf/cases.cpp)
target_link_libraries(compile_time PRIVATE api core_measure frontends_fx)
