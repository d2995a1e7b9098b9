// One rule for each kind of node: its arity, types and sizes. See infer.h.
#include "core/graph/infer.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/graph/inside.h"

namespace twinloom::graph {

namespace {

// The graph so far, the node's inputs and its name: what every rule reads.
struct Rule {
  const Graph& graph;
  std::span<const NodeId> inputs;
  const Subject& subject;
  const SizeRules& sizes;

  const Node& input(std::size_t k) const { return graph[inputs[k]]; }
  template <class... Words>
  [[noreturn]] void fail(const Words&... words) const {
    throw Error(cat(subject, ": ", words...));
  }
  void takes(std::size_t count) const {
    if (inputs.size() != count) fail("takes ", count, " inputs, given ", inputs.size());
  }
  // Spelled where a rule is broken: every node that is added is compared with its inputs.
  struct Spelled {
    const Rule& rule;
    std::size_t input;
    friend std::string print(const Spelled& spelled) {
      const Node& node = spelled.rule.input(spelled.input);
      return cat("input ", spelled.input, " (",
                 describe(spelled.rule.graph, spelled.rule.inputs[spelled.input]), ", ",
                 ops::name(node.dtype), " ", print_shape(node.shape), ")");
    }
  };
  Spelled spell(std::size_t k) const { return {*this, k}; }
  template <class OfWhat>
  void equal_shapes(std::size_t k, const Shape& expected, const OfWhat& of_what) const {
    const Shape& given = input(k).shape;
    if (given.size() != expected.size())
      fail(spell(k), " has rank ", given.size(), ", ", of_what, " has rank ", expected.size());
    for (std::size_t axis = 0; axis < given.size(); ++axis) equal_size(k, axis, expected[axis], of_what);
  }
  template <class OfWhat>
  void equal_size(std::size_t k, std::size_t axis, const index::Expr& expected, const OfWhat& of_what) const {
    const index::Expr& given = input(k).shape[axis];
    if (given == expected) return;
    sizes.equal(given, expected,
                cat(subject, ": axis ", axis, " of ", spell(k), " has size ", given, ", of ", of_what, " ",
                    expected, "; they must be equal"));
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
  // The same, where the sizes are no input's: those are compared with the input's own.
  void computed_sizes_are_valid(const Shape& shape) const {
    sizes_are_valid(shape);
    for (const index::Expr& size : shape) is_valid(size);
  }
  void is_valid(const index::Expr& size) const {
    if (sizes.are_known) return;
    for (const Need& need : needs_of(graph, size)) sizes.holds(need.condition, words_of(need));
  }
  // Of a number that may be negative.
  void divides(const index::Expr& number) const {
    if (sizes.are_known) return;
    for (const Need& need : needs_of(graph, number))
      if (need.risk == Risk::division) sizes.holds(need.condition, words_of(need));
  }
  void stays_inside(const IndexMap& map) const {
    if (sizes.are_known) return;
    for (const Need& need : needs_of(graph, map)) sizes.holds(need.condition, words_of(need));
  }
  std::string words_of(const Need& need) const {
    switch (need.risk) {
      case Risk::outside:
        return cat(subject, ": position ", need.expr, " can lie outside axis ", need.axis, " of ", spell(0));
      case Risk::division:
        return cat(subject, ": the divisor ", need.expr, " must be at least 1");
      case Risk::overflow:
        return cat(subject, ": the index ", need.expr, " can leave 64 bits");
      case Risk::negative:
        break;
    }
    return cat(subject, ": the size ", need.expr, " must not be negative");
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

// The map of a Gather or Scatter: over its axes, and over what is found below its bounds.
template <class Kind>
IndexMap found_map(const Rule& rule, const Kind& kind, const Shape& sizes, const Shape& places) {
  rule.computed_sizes_are_valid(kind.bounds);
  IndexMap map{kind.axes, sizes, places, {}, rule.input(0).shape};
  map.symbols.insert(map.symbols.end(), kind.found.begin(), kind.found.end());
  map.sizes.insert(map.sizes.end(), kind.bounds.begin(), kind.bounds.end());
  map.found = kind.found.size();
  const std::set<index::Symbol> distinct(map.symbols.begin(), map.symbols.end());
  if (distinct.size() != map.symbols.size()) rule.fail("two of its indices have one name");
  return map;
}

Inferred infer_kind(const Rule& rule, const Input& input) {
  rule.takes(0);
  rule.sizes_are_valid(input.shape);
  return {input.dtype, input.shape};
}

Inferred infer_kind(const Rule& rule, const Constant& constant) {
  rule.takes(0);
  rule.computed_sizes_are_valid(constant.shape);
  if (const auto* content = std::get_if<Content>(&constant.value)) {
    const Array& array = **content;
    if (array.dtype != constant.dtype)
      rule.fail("the array is ", ops::name(array.dtype), ", the node ", ops::name(constant.dtype));
    if (!std::ranges::equal(array.sizes, constant.shape,
                            [](std::int64_t a, const index::Expr& b) { return index::Expr(a) == b; }))
      rule.fail("the array does not have the shape ", print_shape(constant.shape));
    std::optional<std::int64_t> bytes = ops::size_of(array.dtype);
    for (const std::int64_t size : array.sizes) bytes = bytes ? checked_multiply(*bytes, size) : bytes;
    if (!bytes || static_cast<std::int64_t>(array.bytes.size()) != *bytes)
      rule.fail("the array has ", array.bytes.size(), " bytes, its shape needs ",
                bytes ? cat(*bytes) : "more than 64 bits count");
  }
  return {constant.dtype, constant.shape};
}

Inferred infer_kind(const Rule& rule, const Size& size) {
  rule.takes(0);
  if (!ops::is_integer(size.dtype) && !ops::is_floating(size.dtype))
    rule.fail("a size cannot be ", ops::name(size.dtype));
  rule.divides(size.value);
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
  rule.computed_sizes_are_valid(view.sizes);
  rule.stays_inside({view.axes, view.sizes, view.source, view.inside, rule.input(0).shape});
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
  rule.computed_sizes_are_valid(iota.shape);
  rule.axis_in_range(iota.axis, iota.shape.size());
  if (!ops::is_integer(iota.dtype) && !ops::is_floating(iota.dtype))
    rule.fail("positions cannot be ", ops::name(iota.dtype));
  return {iota.dtype, iota.shape};
}

Inferred infer_kind(const Rule& rule, const Random& random) {
  rule.takes(0);
  rule.computed_sizes_are_valid(random.shape);
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

Inferred infer_kind(const Rule& rule, const Sort& sort) {
  rule.takes(1);
  const Node& keys = rule.input(0);
  if (keys.dtype != ops::DType::i64) rule.fail(rule.spell(0), " is sorted by and must be i64");
  rule.axis_in_range(sort.axis, keys.shape.size());
  if (sort.low < 0 || sort.bits < 1 || sort.low + sort.bits > 64)
    rule.fail("keys of ", sort.bits, " bits from bit ", sort.low, " on; an i64 has 64");
  return {ops::DType::i64, keys.shape};
}

Inferred infer_kind(const Rule& rule, const Gather& gather) {
  rule.takes(1 + gather.found.size());
  check_axes(rule, gather.axes, gather.sizes);
  check_map(rule, gather.source, rule.input(0).shape.size(), "source");
  if (gather.bounds.size() != gather.found.size()) rule.fail("has another number of bounds than of indices");
  rule.computed_sizes_are_valid(gather.sizes);
  for (std::size_t k = 1; k < rule.inputs.size(); ++k) {
    rule.integer_index(k);
    rule.equal_shapes(k, gather.sizes, "the result");
  }
  rule.stays_inside(found_map(rule, gather, gather.sizes, gather.source));
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
  rule.stays_inside(found_map(rule, scatter, values.shape, scatter.place));
  if (scatter.is_permutation) rule.equal_shapes(1, base.shape, rule.spell(0));
  if (scatter.is_permutation && scatter.mode != Mode::replace)
    rule.fail("combines elements of a permutation, of which each place has one");
  const bool combines = scatter.mode == Mode::add || scatter.mode == Mode::multiply;
  if (combines && !ops::accepts(ops::Monoid::sum, base.dtype))
    rule.fail("cannot ", name(scatter.mode), " elements of ", ops::name(base.dtype));
  return {base.dtype, base.shape};
}

constexpr std::size_t MOST_AXES = 64;
constexpr std::int64_t MOST_BYTES = std::int64_t{1} << 62;

// Offsets are computed in 64 bits, also where another size is 0.
void check_extent(const Rule& rule, const Inferred& inferred) {
  if (inferred.shape.size() > MOST_AXES)
    rule.fail("has ", inferred.shape.size(), " axes; at most ", MOST_AXES, " are possible");
  std::optional<std::int64_t> bytes = ops::size_of(inferred.dtype);
  for (const index::Expr& size : inferred.shape) {
    const std::int64_t known = std::max<std::int64_t>(1, index::constant_of(size).value_or(1));
    bytes = checked_multiply(*bytes, known);
    if (!bytes || *bytes > MOST_BYTES)
      rule.fail("a tensor of ", ops::name(inferred.dtype), " ", print_shape(inferred.shape),
                " has more bytes than 64 bits count");
  }
}

Inferred infer_kind(const Rule& rule, const Realize&) {
  rule.takes(1);
  return {rule.input(0).dtype, rule.input(0).shape};
}

}  // namespace

Inferred infer(const Graph& graph, const Op& op, std::span<const NodeId> inputs, const Subject& subject,
               const SizeRules& rules) {
  const Rule rule{graph, inputs, subject, rules};
  Inferred inferred = std::visit([&](const auto& kind) { return infer_kind(rule, kind); }, op);
  check_extent(rule, inferred);
  return inferred;
}

}  // namespace twinloom::graph
