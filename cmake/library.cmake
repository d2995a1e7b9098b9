# libtwinloom.so and what is installed with it, for find_package(twinloom), pkg-config and a plain compiler:
#   bin/twinloom                     the program
#   include/twinloom                 twinloom.h (C), twinloom.hpp (C++ over it), DLPack's header for those who have none
#   share                            the manual, and completions for bash, zsh and fish, as the program prints them
#   lib/libtwinloom.so.MAJOR         exports api/c/symbols.txt and nothing else
#   lib/libtwinloom_runtime.so.MAJOR runs packages without a compiler; exports api/c/runtime_symbols.txt
#   lib/libtwinloom.a                the same as libtwinloom.so for those who link it in (static_library.cmake)
#   lib/twinloom/libtwinloom_jit.so  Clang and LLVM, for the library and the program; exports the room jit alone
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(generated ${CMAKE_BINARY_DIR}/library)
# From a program, and from the library; the bundle's lie in lib.
set(runtime_path "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/twinloom" "$ORIGIN/../lib" "$ORIGIN/twinloom")

# Written where it differs.
file(CONFIGURE OUTPUT ${generated}/jit_exported
     CONTENT "{ global: extern \"C++\" { twinloom::jit::*; }; local: *; };\n")
add_library(twinloom_jit SHARED $<TARGET_OBJECTS:jit>)
set_target_properties(twinloom_jit PROPERTIES LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY ${generated}/lib
                      LINK_DEPENDS ${generated}/jit_exported)
get_target_property(libraries jit LINK_LIBRARIES)
target_link_libraries(twinloom_jit PRIVATE ${libraries})
target_link_options(twinloom_jit PRIVATE -Wl,--gc-sections -Wl,--exclude-libs,ALL
                    -Wl,--version-script,${generated}/jit_exported)

# What takes the room jit from that library: linked first, it leaves the linker nothing to take from the archives.
# A file in bin or lib finds it from there. By its file: users of an exported target need not know of it.
function(twinloom_over_jit target from)
  get_target_property(libraries ${from} LINK_LIBRARIES)
  add_dependencies(${target} twinloom_jit)
  target_link_libraries(${target} PRIVATE $<TARGET_FILE:twinloom_jit> ${libraries})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX
                        INSTALL_RPATH "${runtime_path}")
endfunction()

# A shared library that exports the symbols of a file and nothing else.
function(twinloom_exports target name symbols_file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${symbols_file})
  file(STRINGS ${symbols_file} symbols)
  list(TRANSFORM symbols PREPEND "-Wl,-u," OUTPUT_VARIABLE wanted)
  list(JOIN symbols "; " symbols)
  file(WRITE ${generated}/exported_${name} "TWINLOOM_${PROJECT_VERSION_MAJOR} { global: ${symbols}; local: *; };\n")
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME ${name}
                        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                        LIBRARY_OUTPUT_DIRECTORY ${generated}/lib)
  target_link_options(${target} PRIVATE ${wanted} -Wl,--gc-sections
                      -Wl,--version-script,${generated}/exported_${name})
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_17)
endfunction()
add_library(twinloom_library SHARED $<TARGET_OBJECTS:api_c>)
twinloom_over_jit(twinloom_library api_c)
twinloom_exports(twinloom_library twinloom ${CMAKE_SOURCE_DIR}/api/c/symbols.txt)

# Runs packages and compiles nothing. Of the archives the linker takes what the exported functions need.
file(GLOB runtime_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/api/runtime/*.cpp)
add_library(twinloom_runtime SHARED ${runtime_sources})
target_link_libraries(twinloom_runtime PRIVATE api_c)
target_link_options(twinloom_runtime PRIVATE -Wl,--as-needed)
twinloom_exports(twinloom_runtime twinloom_runtime ${CMAKE_SOURCE_DIR}/api/c/runtime_symbols.txt)

include(cmake/static_library.cmake)

add_executable(twinloom_program $<TARGET_OBJECTS:twinloom>)
twinloom_over_jit(twinloom_program twinloom)
set_target_properties(twinloom_program PROPERTIES OUTPUT_NAME twinloom RUNTIME_OUTPUT_DIRECTORY ${generated}/bin)

# twinloom_print(FILE COMMAND FOLDER): what the program prints for the command, installed as FOLDER/FILE.
set(printed)
function(twinloom_print file command folder)
  set(output ${generated}/printed/${file})
  add_custom_command(OUTPUT ${output} COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}/printed
                     COMMAND twinloom_program ${command} > ${output} DEPENDS twinloom_program VERBATIM)
  install(FILES ${output} DESTINATION ${folder})
  set(printed ${printed} ${output} PARENT_SCOPE)
endfunction()

write_basic_package_version_file(${generated}/twinloom-config-version.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name IN ITEMS twinloom twinloom_static)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/${name}.pc.in ${generated}/${name}.pc @ONLY)
endforeach()
# twinloom_install(EXPORT [COMPONENT NAME EXCLUDE_FROM_ALL]): the library and all that its users compile and link with. An
# EXPORT begins with twinloom: its folder has its name, and of two for one folder CMake writes the files of the last.
function(twinloom_install export)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/${export})
  install(TARGETS twinloom_library twinloom_runtime EXPORT ${export} LIBRARY ${ARGN})
  install(EXPORT ${export} NAMESPACE twinloom:: FILE twinloom-config.cmake DESTINATION ${package} ${ARGN})
  install(FILES ${generated}/twinloom-config-version.cmake DESTINATION ${package} ${ARGN})
  install(FILES ${generated}/twinloom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${ARGN})
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/api/include/twinloom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${ARGN})
  install(FILES ${DLPACK_INCLUDE}/dlpack/dlpack.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/twinloom ${ARGN})
endfunction()
install(TARGETS twinloom_static EXPORT twinloom ARCHIVE)
install(FILES ${generated}/twinloom_static.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
twinloom_install(twinloom)
install(TARGETS twinloom_program)
twinloom_print(twinloom.1 man ${CMAKE_INSTALL_MANDIR}/man1)
twinloom_print(twinloom "completion;bash" ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
twinloom_print(_twinloom "completion;zsh" ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
twinloom_print(twinloom.fish "completion;fish" ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
add_custom_target(twinloom_printed ALL DEPENDS ${printed})
install(TARGETS twinloom_jit DESTINATION ${CMAKE_INSTALL_LIBDIR}/twinloom)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The licences of what is compiled or linked into the files above, where the system has them by package.
foreach(name IN ITEMS llvm-19-dev libclang-19-dev zlib1g-dev libzstd-dev libxxhash-dev libdlpack-dev libcli11-dev nlohmann-json3-dev
        libprotozero-dev)
  install(FILES /usr/share/doc/${name}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME ${name} OPTIONAL)
endforeach()
