find_path(PROTOZERO_INCLUDE protozero/pbf_reader.hpp REQUIRED)
target_include_directories(frontends_onnx SYSTEM PUBLIC ${PROTOZERO_INCLUDE})
