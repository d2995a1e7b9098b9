#include "frontends/onnx/operators.h"
namespace twinloom::onnx {
std::span<const Row> indexing_rows() { return {}; }
}  // namespace twinloom::onnx
