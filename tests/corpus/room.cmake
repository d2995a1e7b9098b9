find_package(Python3 COMPONENTS Interpreter REQUIRED)
include(tests/support/room.cmake)
add_test(NAME corpus.KernelsOfRealModels
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/run_corpus $<TARGET_FILE:twinloom> ${shared}/corpus --few-large)
set_tests_properties(corpus.KernelsOfRealModels PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800)
