twinloom_test(frontends frontends_fx frontends_arrays core_evaluate)
target_link_libraries(test_frontends PRIVATE PkgConfig::LIBZIP)
target_compile_definitions(test_frontends PRIVATE TWINLOOM_SHARED="${CMAKE_SOURCE_DIR}/../shared")
