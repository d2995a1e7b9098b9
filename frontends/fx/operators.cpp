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
    for (const auto family : {pointwise_rows(), view_rows(), reduction_rows(), indexing_rows(), composite_rows(), creation_rows(), size_rows()}) {
      for (const Row& row : family) {
        const bool added = all.emplace(row.name, &row).second;
        CHECK(added, "two rows for the operator ", row.name);
      }
    }
    return all;
  }();
  return rows;
}

std::string_view without_namespace(std::string_view target) {
  static constexpr std::array<std::string_view, 6> namespaces = {"torch.ops.aten.", "torch.ops.prims.", "torch.ops.prim.", "aten.", "prims.", "operator."};
  for (const std::string_view prefix : namespaces) {
    if (target.starts_with(prefix)) return target.substr(prefix.size());
  }
  return target.starts_with("torch.sym_") || target.starts_with("torch.") ? target.substr(6) : target;
}

}  // namespace

const Row* find_row(std::string_view target) {
  const std::string_view name = without_namespace(target);
  for (const std::string_view key : {name, name.substr(0, name.rfind('.'))}) {
    if (const auto found = table().find(key); found != table().end()) return found->second;
  }
  return nullptr;
}

std::vector<std::string_view> operator_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, row] : table()) names.push_back(name);
  return names;
}

}  // namespace twinloom::fx
