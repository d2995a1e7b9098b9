// A nest that a library computes, as a kernel. See core/loops/contraction.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/cpu/library_call.h"
#include "core/base/bounded_cache.h"
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
  // What the epilogue adds to each result may lie where that goes.
  std::vector<loops::InPlace> in_place(std::span<const std::int64_t> sizes) const override;
  std::optional<runtime::Failure> run(std::span<const runtime::Memory> arguments,
                                      std::span<const std::int64_t> sizes,
                                      const runtime::RunSettings& settings) const override;

 private:
  LibraryKernel(const LibraryKernel& of, const ConstantFactors& constants);

  // Where the epilogue is: behind the call, in it, or in it with an operand where the results go.
  enum class Epilogue : std::uint8_t { apart, inside, in_results };
  using Key = std::vector<std::int64_t>;  // sizes, then threads, then where the epilogue is
  // Null where the library has none.
  std::shared_ptr<const LibraryCall> call_for(std::span<const std::int64_t> sizes, int threads,
                                              Epilogue epilogue) const;
  std::unique_ptr<const LibraryCall> make_call(std::span<const std::int64_t> sizes, int threads,
                                               Epilogue epilogue) const;
  // Error where there is none.
  const LibraryCall& needed(const std::shared_ptr<const LibraryCall>& call) const;

  LibraryCall::Operands operands_at(std::span<const runtime::Memory> arguments,
                                    std::span<const std::int64_t> sizes) const;
  // A call without its epilogue, which then follows.
  void run_in_two(const LibraryCall::Operands& operands, std::span<const std::int64_t> sizes,
                  int threads) const;
  // A zero point, from its buffer where it is stored.
  std::int32_t zero_in(const loops::Contraction::Zero& zero, std::span<const runtime::Memory> arguments,
                       std::span<const std::int64_t> sizes) const;
  // The types of a call without its epilogue, which is of f32.
  loops::ContractionTypes types_of_sums() const;
  loops::ContractionCall with_sizes(std::span<const std::int64_t> sizes) const;

  std::string name_;
  loops::ContractionCall call_;
  loops::ContractionTypes types_;
  std::optional<std::size_t> in_results_;  // operand_in_results
  std::vector<index::Symbol> sizes_;
  std::vector<ops::DType> dtypes_;  // of the buffers
  int workers_;
  ConstantFactors constants_;
  mutable BoundedCache<Key, std::shared_ptr<const LibraryCall>> calls_{loops::MOST_CALLS};
};

}  // namespace twinloom::cpu
