add_test(NAME sources.BuiltByOthers
         COMMAND ${CMAKE_CURRENT_LIST_DIR}/run_sources $<TARGET_FILE:twinloom> ${CMAKE_SOURCE_DIR}/tests/graphs/printed)
set_tests_properties(sources.BuiltByOthers PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
if(TARGET backends_cuda)
  add_test(NAME sources.BuiltByNvcc
           COMMAND ${CMAKE_CURRENT_LIST_DIR}/run_cuda $<TARGET_FILE:twinloom> ${CMAKE_SOURCE_DIR}/tests/graphs/printed)
  set_tests_properties(sources.BuiltByNvcc PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
endif()
