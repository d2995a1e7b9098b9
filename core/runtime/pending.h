// A run that was started: its outputs, and when they are there.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/runtime/tensor.h"

namespace twinloom::runtime {

// What the graph gives back: a tensor, a size, or None.
using Output = std::variant<std::monostate, Tensor, std::int64_t>;

class Run;

// Keeps all memory of its run alive. Used by one thread at a time. Its end waits for the run, whose Error is
// then dropped.
class Pending {
 public:
  using Kept = std::shared_ptr<const void>;  // what the run needs and does not own
  Pending(Kept kept, std::unique_ptr<Run> run);
  Pending(Pending&&) noexcept;
  Pending& operator=(Pending&&) = delete;
  ~Pending();

  // wait() does not block.
  bool ready() const;
  // Until the run is done. Error where an index was out of range or the GPU failed, at each call.
  const std::vector<Output>& wait();
  // The same before they are written: for what comes later on the run's stream.
  const std::vector<Output>& outputs() const { return outputs_; }

 private:
  Kept kept_;  // goes last
  std::unique_ptr<Run> run_;
  std::vector<Output> outputs_;
};

}  // namespace twinloom::runtime
