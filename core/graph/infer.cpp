// One rule for each kind of node: its arity, types and sizes. See infer.h.
#include "core/graph/infer.h"

#include <algorithm>

#include "core/base/error.h"

namespace twinloom::graph {

namespace {

// The graph so far, the node's inputs and its name: what every rule reads.
struct Rule {
  const Graph& graph;
  std::span<const NodeId> inputs;
  const std::string& subject;
  const SizeRules& sizes;

  const Node& input(std::size_t k) const { return graph[inputs[k]]; }
  template <class... Words>
  [[noreturn]] void fail(const Words&... words) const {
    throw Error(cat(subject, ": ", words...));
  }
  void takes(std::size_t count) const {
    if (inputs.size() != count) fail("takes ", count, " inputs, given ", inputs.size());
  }
  std::string spell(std::size_t k) const {
    return cat("input ", k, " (", describe(graph, inputs[k]), ", ", ops::name(input(k).dtype), " ",
               print_shape(input(k).shape), ")");
  }
  void equal_shapes(std::size_t k, const Shape& expected, const std::string& of_what) const {
    const Shape& given = input(k).shape;
    if (given.size() != expected.size())
      fail(spell(k), " has rank ", given.size(), ", ", of_what, " has rank ", expected.size());
    for (std::size_t axis = 0; axis < given.size(); ++axis) equal_size(k, axis, expected[axis], of_what);
  }
  void equal_size(std::size_t k, std::size_t axis, const index::Expr& expected,
                  const std::string& of_what) const {
    sizes.equal(input(k).shape[axis], expected,
                cat(subject, ": axis ", axis, " of ", spell(k), " has size ", input(k).shape[axis], ", of ",
                    of_what, " ", expected, "; they must be equal"));
  }
  void integer_index(std::size_t k) const {
    if (!ops::is_integer(input(k).dtype)) fail(spell(k), " is an index and must have an integer type");
  }
  void axis_in_range(int axis, std::size_t rank) const {
    if (axis < 0 || static_cast<std::size_t>(axis) >= rank)
      fail("axis ", axis, " is out of range for rank ", rank);
  }
  void sizes_are_valid(const Shape& shape) const {
    for (const index::Expr& size : shape) {
      const index::Range range = graph.facts().range(size);
      if (range.high && *range.high < 0) fail("the size ", size, " in ", print_shape(shape), " is negative");
    }
  }
};

// Sizes of the result over axes; the symbols that expressions may mention are no other axes.
void check_axes(const Rule& rule, const std::vector<index::Symbol>& axes, const Shape& sizes) {
  if (axes.size() != sizes.size()) rule.fail("has ", axes.size(), " axes and ", sizes.size(), " sizes");
  const std::set<index::Symbol> distinct(axes.begin(), axes.end());
  if (distinct.size() != axes.size()) rule.fail("two axes have one name");
}

void check_map(const Rule& rule, const std::vector<index::Expr>& map, std::size_t rank,
               std::string_view what) {
  if (map.size() != rank)
    rule.fail("gives ", map.size(), " expressions for the ", what, " of a tensor of rank ", rank);
}

Inferred infer_kind(const Rule& rule, const Input& input) {
  rule.takes(0);
  rule.sizes_are_valid(input.shape);
  return {input.dtype, input.shape};
}

Inferred infer_kind(const Rule& rule, const Constant& constant) {
  rule.takes(0);
  rule.sizes_are_valid(constant.shape);
  if (const auto* content = std::get_if<Content>(&constant.value)) {
    const Array& array = **content;
    if (array.dtype != constant.dtype)
      rule.fail("the array is ", ops::name(array.dtype), ", the node ", ops::name(constant.dtype));
    if (!std::ranges::equal(array.sizes, constant.shape,
                            [](std::int64_t a, const index::Expr& b) { return index::Expr(a) == b; }))
      rule.fail("the array does not have the shape ", print_shape(constant.shape));
    auto bytes = static_cast<std::int64_t>(ops::size_of(array.dtype));
    for (const std::int64_t size : array.sizes) bytes *= size;
    if (static_cast<std::int64_t>(array.bytes.size()) != bytes)
      rule.fail("the array has ", array.bytes.size(), " bytes, its shape needs ", bytes);
  }
  return {constant.dtype, constant.shape};
}

Inferred infer_kind(const Rule& rule, const Size& size) {
  rule.takes(0);
  if (!ops::is_integer(size.dtype) && !ops::is_floating(size.dtype))
    rule.fail("a size cannot be ", ops::name(size.dtype));
  return {size.dtype, {}};
}

Inferred infer_kind(const Rule& rule, const Pointwise& pointwise) {
  rule.takes(static_cast<std::size_t>(ops::arity(pointwise.op)));
  std::vector<ops::DType> types;
  for (const NodeId input : rule.inputs) types.push_back(rule.graph[input].dtype);
  const std::optional<ops::DType> dtype = ops::result_type(pointwise.op, types);
  if (!dtype)
    rule.fail("does not take the types ",
              join(types, ", ", [](ops::DType type) { return std::string(ops::name(type)); }));
  for (std::size_t k = 1; k < rule.inputs.size(); ++k)
    rule.equal_shapes(k, rule.input(0).shape, rule.spell(0));
  return {*dtype, rule.input(0).shape};
}

Inferred infer_kind(const Rule& rule, const Cast& cast) {
  rule.takes(1);
  return {cast.to, rule.input(0).shape};
}

Inferred infer_kind(const Rule& rule, const View& view) {
  rule.takes(1);
  check_axes(rule, view.axes, view.sizes);
  check_map(rule, view.source, rule.input(0).shape.size(), "source");
  rule.sizes_are_valid(view.sizes);
  return {rule.input(0).dtype, view.sizes};
}

Inferred infer_kind(const Rule& rule, const Concat& concat) {
  if (rule.inputs.empty()) rule.fail("takes at least one input");
  Shape shape = rule.input(0).shape;
  rule.axis_in_range(concat.axis, shape.size());
  const auto axis = static_cast<std::size_t>(concat.axis);
  for (std::size_t k = 1; k < rule.inputs.size(); ++k) {
    const Node& part = rule.input(k);
    if (part.dtype != rule.input(0).dtype)
      rule.fail(rule.spell(k), " is of another type than ", rule.spell(0));
    if (part.shape.size() != shape.size())
      rule.fail(rule.spell(k), " is of another rank than ", rule.spell(0));
    for (std::size_t other = 0; other < shape.size(); ++other)
      if (other != axis) rule.equal_size(k, other, rule.input(0).shape[other], rule.spell(0));
    shape[axis] = shape[axis] + part.shape[axis];
  }
  return {rule.input(0).dtype, shape};
}

Inferred infer_kind(const Rule& rule, const Iota& iota) {
  rule.takes(0);
  rule.sizes_are_valid(iota.shape);
  rule.axis_in_range(iota.axis, iota.shape.size());
  if (!ops::is_integer(iota.dtype) && !ops::is_floating(iota.dtype))
    rule.fail("positions cannot be ", ops::name(iota.dtype));
  return {iota.dtype, iota.shape};
}

Inferred infer_kind(const Rule& rule, const Random& random) {
  rule.takes(0);
  rule.sizes_are_valid(random.shape);
  const bool integers = random.kind == Distribution::integers;
  if (integers ? !ops::is_integer(random.dtype) : !ops::is_floating(random.dtype))
    rule.fail("numbers of the distribution ", name(random.kind), " cannot be ", ops::name(random.dtype));
  if (integers && random.low.integer() >= random.high.integer())
    rule.fail("the range ", ops::print(random.low), " <= x < ", ops::print(random.high), " is empty");
  return {random.dtype, random.shape};
}

void check_monoid(const Rule& rule, ops::Monoid monoid, int component) {
  rule.takes(1);
  if (!ops::accepts(monoid, rule.input(0).dtype))
    rule.fail(ops::name(monoid), " does not take ", rule.spell(0));
  if (component < 0 || component >= ops::parts(monoid))
    rule.fail(ops::name(monoid), " has no part ", component);
}

Inferred infer_kind(const Rule& rule, const Reduce& reduce) {
  check_monoid(rule, reduce.monoid, reduce.component);
  const Node& input = rule.input(0);
  if (reduce.axes.empty()) rule.fail("reduces over no axes");
  if (!std::ranges::is_sorted(reduce.axes, std::ranges::less_equal{}))
    rule.fail("the axes are not sorted and distinct");
  for (const int axis : reduce.axes) rule.axis_in_range(axis, input.shape.size());
  Shape kept;
  Shape reduced;
  for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
    const bool vanishes = std::ranges::binary_search(reduce.axes, static_cast<int>(axis));
    (vanishes ? reduced : kept).push_back(input.shape[axis]);
  }
  if (!ops::over_nothing(reduce.monoid, input.dtype) && !reduce.identity_over_nothing) {
    // results <= results * elements: either there are no results or there are elements.
    const index::Expr results = index::product(kept);
    rule.sizes.holds({{{results, results * index::product(reduced) + 1}}},
                     cat(rule.subject, ": ", ops::name(reduce.monoid), " of ", rule.spell(0),
                         " over no elements has no value"));
  }
  return {ops::part_type(reduce.monoid, input.dtype, reduce.component), kept};
}

Inferred infer_kind(const Rule& rule, const Scan& scan) {
  check_monoid(rule, scan.monoid, scan.component);
  const Node& input = rule.input(0);
  rule.axis_in_range(scan.axis, input.shape.size());
  if (scan.exclusive && !ops::over_nothing(scan.monoid, input.dtype))
    rule.fail("an exclusive scan of ", ops::name(scan.monoid), " has no first value");
  // From the end a place could be told from either side.
  if (scan.backwards && ops::parts(scan.monoid) > 1) rule.fail("a scan for places runs forwards only");
  return {ops::part_type(scan.monoid, input.dtype, scan.component), input.shape};
}

Inferred infer_kind(const Rule& rule, const Gather& gather) {
  rule.takes(1 + gather.found.size());
  check_axes(rule, gather.axes, gather.sizes);
  check_map(rule, gather.source, rule.input(0).shape.size(), "source");
  if (gather.bounds.size() != gather.found.size()) rule.fail("has another number of bounds than of indices");
  for (std::size_t k = 1; k < rule.inputs.size(); ++k) {
    rule.integer_index(k);
    rule.equal_shapes(k, gather.sizes, "the result");
  }
  return {rule.input(0).dtype, gather.sizes};
}

Inferred infer_kind(const Rule& rule, const Scatter& scatter) {
  rule.takes(2 + scatter.found.size());
  const Node& base = rule.input(0);
  const Node& values = rule.input(1);
  if (values.dtype != base.dtype) rule.fail(rule.spell(1), " is of another type than ", rule.spell(0));
  check_axes(rule, scatter.axes, values.shape);
  check_map(rule, scatter.place, base.shape.size(), "place");
  if (scatter.bounds.size() != scatter.found.size())
    rule.fail("has another number of bounds than of indices");
  for (std::size_t k = 2; k < rule.inputs.size(); ++k) {
    rule.integer_index(k);
    rule.equal_shapes(k, values.shape, rule.spell(1));
  }
  const bool combines = scatter.mode == Mode::add || scatter.mode == Mode::multiply;
  if (combines && !ops::accepts(ops::Monoid::sum, base.dtype))
    rule.fail("cannot ", name(scatter.mode), " elements of ", ops::name(base.dtype));
  return {base.dtype, base.shape};
}

Inferred infer_kind(const Rule& rule, const Realize&) {
  rule.takes(1);
  return {rule.input(0).dtype, rule.input(0).shape};
}

}  // namespace

Inferred infer(const Graph& graph, const Op& op, std::span<const NodeId> inputs, const std::string& subject,
               const SizeRules& rules) {
  const Rule rule{graph, inputs, subject, rules};
  return std::visit([&](const auto& kind) { return infer_kind(rule, kind); }, op);
}

}  // namespace twinloom::graph
