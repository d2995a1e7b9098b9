// See requirements.h.
#include "frontends/fx/requirements.h"

#include <set>

namespace twinloom::fx {

namespace {

using index::Expr;

// What a requirement tells of a single size.
void learn(index::Facts& facts, const index::Less& less) {
  const Expr gap = less.b - less.a - 1;  // at least 0
  const std::set<index::Symbol> symbols = index::symbols_of(gap);
  if (symbols.size() != 1) return;
  const index::Symbol symbol = *symbols.begin();
  const auto linear = index::linear_in(gap, symbol);
  if (!linear || index::constant_of(linear->scale) == 0) return;
  const auto bound = index::constant_of(-linear->rest);
  const auto scale = index::constant_of(linear->scale);
  if (!bound || !scale) return;
  const index::Range known = facts.range(symbol);
  const auto low = *scale > 0 ? index::constant_of(index::ceil_div(*bound, *scale)) : std::nullopt;
  const auto high = *scale < 0 ? index::constant_of(index::floor_div(-*bound, -*scale)) : std::nullopt;
  // Of requirements that cannot hold together nothing follows.
  if (low && (!known.high || *low <= *known.high)) facts.assume(symbol, {*low, {}});
  if (high && (!known.low || *known.low <= *high)) facts.assume(symbol, {{}, *high});
}

}  // namespace

void require(graph::Graph& graph, const index::Condition& condition, const std::string& words) {
  if (graph.facts().proves(condition)) return;
  graph.require(condition, words);
  for (const index::Less& less : condition.all) learn(graph.facts(), less);
}

SizeRules rules_of(Context& context) {
  return {context.builder.graph().facts(),
          [&context](const index::Condition& condition, const std::string& words) {
            require(context.builder.graph(), condition, cat("FX graph line ", context.line, ": ", words));
          }};
}

}  // namespace twinloom::fx
