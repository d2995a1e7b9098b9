// See assertion.h.
//   checked = gather(iota [2], where(holds, 0, 2))      index 2 is out of range
//   result  = where(checked == 1, 0, value)             and 1 is never asked for
#include "core/graph/assertion.h"

#include "core/base/error.h"
#include "core/graph/indexing.h"

namespace twinloom::graph {

namespace {

constexpr std::string_view composite = "assertion";

}  // namespace

Tensor asserting(const Tensor& value, std::span<const Assertion> assertions) {
  if (assertions.empty()) return value;
  Builder& builder = value.builder();
  const Origin before = builder.origin;
  std::optional<Tensor> checked;
  for (const Assertion& assertion : assertions) {
    builder.origin = {before.file, before.line, assertion.words, std::string(composite), 1};
    const Tensor index = where(assertion.holds, 0, 2, ops::DType::i64);
    const Tensor one = take(builder.iota({2}, 0), 0, index);
    checked = checked ? maximum(*checked, one) : one;
  }
  builder.origin = before;
  // A buffer of its own: it is computed where the value has no elements too.
  const Tensor broken = eq(realize(*checked), 1);
  return where(broken, builder.constant(0, value.dtype()), value);
}

std::optional<std::string> words_of_assertion(const Node& node) {
  const bool checks = node.origin.composite == composite && std::holds_alternative<Gather>(node.node);
  return checks ? std::optional(node.origin.name) : std::nullopt;
}

}  // namespace twinloom::graph
