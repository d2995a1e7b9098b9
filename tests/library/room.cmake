# An installed library, as others use it.
add_test(NAME library.install_and_use COMMAND ${CMAKE_SOURCE_DIR}/tests/library/install_and_use ${CMAKE_BINARY_DIR})
set_tests_properties(library.install_and_use PROPERTIES TIMEOUT 600 LABELS library ENVIRONMENT "TWINLOOM_CACHE_BYTES=0")
