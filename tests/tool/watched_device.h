// A device with memory of its own that writes down what is asked of that memory and of its clock.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/runtime/backend.h"

namespace twinloom::tests {

struct Watched {
  // In order: "clear BYTES", "record", "begin" of a run, "copy".
  std::vector<std::string> asked;
  std::int64_t live_bytes = 0;
  std::int64_t most_live_bytes = 0;  // at once
};

// The device `inner`, which must have a Space; it outlives all that is allocated there.
std::shared_ptr<const runtime::Backend> watched_device(std::shared_ptr<const runtime::Backend> inner,
                                                       std::shared_ptr<Watched> watched);

}  // namespace twinloom::tests
