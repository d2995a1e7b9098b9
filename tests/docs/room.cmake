# Documentation: what README.md and docs/ show, run as it stands there; the tests that prove a sentence; HTML without a
# warning.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME docs.commands COMMAND ${CMAKE_CURRENT_LIST_DIR}/install_and_run ${CMAKE_BINARY_DIR} ${Python3_EXECUTABLE})
add_test(NAME docs.checks_fail_where_they_must
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/pages_test.py ${CMAKE_CURRENT_LIST_DIR})
add_test(NAME docs.numerics
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/named_tests ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/docs/numerics.md)
add_test(NAME docs.html COMMAND ${CMAKE_CURRENT_LIST_DIR}/build_html ${CMAKE_BINARY_DIR}/docs)
set_tests_properties(docs.commands docs.checks_fail_where_they_must docs.numerics docs.html PROPERTIES
                     TIMEOUT 1200 LABELS docs SKIP_RETURN_CODE 77)
