// A nest that a library computes, cuBLASLt, as a kernel. See core/loops/contraction.h.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/cuda/gpu.h"
#include "backends/cuda/library_call.h"
#include "core/base/bounded_cache.h"
#include "core/runtime/backend.h"

namespace twinloom::cuda {

// The machine with what the library's products reach, where there is a library.
machine::Machine machine_with_library(machine::Machine machine);

class LibraryKernel final : public runtime::Kernel {
 public:
  // Error where the library cannot be opened.
  LibraryKernel(const Gpu& gpu, const loops::Program& nest);

  // Whether the library has a product for it. A size that is not known is taken for a usual one.
  static bool serves(const Gpu& gpu, const loops::Program& nest);

  // Starts the product on the stream of `settings.work`.
  std::optional<runtime::Failure> run(std::span<const runtime::Memory> arguments,
                                      std::span<const std::int64_t> sizes,
                                      const runtime::RunSettings& settings) const override;

 private:
  using Key = std::vector<std::int64_t>;  // sizes, then how each operand's address lies between multiples
  // Error where the library has none.
  std::shared_ptr<const LibraryCall> call_for(std::span<const std::int64_t> sizes,
                                              const LibraryCall::Operands& operands) const;
  std::unique_ptr<const LibraryCall> make_call(std::span<const std::int64_t> sizes,
                                               const LibraryCall::Operands& operands) const;

  const Gpu& gpu_;
  std::string name_;
  loops::ContractionCall call_;
  loops::ContractionTypes types_;
  std::vector<index::Symbol> sizes_;
  mutable BoundedCache<Key, std::shared_ptr<const LibraryCall>> calls_{loops::MOST_CALLS};
};

}  // namespace twinloom::cuda
