find_package(nlohmann_json REQUIRED)
target_link_libraries(core_package PUBLIC nlohmann_json::nlohmann_json)
# Each file names the version.
target_compile_definitions(core_package PRIVATE TWINLOOM_VERSION="${PROJECT_VERSION}")
