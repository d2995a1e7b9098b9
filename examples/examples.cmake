# Small programs that the README shows; each is a test that it runs.
add_executable(example_softmax ${CMAKE_SOURCE_DIR}/examples/softmax.cpp)
target_link_libraries(example_softmax PRIVATE api_c)
add_test(NAME example_softmax COMMAND example_softmax)
set_tests_properties(example_softmax PROPERTIES ENVIRONMENT "TWINLOOM_CACHE_BYTES=0" PASS_REGULAR_EXPRESSION "0.0321 0.0871 0.2369 0.6439")

add_executable(example_devices ${CMAKE_SOURCE_DIR}/examples/devices.cpp)
target_link_libraries(example_devices PRIVATE api_c)
foreach(device cpu reference)
  add_test(NAME example_devices_${device} COMMAND example_devices ${device})
  set_tests_properties(example_devices_${device} PROPERTIES ENVIRONMENT "TWINLOOM_CACHE_BYTES=0" PASS_REGULAR_EXPRESSION "0x1.429114p.2 0x1.41d33ap.2 0x1.428328p.2")
endforeach()

# Smaller images than those that it takes by default, for the time of the test.
add_executable(example_resnet50 ${CMAKE_SOURCE_DIR}/examples/resnet50.cpp)
target_link_libraries(example_resnet50 PRIVATE api_c)
add_test(NAME example_resnet50 COMMAND example_resnet50 32)
set_tests_properties(example_resnet50 PROPERTIES ENVIRONMENT "TWINLOOM_CACHE_BYTES=0" PASS_REGULAR_EXPRESSION "class 818: 0.008")

# Run by tests/onnx, which makes a model.
add_executable(example_gpt2 ${CMAKE_SOURCE_DIR}/examples/gpt2.cpp)
target_link_libraries(example_gpt2 PRIVATE api_c)
