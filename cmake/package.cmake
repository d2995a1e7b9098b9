# What cpack makes of the installed files: a package of Debian (cpack -G DEB) and an archive (cpack -G TXZ).
set(CPACK_PACKAGE_NAME twinloom)
set(CPACK_PACKAGE_VENDOR "The Twinloom developers")
set(CPACK_PACKAGE_CONTACT "The Twinloom developers <twinloom@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tensor compiler for CPUs and NVIDIA GPUs")
set(CPACK_PACKAGE_DESCRIPTION "Compiles graphs of tensor operations in this process, to vector code for the CPU or to kernels of
an NVIDIA GPU, whose driver and NVRTC are opened when they are asked for. With the library, its headers for C and C++, and the
program.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# What the libraries ask of other packages, as dpkg-shlibdeps reads it from them.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/library/lib)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
include(CPack)
