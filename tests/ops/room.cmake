# Fixed points and error bounds come from MPFR, which only tests use.
twinloom_test(ops core_ops)
find_library(MPFR_LIBRARY mpfr REQUIRED)
find_library(GMP_LIBRARY NAMES gmp libgmp.so.10 REQUIRED)
target_link_libraries(test_ops PRIVATE ${MPFR_LIBRARY} ${GMP_LIBRARY})

# The device header as Clang compiles it for vectors, beside GCC's single elements.
find_program(CLANG_FOR_VECTORS NAMES clang++-19)
if(CLANG_FOR_VECTORS)
  set(vector_object ${CMAKE_BINARY_DIR}/tests/ops/vector_functions.o)
  file(GLOB device_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/ops/device/*.h)
  add_custom_command(
    OUTPUT ${vector_object}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/tests/ops
    COMMAND ${CLANG_FOR_VECTORS} -std=c++20 -O1 -march=haswell -ffp-contract=off -fno-math-errno -fPIC -Wall -Wextra
            -Wno-psabi -nostdinc -I${CMAKE_SOURCE_DIR} -c
            ${CMAKE_SOURCE_DIR}/tests/ops/vector/vector_functions.cpp -o ${vector_object}
    DEPENDS ${CMAKE_SOURCE_DIR}/tests/ops/vector/vector_functions.cpp ${CMAKE_SOURCE_DIR}/core/ops/pointwise.def
            ${device_headers}
    VERBATIM)
  target_sources(test_ops PRIVATE ${vector_object} ${CMAKE_SOURCE_DIR}/tests/ops/vector/vectors_test.cpp)
endif()
