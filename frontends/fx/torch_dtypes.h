// The element types as PyTorch spells them.
#pragma once

#include <optional>
#include <string_view>

#include "core/ops/dtype.h"

namespace twinloom::fx {

// "torch.float32" -> f32; nothing for any other text.
std::optional<ops::DType> dtype_of_torch(std::string_view name);

}  // namespace twinloom::fx
