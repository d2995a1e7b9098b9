// cuBLASLt by its C API, of version 12 or newer, opened at run time.
//
// Where it is looked for: TWINLOOM_CUBLAS, a file or a folder (0: it is not used); else where library.h says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cuda/library.h"

namespace twinloom::cuda {

class Gpu;

// Whether a file of it is there. Nothing is opened.
bool has_cublas();
LibraryPlaces cublas_places();
// Error where there is none, with the places that were searched and what was wrong there.
Library open_cublas(const LibraryPlaces& places);

// As its C API has them; every handle is a pointer to something that the library keeps.
namespace cublas {

using Status = int;  // 0: success
using Handle = void*;

struct Algorithm {
  std::uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};

constexpr int F32 = 0, F16 = 2, BF16 = 14;  // types of elements
constexpr int SUMS_OF_F32 = 68;             // from products that no input is rounded for
// Attributes of a product.
constexpr int TRANSPOSES_A = 3, TRANSPOSES_B = 4, EPILOGUE = 7, BIAS = 8;
constexpr std::uint32_t ADD_BIAS = 4;  // one number for each row of the results
// Of a matrix.
constexpr int BATCH_COUNT = 5, BATCH_STEP = 6;
// Of what is preferred: those of alignment for A, B, C, D.
constexpr int MOST_WORKSPACE_BYTES = 1, REDUCTIONS = 3, ALIGNMENT_OF_A = 5;
// Where the parts that a sum is cut into are added up: in f32, or in the result's type too.
constexpr std::uint32_t SUMS_IN_F32 = 2, ANY_SUMS = 7;

// name, C function, result, parameters
#define TWINLOOM_CUBLAS_FUNCTIONS(ROW)                                                                  \
  ROW(GetVersion, std::size_t, ())                                                                      \
  ROW(GetStatusString, const char*, (Status))                                                           \
  ROW(Create, Status, (Handle*))                                                                        \
  ROW(MatmulDescCreate, Status, (Handle*, int, int))                                                    \
  ROW(MatmulDescSetAttribute, Status, (Handle, int, const void*, std::size_t))                          \
  ROW(MatmulDescDestroy, Status, (Handle))                                                              \
  ROW(MatrixLayoutCreate, Status, (Handle*, int, std::uint64_t, std::uint64_t, std::int64_t))           \
  ROW(MatrixLayoutSetAttribute, Status, (Handle, int, const void*, std::size_t))                        \
  ROW(MatrixLayoutDestroy, Status, (Handle))                                                            \
  ROW(MatmulPreferenceCreate, Status, (Handle*))                                                        \
  ROW(MatmulPreferenceSetAttribute, Status, (Handle, int, const void*, std::size_t))                    \
  ROW(MatmulPreferenceDestroy, Status, (Handle))                                                        \
  ROW(MatmulAlgoGetHeuristic, Status,                                                                   \
      (Handle, Handle, Handle, Handle, Handle, Handle, Handle, int, Heuristic*, int*))                  \
  ROW(Matmul, Status,                                                                                   \
      (Handle, Handle, const void*, const void*, Handle, const void*, Handle, const void*, const void*, \
       Handle, void*, Handle, const Algorithm*, void*, std::size_t, Handle))

struct Functions {
#define TWINLOOM_ROW(name, result, parameters) result(*name) parameters = nullptr;
  TWINLOOM_CUBLAS_FUNCTIONS(TWINLOOM_ROW)
#undef TWINLOOM_ROW
  // Error with `what` where it is none.
  void check(Status status, const char* what) const;
};

// Opened at the first call, for this process. Error where it cannot be.
const Functions& functions();

// What calls of a GPU share; its context is current. Thread-safe. Error where cuBLASLt does not start.
Handle handle_of(const Gpu& gpu);

// Handles that end with their owner.
using Owned = std::shared_ptr<void>;
Owned new_product();
Owned new_matrix(int type, std::int64_t rows, std::int64_t columns, std::int64_t column_step);
Owned new_preference();

}  // namespace cublas
}  // namespace twinloom::cuda
