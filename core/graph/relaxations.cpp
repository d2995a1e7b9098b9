// See relaxations.h and passes.h.
#include "core/graph/relaxations.h"

#include <array>

#include "core/base/error.h"
#include "core/graph/passes.h"

namespace twinloom::graph {

namespace {

struct Row {
  Relaxation relaxation;
  std::string_view name;
};
constexpr std::array rows = {
    Row{Relaxation::reassociate, "reassociate"},
    Row{Relaxation::contract, "contract"},
    Row{Relaxation::atomics, "atomics"},
    Row{Relaxation::approximate, "approximate"},
    Row{Relaxation::flush, "flush"},
};
constexpr auto listed = [] {
  std::array<Relaxation, rows.size()> all{};
  for (std::size_t at = 0; at < rows.size(); ++at) all[at] = rows[at].relaxation;
  return all;
}();

}  // namespace

std::span<const Relaxation> all_relaxations() { return listed; }

std::string_view name(Relaxation relaxation) {
  for (const Row& row : rows)
    if (row.relaxation == relaxation) return row.name;
  return {};
}

Relaxation relaxation_named(std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.relaxation;
  throw Error(cat("there is no relaxation '", escaped(name), "'; there are ",
                  join(rows, ", ", [](const Row& row) { return std::string(row.name); })));
}

Relaxations Relaxations::all() {
  Relaxations all;
  for (const Relaxation relaxation : listed) all.add(relaxation);
  return all;
}

std::optional<ops::Monoid> rounded_monoid(const Node& node) {
  std::optional<ops::Monoid> monoid;
  if (const auto* reduce = std::get_if<Reduce>(&node.node)) monoid = reduce->monoid;
  if (const auto* scan = std::get_if<Scan>(&node.node)) monoid = scan->monoid;
  const auto* scatter = std::get_if<Scatter>(&node.node);
  if (scatter != nullptr && scatter->mode != Mode::replace) monoid = monoid_of(scatter->mode);
  const bool rounds = monoid && ops::order(*monoid, ops::total_type(node.dtype)) == ops::Order::canonical;
  return rounds ? monoid : std::nullopt;
}

}  // namespace twinloom::graph
