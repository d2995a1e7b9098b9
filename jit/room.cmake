# Clang 19 and LLVM 19 as static archives, hidden from whoever else loads an LLVM into the process. The
# archives are named by file: the imported targets of Debian's Clang also ask for the shared LLVM, and two
# copies of LLVM do not agree.
find_program(LLVM_CONFIG_PROGRAM llvm-config-19 REQUIRED)
execute_process(COMMAND ${LLVM_CONFIG_PROGRAM} --libdir OUTPUT_VARIABLE llvm_libdir
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${LLVM_CONFIG_PROGRAM} --includedir OUTPUT_VARIABLE llvm_includedir
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${LLVM_CONFIG_PROGRAM} --link-static --libfiles
                        x86codegen x86asmparser x86desc x86info orcjit passes bitreader bitwriter irreader
                        targetparser profiledata frontendopenmp frontendhlsl frontendoffloading coverage
                        lto linker option windowsdriver hipstdpar
                OUTPUT_VARIABLE llvm_archives OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm_archives)
# Named by llvm-config, shipped in no package, needed by nobody.
list(FILTER llvm_archives EXCLUDE REGEX "Polly")
foreach(part Frontend CodeGen Serialization Parse Sema Analysis Edit AST ASTMatchers Lex Driver APINotes
        Support Basic)
  list(APPEND llvm_archives ${llvm_libdir}/libclang${part}.a)
endforeach()
find_library(ZLIB_ARCHIVE libz.a REQUIRED)
find_library(ZSTD_ARCHIVE libzstd.a REQUIRED)

# Its interface may be exported by a library of its own (cmake/bundle.cmake).
set_target_properties(jit PROPERTIES CXX_VISIBILITY_PRESET default)

list(JOIN llvm_archives "," archives)
target_include_directories(jit SYSTEM PRIVATE ${llvm_includedir})
# The archives were built without assertions; some classes in the headers have other fields with them.
target_compile_definitions(jit PRIVATE NDEBUG)
target_link_libraries(jit PRIVATE
  "$<LINK_GROUP:RESCAN,${archives}>" ${ZLIB_ARCHIVE} ${ZSTD_ARCHIVE}
  pthread dl m)
# What these sources do to a text is part of what Compiler::identity() names.
file(GLOB jit_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/jit/*.cpp ${CMAKE_SOURCE_DIR}/jit/*.h)
set(jit_hashes "")
foreach(source IN LISTS jit_sources)
  file(SHA256 ${source} hash)
  string(APPEND jit_hashes ${hash})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
endforeach()
string(SHA256 jit_hash "${jit_hashes}")
set_source_files_properties(${CMAKE_SOURCE_DIR}/jit/clang_compiler.cpp PROPERTIES
  COMPILE_DEFINITIONS "TWINLOOM_JIT_SOURCES=\"${jit_hash}\"")
set(hidden)
foreach(archive IN LISTS llvm_archives ZLIB_ARCHIVE ZSTD_ARCHIVE)
  get_filename_component(name ${archive} NAME)
  list(APPEND hidden ${name})
endforeach()
list(JOIN hidden ":" hidden)
target_link_options(jit INTERFACE -Wl,--exclude-libs,${hidden} -Wl,--gc-sections)
