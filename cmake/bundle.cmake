# What tools/bundle packs: programs that find their libraries beside them, and the libraries that are not glibc's.
# Each is linked from the objects of the program of the same name, but over the library twinloom_jit (library.cmake), which
# all of them share.
set(programs twinloom speed ways regret cached_time compile_time host_cost plan_time run_random_graphs)
if(TARGET test_cuda)
  list(APPEND programs test_cuda test_streams gpu_speed gpu_index_cost gpu_compile_time gpu_functions)
endif()

set(bundled_programs)
foreach(program IN LISTS programs)
  add_executable(bundled_${program} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${program}>)
  twinloom_over_jit(bundled_${program} ${program})
  set_target_properties(bundled_${program} PROPERTIES OUTPUT_NAME ${program}
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bundled/bin)
  list(APPEND bundled_programs bundled_${program})
endforeach()
add_custom_target(bundled_programs DEPENDS ${bundled_programs})

install(TARGETS ${bundled_programs} twinloom_jit RUNTIME_DEPENDENCY_SET bundled_libraries
        RUNTIME DESTINATION bin COMPONENT bundle EXCLUDE_FROM_ALL
        LIBRARY DESTINATION lib COMPONENT bundle EXCLUDE_FROM_ALL)
twinloom_install(twinloom-bundle COMPONENT bundle EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION . COMPONENT bundle EXCLUDE_FROM_ALL)
install(RUNTIME_DEPENDENCY_SET bundled_libraries DESTINATION lib COMPONENT bundle EXCLUDE_FROM_ALL
        PRE_EXCLUDE_REGEXES "^(ld-linux|libc|libm|libpthread|libdl|librt)[.-]")
if(TARGET test_cuda)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/stand_ins DESTINATION . COMPONENT bundle EXCLUDE_FROM_ALL)
endif()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples/ DESTINATION examples COMPONENT bundle EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.fx")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/perf/ DESTINATION perf COMPONENT bundle EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.py" PATTERN results EXCLUDE)
install(PROGRAMS ${CMAKE_SOURCE_DIR}/tests/graphs/run_graphs DESTINATION tests COMPONENT bundle EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/tests/graphs/graphs.txt DESTINATION tests COMPONENT bundle EXCLUDE_FROM_ALL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/tests/graphs/printed DESTINATION tests COMPONENT bundle EXCLUDE_FROM_ALL)
install(PROGRAMS ${CMAKE_SOURCE_DIR}/tests/bundle/run_tests DESTINATION . COMPONENT bundle EXCLUDE_FROM_ALL)
