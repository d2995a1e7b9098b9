// The text form, which parse.cpp reads back:
//
//   graph "example"
//   fact n in 0 to inf
//   require n < 9 "n must be small"
//   parameter "x" = %0
//   %0: f32 [n, 4] = input slot 0
//   %1: f32 [4, n] = view(%0) at [i0, i1] from [i1, i0]
//   %2: f32 [4] = reduce sum over [1] (%1) name "total"
//   %3: f32 [2] = view(%2) at [i0] from [i0 + 1]
//   result "y" = own %2
//   result "z" = view %3 of %2
#include "core/graph/print.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/graph/arrays.h"
#include "core/graph/infer.h"

namespace twinloom::graph {

namespace {

using index::print;
using ops::print;

std::string quote(std::string_view text) { return cat("\"", escaped(text), "\""); }
std::string print(NodeId id) { return cat("%", id.index); }
std::string print(int number) { return cat(number); }

template <class Items>
std::string list(const Items& items) {
  return cat("[", join(items, ", ", [](const auto& item) { return print(item); }), "]");
}

std::string arguments(const Node& node) {
  return cat("(", join(node.inputs, ", ", [](NodeId id) { return print(id); }), ")");
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  return join(bytes, "", [](std::byte byte) { return fmt::format("{:02x}", static_cast<unsigned>(byte)); });
}

std::string words(const Node&, const Input& input) {
  return cat("input slot ", input.slot, input.donated ? " donated" : "");
}
std::string words(const Node&, const Constant& constant) {
  if (const auto* number = std::get_if<ops::Number>(&constant.value)) return cat("constant ", print(*number));
  return cat("constant bytes ", quote(hexadecimal(std::get<Content>(constant.value)->bytes.read())));
}
std::string words(const Node&, const Size& size) { return cat("size ", size.value); }
std::string words(const Node& node, const Pointwise& pointwise) {
  return cat(ops::name(pointwise.op), arguments(node));
}
std::string words(const Node& node, const Cast& cast) {
  return twinloom::cat("cast", arguments(node), cast.implicit ? " implicit" : "");
}
std::string words(const Node& node, const View& view) {
  std::string text = cat("view", arguments(node), " at ", list(view.axes), " from ", list(view.source));
  if (!view.inside.all.empty()) text += cat(" inside ", view.inside, " else ", print(view.fill));
  return text;
}
std::string words(const Node& node, const Concat& concat) {
  return cat("concat axis ", concat.axis, " ", arguments(node));
}
std::string words(const Node&, const Iota& iota) { return cat("iota axis ", iota.axis); }
std::string words(const Node&, const Random& random) {
  return cat("random ", name(random.kind), " number ", random.number, " from ", print(random.low), " to ",
             print(random.high));
}
std::string part_words(int component) { return component == 0 ? "" : cat(" part ", component); }
std::string words(const Node& node, const Reduce& reduce) {
  return cat("reduce ", ops::name(reduce.monoid), part_words(reduce.component), " over ", list(reduce.axes),
             reduce.identity_over_nothing ? " or identity " : " ", arguments(node));
}
std::string words(const Node& node, const Scan& scan) {
  return cat("scan ", ops::name(scan.monoid), part_words(scan.component), " axis ", scan.axis,
             scan.exclusive ? " exclusive" : "", scan.backwards ? " backwards" : "", " ", arguments(node));
}
std::string words(const Node& node, const Sort& sort) {
  return cat("sort axis ", sort.axis, " low ", sort.low, " bits ", sort.bits, " ", arguments(node));
}
std::string words(const Node& node, const Gather& gather) {
  return cat("gather", arguments(node), " at ", list(gather.axes), " found ", list(gather.found), " below ",
             list(gather.bounds), " from ", list(gather.source), gather.negative_wraps ? " wraps" : "");
}
std::string words(const Node& node, const Scatter& scatter) {
  return cat("scatter ", name(scatter.mode), arguments(node), " at ", list(scatter.axes), " found ",
             list(scatter.found), " below ", list(scatter.bounds), " to ", list(scatter.place),
             scatter.include_self ? "" : " without_self", scatter.negative_wraps ? " wraps" : "",
             scatter.is_permutation ? " permutation" : "");
}
std::string words(const Node& node, const Realize& realize) {
  return cat("realize", arguments(node), realize.any_order ? " in_any_order" : "");
}

std::string origin_words(const Origin& origin) {
  std::string text;
  if (!origin.name.empty()) text += cat(" name ", quote(origin.name));
  if (!origin.composite.empty() || origin.instance != 0)
    text += cat(" composite ", quote(origin.composite), " ", origin.instance);
  if (!origin.file.empty() || origin.line != 0) text += cat(" file ", quote(origin.file), " ", origin.line);
  return text;
}

std::string fact_line(index::Symbol symbol, const index::Facts::About& about) {
  const auto bound = [](const std::optional<std::int64_t>& value, std::string_view none) {
    return value ? cat(*value) : std::string(none);
  };
  std::string text =
      cat("fact ", symbol, " in ", bound(about.range.low, "-inf"), " to ", bound(about.range.high, "inf"));
  if (about.divisor != 1) text += cat(" divisor ", about.divisor);
  if (!about.below.empty()) text += cat(" below ", list(about.below));
  return text;
}

std::string parameter_line(const Parameter& parameter) {
  const std::string head = cat("parameter ", quote(parameter.name), " = ");
  if (const auto* id = std::get_if<NodeId>(&parameter.value)) return head + print(*id);
  return cat(head, "size ", std::get<index::Expr>(parameter.value));
}

std::string result_line(const Result& result) {
  const std::string head = cat("result ", quote(result.name), " = ");
  switch (result.kind) {
    case Ownership::own:
      return cat(head, "own ", print(result.value));
    case Ownership::view:
      return cat(head, "view ", print(result.value), " of ", print(result.base));
    case Ownership::input:
      return cat(head, "input ", result.input, " ", print(result.value));
    case Ownership::written:
      return cat(head, "written ", result.input, " ", print(result.value));
    case Ownership::size:
      return cat(head, "size ", result.size);
    case Ownership::none:
      return head + "none";
  }
  return head;
}

}  // namespace

namespace {

// "constant array 2"; nothing where the node is no array.
std::optional<std::string> reference(const Node& node, std::vector<Content>& arrays) {
  const auto* constant = std::get_if<Constant>(&node.node);
  const auto* content = constant == nullptr ? nullptr : std::get_if<Content>(&constant->value);
  if (content == nullptr) return std::nullopt;
  const auto found = std::ranges::find(arrays, *content);
  const auto number = found - arrays.begin();
  if (found == arrays.end()) arrays.push_back(*content);
  return cat("constant array ", number);
}

// Arrays are written out where `arrays` is null.
std::string node_line(const Graph& graph, NodeId id, std::vector<Content>* arrays) {
  const Node& node = graph[id];
  std::optional<std::string> text = arrays == nullptr ? std::nullopt : reference(node, *arrays);
  if (!text) text = std::visit([&](const auto& kind) { return words(node, kind); }, node.node);
  return cat(print(id), ": ", ops::name(node.dtype), " ", print_shape(node.shape), " = ", *text,
             origin_words(node.origin));
}

std::string print_all(const Graph& graph, std::vector<Content>* arrays) {
  Writer writer;
  writer.line("graph ", quote(graph.name));
  for (const auto& [symbol, about] : graph.facts().symbols()) writer.line(fact_line(symbol, about));
  for (const auto& [a, b] : graph.facts().equalities()) writer.line("equal ", a, " = ", b);
  for (const Require& require : graph.requirements())
    writer.line("require ", require.condition, " ", quote(require.message));
  for (const Parameter& parameter : graph.parameters()) writer.line(parameter_line(parameter));
  for (std::uint32_t n = 0; n < graph.nodes().size(); ++n) writer.line(node_line(graph, NodeId{n}, arrays));
  for (const Result& result : graph.results()) writer.line(result_line(result));
  return writer.take();
}

}  // namespace

std::string print_node(const Graph& graph, NodeId id) { return node_line(graph, id, nullptr); }

std::string print(const Graph& graph) { return print_all(graph, nullptr); }

std::string print(const Graph& graph, std::vector<Content>& arrays) { return print_all(graph, &arrays); }

}  // namespace twinloom::graph
