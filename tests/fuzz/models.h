// ONNX models that were changed by chance: their bytes, or fields of their messages, so that many are models
// still.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace twinloom::tests {

struct DamagedModel {
  std::string bytes;
  std::string damage;  // what was done, as "bytes left out" or "a size of an input"
};

// Of bytes that are a model.
DamagedModel damaged_model(std::string_view model, std::uint64_t seed);

}  // namespace twinloom::tests
