// What vector_functions.cpp becomes when one compiler compiles it for one set of registers: loops over arrays
// for each row of the operator table and each conversion. Read by that file too, so without system headers.
#pragma once

namespace twinloom::ops::testing {

using VectorLoop = void (*)(const void* const* in, void* out, long long size);
struct VectorRow {
  const char* name;     // an operator, or the type that a conversion gives
  const char* element;  // the type of its inputs
  int lanes;
  VectorLoop loop;  // arrays hold a multiple of 64 elements; b8 is one byte each
};
struct VectorRows {
  const VectorRow* first;
  long long count;
  const VectorRow* begin() const { return first; }
  const VectorRow* end() const { return first + count; }
};
struct VectorTable {
  const char* name;      // compiler and registers
  const char* compiler;  // its version
  bool needs_avx512;
  VectorRows functions;
  VectorRows casts;
};

}  // namespace twinloom::ops::testing
