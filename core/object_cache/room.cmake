# Every key names the version.
set_source_files_properties(${CMAKE_SOURCE_DIR}/core/object_cache/key.cpp PROPERTIES
  COMPILE_DEFINITIONS "TWINLOOM_VERSION=\"${PROJECT_VERSION}\"")
