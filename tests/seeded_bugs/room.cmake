# `ninja seeded_bugs` puts bugs into a copy of the tree, one at a time, and counts those that tests find. The
# anchors of the list are checked with the other tests.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_custom_target(seeded_bugs
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/seeded_bugs/run.py --work ${CMAKE_BINARY_DIR}/seeded_bugs
  USES_TERMINAL)
add_test(NAME seeded_bugs.Anchors
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/seeded_bugs/run.py --check)
