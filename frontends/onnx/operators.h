// Inside of the component: the operators that are read, one row each, over the graph builder. One table a
// family.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/onnx/call.h"

namespace twinloom::onnx {

// What an operator does with elements of narrow types (element_types.h).
enum class Narrow : std::uint8_t {
  refused,
  kept,  // moves them: its results are of the type of the first input
  read,  // knows of them, and says what its results are
};

struct Row {
  std::string_view name;  // after its domain, where that is not ONNX's own
  Values (*build)(const Call& call);
  int since = 1;  // the first opset whose meaning it has
  // In place of `build` where not all that it gives are tensors, or some are of narrow types.
  AnyValues (*build_any)(const Call& call) = nullptr;
  Narrow narrow = Narrow::refused;
};
constexpr Row any_row(std::string_view name, AnyValues (*build)(const Call& call),
                      Narrow narrow = Narrow::refused) {
  return {name, nullptr, 1, build, narrow};
}
// Of an operator that moves elements of any type.
constexpr Row moving_row(std::string_view name, Values (*build)(const Call& call)) {
  return {name, build, 1, nullptr, Narrow::kept};
}

std::span<const Row> pointwise_rows();
std::span<const Row> activation_rows();
std::span<const Row> reduction_rows();
std::span<const Row> view_rows();
std::span<const Row> indexing_rows();
std::span<const Row> creation_rows();
std::span<const Row> norm_rows();
std::span<const Row> pooling_rows();
std::span<const Row> product_rows();
std::span<const Row> quantisation_rows();
std::span<const Row> quantised_rows();
std::span<const Row> loss_rows();
std::span<const Row> resize_rows();
std::span<const Row> sampling_rows();
std::span<const Row> recurrent_rows();
std::span<const Row> signal_rows();
std::span<const Row> data_rows();
std::span<const Row> control_rows();
std::span<const Row> sequence_rows();
std::span<const Row> attention_rows();
std::span<const Row> state_rows();
std::span<const Row> bit_cast_rows();
std::span<const Row> ml_rows();
std::span<const Row> random_rows();

// The last opset of a domain of ONNX whose changes the rows know.
std::optional<std::int64_t> newest_opset(std::string_view domain);
// Null where there is none.
const Row* find_operator(std::string_view name);
// Why an operator of ONNX has no row; empty where nothing is known of it.
std::string_view why_refused(std::string_view name);
// Sorted.
std::vector<std::string> operator_names();

}  // namespace twinloom::onnx
