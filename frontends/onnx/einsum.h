// Inside of the component: sums of products by an equation of letters.
#pragma once

#include "frontends/onnx/call.h"

namespace twinloom::onnx {

Values einsum(const Call& call);

}  // namespace twinloom::onnx
