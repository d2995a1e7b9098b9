// See library_nest.h.
#include "core/loops/library_nest.h"

#include <algorithm>

#include "core/base/error.h"

namespace twinloom::loops {

namespace {

ContractionCall substituted(const ContractionCall& call, const index::Substitution& sizes) {
  ContractionCall made = call;
  Contraction& of = made.contraction;
  const auto put = [&](index::Expr& expr) { expr = index::substitute(expr, sizes); };
  for (index::Expr* begin : {&of.out_begin, &of.left_begin, &of.right_begin}) put(*begin);
  for (Contraction::Operand& operand : of.operands) put(operand.begin);
  for (Contraction::Zero* zero : {&of.left_zero, &of.right_zero})
    if (zero->stored) put(zero->stored->begin);
  for (Contraction::Window& window : of.windows) put(window.extent), put(window.step);
  for (auto* axes : {&of.kept, &of.summed})
    for (Contraction::Axis& axis : *axes) {
      for (index::Expr* expr : {&axis.extent, &axis.out, &axis.left, &axis.right}) put(*expr);
      std::ranges::for_each(axis.operands, put);
    }
  return made;
}

}  // namespace

ContractionTypes types_in(const Program& nest, const Contraction& contraction) {
  const auto dtype = [&](Buffer buffer) { return nest.buffers[buffer.index].dtype; };
  ContractionTypes types{dtype(contraction.out), dtype(contraction.left), dtype(contraction.right)};
  for (const Contraction::Operand& operand : contraction.operands)
    types.operands.push_back(dtype(operand.buffer));
  return types;
}

ContractionCall call_in(const Program& nest) {
  auto call = contraction_call_of(nest);
  CHECK(call, "kernel ", nest.name, " is no contraction");
  return *std::move(call);
}

ContractionCall with_sizes(const ContractionCall& call, std::span<const index::Symbol> symbols,
                           std::span<const std::int64_t> values) {
  index::Substitution sizes;
  for (std::size_t at = 0; at < values.size(); ++at) sizes.emplace(symbols[at], values[at]);
  return substituted(call, sizes);
}

ContractionCall with_usual_sizes(const ContractionCall& call, const Program& nest) {
  constexpr std::int64_t USUAL_SIZE = 128;
  index::Substitution usual;
  for (const SizeInfo& size : nest.sizes) {
    const std::int64_t least = std::max<std::int64_t>(size.range.low.value_or(1), 1);
    const std::int64_t most = std::max(size.range.high.value_or(USUAL_SIZE), least);
    usual.emplace(size.symbol, std::clamp(size.usual.value_or(USUAL_SIZE), least, most));
  }
  return substituted(call, usual);
}

std::int64_t known(const index::Expr& expr) {
  const auto value = index::constant_of(expr);
  CHECK(value, "a library's call of unknown sizes: ", expr);
  return *value;
}

}  // namespace twinloom::loops
