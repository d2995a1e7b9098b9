# What tools/bundle packs: programs that find their libraries beside them, and the libraries that are not glibc's.
set(bundled_programs twinloom speed cached_time compile_time run_random_graphs)
if(TARGET test_cuda)
  list(APPEND bundled_programs test_cuda test_streams gpu_speed gpu_functions)
endif()
set_target_properties(${bundled_programs} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
add_custom_target(bundled_programs DEPENDS ${bundled_programs})
install(TARGETS ${bundled_programs} RUNTIME_DEPENDENCY_SET bundled_libraries
        RUNTIME DESTINATION bin COMPONENT bundle EXCLUDE_FROM_ALL)
install(RUNTIME_DEPENDENCY_SET bundled_libraries DESTINATION lib COMPONENT bundle EXCLUDE_FROM_ALL
        PRE_EXCLUDE_REGEXES "^(ld-linux|libc|libm|libpthread|libdl|librt)[.-]")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples/ DESTINATION examples COMPONENT bundle EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.fx")
install(PROGRAMS ${CMAKE_SOURCE_DIR}/tests/graphs/run_graphs DESTINATION tests COMPONENT bundle EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/tests/graphs/graphs.txt DESTINATION tests COMPONENT bundle EXCLUDE_FROM_ALL)
install(PROGRAMS ${CMAKE_SOURCE_DIR}/tests/bundle/run_tests DESTINATION . COMPONENT bundle EXCLUDE_FROM_ALL)
