find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
target_link_libraries(frontends_arrays PRIVATE PkgConfig::LIBZIP)
