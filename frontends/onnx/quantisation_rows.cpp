#include "frontends/onnx/operators.h"
namespace twinloom::onnx {
std::span<const Row> quantisation_rows() { return {}; }
}  // namespace twinloom::onnx
