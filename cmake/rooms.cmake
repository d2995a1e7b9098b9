# The headers of the standard library that most files include, compiled once for all rooms that compile with
# the same options, and once more with GoogleTest for the tests. A file still includes what it uses: the debug
# preset compiles without them.
set(common_headers <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <set> <span>
    <string> <string_view> <unordered_map> <variant> <vector>)
function(twinloom_precompile target first)
  if(NOT TWINLOOM_PRECOMPILE)
    return()
  endif()
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${common_headers} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()

# twinloom_room(FOLDER [PUBLIC target...]): the library of one room, named after its folder
# (core/index -> core_index), from all sources in it. A folder without sources is only headers; a
# folder that does not exist is skipped.
function(twinloom_room folder)
  cmake_parse_arguments(ROOM "" "" "PUBLIC" ${ARGN})
  string(REPLACE "/" "_" target ${folder})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  set(usable)
  foreach(dependency IN LISTS ROOM_PUBLIC)
    if(TARGET ${dependency})
      list(APPEND usable ${dependency})
    endif()
  endforeach()
  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(${target} PUBLIC ${usable})
    set_property(GLOBAL APPEND PROPERTY twinloom_archives ${target})
    # Trees of nodes are aligned as the compiler made them; bytes that are read as numbers may be anything.
    set(reads_bytes core_ops core_evaluate core_runtime backends_reference backends_cpu backends_cuda frontends_arrays)
    if(TWINLOOM_SANITIZE MATCHES address AND target IN_LIST reads_bytes)
      target_compile_options(${target} PRIVATE -fsanitize=alignment)
    endif()
    # Those two have options of their own: OpenMP, LLVM's headers.
    if(NOT target MATCHES "^(backends_cpu|jit)$")
      twinloom_precompile(${target} core_base)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${target} INTERFACE ${usable})
  endif()
  if(EXISTS ${CMAKE_SOURCE_DIR}/${folder}/room.cmake)
    include(${CMAKE_SOURCE_DIR}/${folder}/room.cmake)
  endif()
endfunction()

# twinloom_amount(VARIABLE USUAL SANITIZED): the first amount, or the second where sanitizers make each of them take
# several times as long.
function(twinloom_amount variable usual sanitized)
  if(TWINLOOM_SANITIZE)
    set(${variable} ${sanitized} PARENT_SCOPE)
  else()
    set(${variable} ${usual} PARENT_SCOPE)
  endif()
endfunction()

# For tests that call NVRTC. It has threads of its own; where one ends while the leak sanitizer stops all threads, the
# sanitizer itself crashes (about one exit in a thousand, g++ 13).
set(TWINLOOM_LEAKS_LEFT_OUT ASAN_OPTIONS=detect_leaks=0)

# twinloom_allocator(PROGRAM): the program takes its memory from oneTBB. LLVM allocates so often that compiling takes
# 8 % less time than with glibc's malloc. A sanitizer brings an allocator of its own.
function(twinloom_allocator program)
  if(NOT TWINLOOM_SANITIZE)
    target_link_libraries(${program} PRIVATE -Wl,--push-state,--no-as-needed TBB::tbbmalloc_proxy -Wl,--pop-state)
  endif()
endfunction()

# Every folder of tests/ with sources becomes one test program, linked as its room.cmake says.
function(twinloom_tests)
  file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${CMAKE_SOURCE_DIR}/tests/*)
  list(PREPEND folders ${CMAKE_SOURCE_DIR}/tests/base)  # it precompiles the headers of all
  list(REMOVE_DUPLICATES folders)
  # A sanitizer sees nothing of machine code and of numbers, and what makes them runs in the other tests too.
  if(TWINLOOM_SANITIZE)
    list(FILTER folders EXCLUDE REGEX "/(aten|corpus|determinism|docs|edges|exports|goldens|graphs|kernels|library|sources|streams|tool)$")
  endif()
  foreach(folder IN LISTS folders)
    if(EXISTS ${folder}/room.cmake)
      include(${folder}/room.cmake)
    endif()
  endforeach()
endfunction()

# twinloom_test(NAME LIBRARIES... [GPU] [ENVIRONMENT VARIABLE=VALUE] [SWEEPS PATTERNS]): tests/NAME/*.cpp as the program
# test_NAME, each TEST a ctest with the label NAME; NAME_gpu for those that use a GPU where there is one, which
# `ctest -L gpu` finds. SWEEPS: those whose time goes to code that is not ours to sanitize.
function(twinloom_test name)
  cmake_parse_arguments(TEST "GPU" "ENVIRONMENT;SWEEPS" "" ${ARGN})
  set(label ${name})
  if(TEST_GPU)
    string(APPEND label _gpu)
  endif()
  # Threads that spin while they wait take the cores of other tests.
  set(properties TIMEOUT 1200 LABELS ${label} ENVIRONMENT_MODIFICATION OMP_WAIT_POLICY=set:passive)
  if(TEST_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT ${TEST_ENVIRONMENT})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*.cpp)
  add_executable(test_${name} ${sources})
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(test_${name} PRIVATE ${TEST_UNPARSED_ARGUMENTS} GTest::gtest GTest::gtest_main)
  if(NOT TWINLOOM_SANITIZE)  # which has -O1 everywhere; a quarter of the compiler's time
    target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  twinloom_precompile(test_${name} test_base <gtest/gtest.h>)
  if(TWINLOOM_SANITIZE AND TEST_SWEEPS)
    set(filter TEST_FILTER "-${TEST_SWEEPS}")
  endif()
  gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 120 ${filter}
                       PROPERTIES ${properties})
endfunction()
