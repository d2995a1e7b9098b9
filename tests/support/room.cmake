# Helpers that several test programs share; not a test itself.
if(NOT TARGET tests_support)
  file(GLOB support_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/*.cpp)
  add_library(tests_support STATIC ${support_sources})
  target_include_directories(tests_support PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(tests_support PUBLIC core_ops)
endif()
