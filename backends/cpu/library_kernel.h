// A nest that a library computes, as a kernel. See core/loops/contraction.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/cpu/library_call.h"
#include "core/machine/machine.h"
#include "core/runtime/backend.h"

namespace twinloom::cpu {

// Operations a second on one worker that a library's products reach; 0 where there is no library.
double library_rate(const machine::Machine& machine);

class LibraryKernel final : public runtime::Kernel {
 public:
  // Error where the library cannot be opened.
  LibraryKernel(const loops::Program& nest, const machine::Machine& machine);

  // Whether the library has something fast for it. A size that is not known is taken for a usual one.
  static bool serves(const loops::Program& nest, const machine::Machine& machine);

  // Factors that are constants are brought into the library's order once.
  std::unique_ptr<const Kernel> with_constants(
      std::span<const runtime::ConstantArgument> arguments) const override;
  std::optional<runtime::Failure> run(std::span<const runtime::Memory> arguments,
                                      std::span<const std::int64_t> sizes,
                                      const runtime::RunSettings& settings) const override;

 private:
  LibraryKernel(const LibraryKernel& of, const ConstantFactors& constants);

  using Key = std::vector<std::int64_t>;  // sizes, then threads, then whether the epilogue is in the call
  std::shared_ptr<const LibraryCall> call_for(std::span<const std::int64_t> sizes, int threads,
                                              bool has_epilogue) const;

  // A call without its epilogue, which then follows.
  void run_in_two(const LibraryCall::Operands& operands, std::span<const std::int64_t> sizes,
                  int threads) const;
  // A zero point, from its buffer where it is stored.
  std::int32_t zero_in(const loops::Contraction::Zero& zero, std::span<const runtime::Memory> arguments,
                       std::span<const std::int64_t> sizes) const;
  // The types of a call without its epilogue, which is of f32.
  ContractionTypes types_of_sums() const;
  loops::ContractionCall with_sizes(std::span<const std::int64_t> sizes) const;

  std::string name_;
  loops::ContractionCall call_;
  ContractionTypes types_;
  std::vector<index::Symbol> sizes_;
  std::vector<ops::DType> dtypes_;  // of the buffers
  int workers_;
  ConstantFactors constants_;
  mutable std::mutex mutex_;
  mutable std::map<Key, std::shared_ptr<const LibraryCall>> calls_;
};

}  // namespace twinloom::cpu
