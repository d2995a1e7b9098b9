find_package(Python3 COMPONENTS Interpreter REQUIRED)
include(tests/support/room.cmake)
add_test(NAME exports.PackagesAndSources
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/run_exports $<TARGET_FILE:twinloom>
                 ${CMAKE_SOURCE_DIR}/tests/graphs/printed ${shared}/graphs --corpus ${shared}/corpus)
set_tests_properties(exports.PackagesAndSources PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 LABELS exports_gpu)
