# The messages are generated from onnx.proto3. Protobuf is linked in as an archive where there is one, so that a
# program needs no shared library for it and meets no other version of it in a process.
find_package(Protobuf REQUIRED)
set(onnx_generated ${CMAKE_BINARY_DIR}/generated/onnx)
file(MAKE_DIRECTORY ${onnx_generated})
add_custom_command(
  OUTPUT ${onnx_generated}/onnx.proto3.pb.cc ${onnx_generated}/onnx.proto3.pb.h
  COMMAND protobuf::protoc --cpp_out ${onnx_generated} --proto_path ${CMAKE_CURRENT_LIST_DIR} onnx.proto3
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/onnx.proto3 VERBATIM)
add_library(frontends_onnx_format STATIC ${onnx_generated}/onnx.proto3.pb.cc)
target_compile_options(frontends_onnx_format PRIVATE -w)
target_include_directories(frontends_onnx_format SYSTEM PUBLIC ${onnx_generated} ${Protobuf_INCLUDE_DIRS})
find_library(PROTOBUF_LITE_ARCHIVE NAMES libprotobuf-lite.a)
find_package(Threads REQUIRED)
if(PROTOBUF_LITE_ARCHIVE)
  target_link_libraries(frontends_onnx_format PUBLIC ${PROTOBUF_LITE_ARCHIVE} Threads::Threads)
else()
  target_link_libraries(frontends_onnx_format PUBLIC protobuf::libprotobuf-lite)
endif()
target_link_libraries(frontends_onnx PUBLIC frontends_onnx_format)
