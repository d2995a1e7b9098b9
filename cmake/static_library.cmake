# libtwinloom.a, for a program that is to hold the library: one object of all rooms but jit, in which the symbols of
# api/c/symbols.txt are global and no other, so that it gets in the way of no name of the program. Clang and LLVM stay in
# libtwinloom_jit.so, which its users link too.
find_program(LD_PROGRAM ld.bfd REQUIRED)  # of lld, an -r that leaves no section groups is too new
find_program(LLVM_OBJCOPY_PROGRAM llvm-objcopy-19 REQUIRED)  # that of binutils leaves GNU's unique symbols global

get_property(rooms GLOBAL PROPERTY twinloom_archives)
list(REMOVE_ITEM rooms jit)
set(archives)
foreach(room IN LISTS rooms)
  list(APPEND archives $<TARGET_FILE:${room}>)
endforeach()
set(symbols_file ${CMAKE_SOURCE_DIR}/api/c/symbols.txt)
file(STRINGS ${symbols_file} symbols)
list(TRANSFORM symbols PREPEND "--undefined=")
# Of a section group the linker of the program may keep that of another object, which a local symbol cannot lie in.
add_custom_command(OUTPUT ${generated}/twinloom.o
  COMMAND ${LD_PROGRAM} -r --force-group-allocation --gc-sections ${symbols}
          --start-group ${archives} --end-group -o ${generated}/all_global.o
  COMMAND ${LLVM_OBJCOPY_PROGRAM} --strip-unneeded --keep-global-symbols=${symbols_file}
          ${generated}/all_global.o ${generated}/twinloom.o
  COMMAND ${CMAKE_COMMAND} -E rm ${generated}/all_global.o
  DEPENDS ${rooms} ${archives} ${symbols_file} VERBATIM)
add_library(twinloom_static STATIC ${generated}/twinloom.o)
set_target_properties(twinloom_static PROPERTIES OUTPUT_NAME twinloom LINKER_LANGUAGE CXX
                      ARCHIVE_OUTPUT_DIRECTORY ${generated}/lib)

# By the names that the libraries have at run time: these are there where Twinloom is installed, the packages for
# development may not be. `static_needs` says the same to pkg-config (twinloom_static.pc.in).
set(static_needs)
function(twinloom_needs variable library)
  find_library(${variable} ${library} REQUIRED)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${${variable}} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "SONAME +([^ \n]+)" found "${headers}")
  set(static_needs ${static_needs} -l:${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()
twinloom_needs(FMT_SHARED_LIBRARY fmt)
twinloom_needs(TBB_SHARED_LIBRARY tbb)
twinloom_needs(ZIP_SHARED_LIBRARY zip)
twinloom_needs(OpenMP_gomp_LIBRARY gomp)
list(APPEND static_needs -lstdc++ -lpthread -ldl -lm)
target_link_libraries(twinloom_static INTERFACE
  $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/twinloom/libtwinloom_jit.so> ${static_needs})
list(JOIN static_needs " " static_needs)
target_include_directories(twinloom_static INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(twinloom_static INTERFACE cxx_std_17)
