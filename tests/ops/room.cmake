# Error bounds come from MPFR, which only tests use.
find_library(MPFR_LIBRARY mpfr REQUIRED)
find_library(GMP_LIBRARY NAMES gmp libgmp.so.10 REQUIRED)
twinloom_test(ops core_ops)
target_compile_definitions(test_ops PRIVATE TWINLOOM_ACCURACY_INPUTS=4194304)
target_link_libraries(test_ops PRIVATE ${MPFR_LIBRARY} ${GMP_LIBRARY})

# Vectors are compiled without sanitizers, and their accuracy is all that accuracy_test.cpp looks at.
if(TWINLOOM_SANITIZE)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/tests/ops/accuracy_test.cpp PROPERTIES HEADER_FILE_ONLY ON)
  return()
endif()

# The device header as Clang and GCC compile it for vectors, one object for each row of vector/tables.def.
find_program(CLANG_FOR_VECTORS NAMES clang++-19 REQUIRED)
find_program(GCC_FOR_VECTORS NAMES g++ REQUIRED)
find_package(xsimd REQUIRED)
file(GLOB device_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/ops/device/*.h)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tests/ops)
set(vector_sources ${CMAKE_SOURCE_DIR}/tests/ops/vector/usable.cpp)
function(vector_table name compiler)
  set(object ${CMAKE_BINARY_DIR}/tests/ops/${name}.o)
  set(source ${CMAKE_SOURCE_DIR}/tests/ops/vector/vector_functions.cpp)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${compiler} ${ARGN} -DTABLE=${name} -std=c++20 -O1 -ffp-contract=off -fno-math-errno -fPIC -Wall -Wextra
            -Wno-psabi -I${CMAKE_SOURCE_DIR} -c ${source} -o ${object}
    DEPENDS ${source} ${CMAKE_SOURCE_DIR}/tests/ops/vector/tables.h ${CMAKE_SOURCE_DIR}/core/ops/pointwise.def
            ${device_headers}
    VERBATIM)
  set(vector_sources ${vector_sources} ${object} PARENT_SCOPE)
endfunction()
vector_table(clang_avx2 ${CLANG_FOR_VECTORS} -march=x86-64-v3 -nostdinc)
vector_table(clang_avx512 ${CLANG_FOR_VECTORS} -march=x86-64-v4 -nostdinc -mprefer-vector-width=512)
vector_table(gcc_avx2 ${GCC_FOR_VECTORS} -march=x86-64-v3)
vector_table(gcc_avx512 ${GCC_FOR_VECTORS} -march=x86-64-v4)
target_sources(test_ops PRIVATE ${vector_sources} ${CMAKE_SOURCE_DIR}/tests/ops/vector/vectors_test.cpp)

# `ninja exhaustive_numerics` runs every f32 input of every function of one input and writes exhaustive.md.
set(truth judge.cpp near.cpp references.cpp)
list(TRANSFORM truth PREPEND ${CMAKE_SOURCE_DIR}/tests/ops/)
file(GLOB exhaustive CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/ops/exhaustive/*.cpp)
add_executable(every_f32 EXCLUDE_FROM_ALL ${exhaustive} ${truth} ${vector_sources})
target_include_directories(every_f32 PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(every_f32 PRIVATE core_ops CLI11::CLI11 ${MPFR_LIBRARY} ${GMP_LIBRARY})
add_custom_target(exhaustive_numerics
  COMMAND every_f32 --table ${CMAKE_SOURCE_DIR}/tests/ops/exhaustive.md
  USES_TERMINAL)
