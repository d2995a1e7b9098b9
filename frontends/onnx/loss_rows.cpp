#include "frontends/onnx/operators.h"
namespace twinloom::onnx {
std::span<const Row> loss_rows() { return {}; }
}  // namespace twinloom::onnx
