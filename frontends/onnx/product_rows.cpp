#include "frontends/onnx/operators.h"
namespace twinloom::onnx {
std::span<const Row> product_rows() { return {}; }
}  // namespace twinloom::onnx
