# The two checks of the tree, and that each of them fails where it must.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME check_rooms COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/check_rooms ${CMAKE_SOURCE_DIR})
add_test(NAME check_sizes COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/check_sizes ${CMAKE_SOURCE_DIR})
add_test(NAME checks_fail_where_they_must
         COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/tools/checks_test.py ${CMAKE_SOURCE_DIR}/tools)
