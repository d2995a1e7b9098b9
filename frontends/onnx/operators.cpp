// See operators.h.
#include "frontends/onnx/operators.h"

#include <algorithm>
#include <array>
#include <map>

namespace twinloom::onnx {

namespace {

const std::map<std::string_view, const Row*>& all_rows() {
  static const auto rows = [] {
    std::map<std::string_view, const Row*> result;
    const std::array families = {pointwise_rows(), activation_rows(),   reduction_rows(), view_rows(),
                                 indexing_rows(),  creation_rows(),     norm_rows(),      pooling_rows(),
                                 product_rows(),   quantisation_rows(), loss_rows()};
    for (const std::span<const Row> family : families)
      for (const Row& row : family) CHECK(result.emplace(row.name, &row).second, "two rows ", row.name);
    return result;
  }();
  return rows;
}

}  // namespace

const Row* find_operator(std::string_view name) {
  const auto found = all_rows().find(name);
  return found == all_rows().end() ? nullptr : found->second;
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const auto& [name, row] : all_rows()) names.emplace_back(name);
  return names;
}

}  // namespace twinloom::onnx
