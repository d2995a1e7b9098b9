# What tools/bundle packs: programs that find their libraries beside them, and the libraries that are not glibc's.
# Each is linked from the objects of the program of the same name, but takes the room jit, and with it Clang and LLVM,
# from one library that all of them share. That exports the interface of the room and nothing of LLVM.
set(programs twinloom speed ways regret cached_time compile_time host_cost run_random_graphs)
if(TARGET test_cuda)
  list(APPEND programs test_cuda test_streams gpu_speed gpu_index_cost gpu_compile_time gpu_functions)
endif()

file(WRITE ${CMAKE_BINARY_DIR}/bundled/exported
     "{ global: extern \"C++\" { twinloom::jit::Compiler::*; twinloom::jit::Session::*; twinloom::jit::Module::*;\n"
     "  twinloom::jit::default_host_symbols*; }; local: *; };\n")
add_library(twinloom_jit SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:jit>)
set_target_properties(twinloom_jit PROPERTIES LINKER_LANGUAGE CXX
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bundled/lib)
get_target_property(libraries jit LINK_LIBRARIES)
target_link_libraries(twinloom_jit PRIVATE ${libraries})
target_link_options(twinloom_jit PRIVATE -Wl,--gc-sections -Wl,--exclude-libs,ALL
                    -Wl,--version-script,${CMAKE_BINARY_DIR}/bundled/exported)

set(bundled_programs)
foreach(program IN LISTS programs)
  add_executable(bundled_${program} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${program}>)
  get_target_property(libraries ${program} LINK_LIBRARIES)
  # First: of what it defines the linker then takes nothing from the archives.
  target_link_libraries(bundled_${program} PRIVATE twinloom_jit ${libraries})
  set_target_properties(bundled_${program} PROPERTIES OUTPUT_NAME ${program} LINKER_LANGUAGE CXX
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bundled/bin INSTALL_RPATH "$ORIGIN/../lib")
  list(APPEND bundled_programs bundled_${program})
endforeach()
add_custom_target(bundled_programs DEPENDS ${bundled_programs})

install(TARGETS ${bundled_programs} twinloom_jit RUNTIME_DEPENDENCY_SET bundled_libraries
        RUNTIME DESTINATION bin COMPONENT bundle EXCLUDE_FROM_ALL
        LIBRARY DESTINATION lib COMPONENT bundle EXCLUDE_FROM_ALL)
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
