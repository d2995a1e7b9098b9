// Finds rows. See operators.h.
#include "frontends/fx/operators.h"

#include <algorithm>
#include <array>
#include <map>

namespace twinloom::fx {

namespace {

using Table = std::map<std::string_view, const Row*>;

const Table& table() {
  static const Table rows = [] {
    Table all;
    for (const auto family :
         {pointwise_rows(), view_rows(), reduction_rows(), indexing_rows(), composite_rows(),
          attention_rows(), layer_rows(), creation_rows(), size_rows(), prims_rows(), copy_rows(),
          complex_rows(), product_rows(), convolution_rows(), pooling_rows(), sorting_rows()}) {
      for (const Row& row : family) {
        const bool added = all.emplace(row.name, &row).second;
        CHECK(added, "two rows for the operator ", row.name);
      }
    }
    return all;
  }();
  return rows;
}

const Row* row_named(std::string_view name) {
  const auto found = table().find(name);
  return found == table().end() ? nullptr : found->second;
}

std::string_view without_namespace(std::string_view target) {
  static constexpr std::array<std::string_view, 7> namespaces = {
      "torch.ops.aten.", "torch.ops.prims.", "torch.ops.prim.", "aten.", "prims.", "operator.", "_operator."};
  for (const std::string_view prefix : namespaces) {
    if (target.starts_with(prefix)) return target.substr(prefix.size());
  }
  return target.starts_with("torch.sym_") || target.starts_with("torch.") ? target.substr(6) : target;
}

// Of a name with its overload or without.
const Row* find_row(std::string_view name) {
  const Row* row = row_named(name);
  return row == nullptr ? row_named(name.substr(0, name.rfind('.'))) : row;
}

// The row of the name without the underscore at its end; null where it has none or is __and__ and its like.
const Row* find_row_in_place(std::string_view name) {
  const std::string_view alone = name.substr(0, name.find('.'));
  if (!alone.ends_with('_') || alone.ends_with("__")) return nullptr;
  const Row* row = find_row(cat(alone.substr(0, alone.size() - 1), name.substr(alone.size())));
  if (row == nullptr || row->writes) return nullptr;
  return row->lies == Lies::apart || row->lies == Lies::whole_or_copy ? row : nullptr;
}

}  // namespace

std::optional<Operator> find_operator(std::string_view target) {
  const std::string_view name = without_namespace(target);
  if (target.starts_with("torch.ops.prims.") || target.starts_with("prims.")) {
    if (const Row* row = row_named(cat("prims.", name.substr(0, name.rfind('.')))))
      return Operator{row, row->writes};
  }
  if (const Row* row = find_row(name)) return Operator{row, row->writes};
  if (const Row* row = find_row_in_place(name)) return Operator{row, true};
  return std::nullopt;
}

std::vector<std::string> nearest_operators(std::string_view target) {
  constexpr std::size_t most = 3;
  const std::string_view full = without_namespace(target);
  const std::string_view name = full.substr(0, full.find('.'));
  const int farthest = std::max(1, static_cast<int>(name.size()) / 2);
  std::vector<std::pair<int, std::string>> near;
  for (const auto& [known, row] : table()) {
    const int distance = edit_distance(name, known);
    if (distance <= farthest) near.emplace_back(distance, known);
  }
  std::ranges::sort(near);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < std::min(most, near.size()); ++k) names.push_back(near[k].second);
  return names;
}

std::vector<std::string_view> operator_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, row] : table()) names.push_back(name);
  return names;
}

}  // namespace twinloom::fx
