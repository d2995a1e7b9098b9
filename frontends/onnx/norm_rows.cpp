#include "frontends/onnx/operators.h"
namespace twinloom::onnx {
std::span<const Row> norm_rows() { return {}; }
}  // namespace twinloom::onnx
