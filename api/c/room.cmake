# DLPack's types are in the C header.
find_path(DLPACK_INCLUDE dlpack/dlpack.h REQUIRED)
target_include_directories(api_c SYSTEM PUBLIC ${DLPACK_INCLUDE})
target_include_directories(api_c PUBLIC ${CMAKE_SOURCE_DIR}/api/include)
target_compile_definitions(api_c PRIVATE TWINLOOM_VERSION="${PROJECT_VERSION}")
