# #include <twinloom/twinloom.h>
target_include_directories(api PUBLIC ${CMAKE_SOURCE_DIR}/api)
