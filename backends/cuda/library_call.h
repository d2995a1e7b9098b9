// A contraction of known sizes as a call of cuBLASLt.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/cublas.h"
#include "backends/cuda/matrix_call.h"

namespace twinloom::cuda {

constexpr std::uintptr_t MOST_ALIGNED = 16;  // that cuBLASLt asks for, in bytes

class LibraryCall {
 public:
  struct Operands {
    std::byte *out, *left, *right;          // element 0 of each
    std::vector<std::byte*> epilogue = {};  // and of the epilogue's
  };
  // What the address of each matrix of the call is a multiple of, in bytes, up to MOST_ALIGNED.
  using Alignments = MatrixCall::Four<std::uint32_t>;
  static Alignments alignments_of(const MatrixCall& call, const loops::ContractionTypes& types,
                                  const Operands& operands);

  // Null where cuBLASLt has nothing that serves. The GPU's context is current.
  static std::unique_ptr<const LibraryCall> make(const Gpu& gpu, const MatrixCall& call,
                                                 const loops::ContractionTypes& types,
                                                 const Alignments& alignments);

  // Starts it. Thread-safe; the GPU's context is current. `user` is for an Error where there is no memory.
  void run(const Operands& operands, CUstream stream, const std::string& user) const;

 private:
  LibraryCall(const Gpu& gpu, const MatrixCall& call, const loops::ContractionTypes& types);
  bool choose(const Alignments& alignments);
  MatrixCall::Four<std::byte*> addresses_of_call(MatrixCall::Four<std::byte*> first,
                                                 std::int64_t number) const;
  void run_one(const MatrixCall::Four<std::byte*>& addresses, const std::byte* bias, void* workspace,
               CUstream stream) const;

  const Gpu& gpu_;
  MatrixCall call_;
  loops::ContractionTypes types_;
  MatrixCall::Four<cublas::Owned> matrices_;
  cublas::Owned product_;  // null where a run has to put its bias in
  cublas::Heuristic chosen_{};
};

}  // namespace twinloom::cuda
