// Reads the text form of print.cpp back. Every node goes through add(), so what a text says of types
// and shapes is checked; a node whose number is not its line's is an Error. So is a graph that breaks another
// rule of verify(): what a pass may not do is a mistake in a text that somebody wrote.
#include <algorithm>
#include <charconv>
#include <limits>

#include "core/base/error.h"
#include "core/base/scanner.h"
#include "core/graph/arrays.h"
#include "core/graph/infer.h"

namespace twinloom::graph {

namespace {

class Reader {
 public:
  Reader(std::string_view text, std::span<const Content> arrays) : scan_(text, "graph"), arrays_(arrays) {}
  Graph read();

 private:
  struct Head {
    NodeId id;
    ops::DType dtype;
    Shape shape;
  };

  NodeId node_id();
  ops::DType dtype();
  Shape shape() {
    return list<index::Expr>([&] { return index::parse(scan_); });
  }
  std::vector<index::Symbol> symbols() {
    return list<index::Symbol>([&] { return index::Symbol(scan_.word()); });
  }
  std::vector<NodeId> arguments();
  int number();
  int keyed(std::string_view key) {
    scan_.expect(key);
    return number();
  }
  template <class Item, class Read>
  std::vector<Item> list(Read&& read);

  void fact();
  void equality();
  void justify_facts();
  void parameter();
  void add_size_parameters();
  NodeId add_input(const Head& head, const Input& input, Origin origin);
  void node();
  void requirement();
  void result();
  Origin origin();
  // The operator after '='; puts its inputs into `inputs_`.
  Op op(const Head& head);
  Op constant(const Head& head);
  Content array(const Head& head, const std::vector<std::int64_t>& sizes);
  Content written_out(const Head& head, std::vector<std::int64_t> sizes);
  Op random(const Head& head);
  Op view(const Head& head);
  Op reduce();
  Op scan();
  Op sort();
  Op gather(const Head& head);
  Op scatter();
  template <class Row, class Named>
  Row row(Named&& named, std::string_view what);

  Scanner scan_;
  std::span<const Content> arrays_;  // that the text refers to
  Graph graph_;
  std::vector<NodeId> inputs_;
  std::vector<Parameter> parameters_;  // as the text lists them
  std::set<std::string> names_;        // of them
  index::Condition facts_;             // what the text says of sizes
};

int Reader::number() {
  const std::int64_t value = scan_.integer();
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    scan_.fail(cat("a number of 32 bits before this, not ", value));
  return static_cast<int>(value);
}

template <class Item, class Read>
std::vector<Item> Reader::list(Read&& read) {
  std::vector<Item> items;
  scan_.expect("[");
  if (scan_.accept("]")) return items;
  do items.push_back(read());
  while (scan_.accept(","));
  scan_.expect("]");
  return items;
}

template <class Row, class Named>
Row Reader::row(Named&& named, std::string_view what) {
  const std::string word = scan_.word();
  const std::optional<Row> found = named(word);
  if (!found) scan_.fail(cat("the name of ", what, " before this, not '", word, "'"));
  return *found;
}

NodeId Reader::node_id() {
  scan_.expect("%");
  const std::int64_t id = scan_.integer();
  if (id < 0 || id > std::int64_t{1} << 31) scan_.fail("the number of a node");
  return {static_cast<std::uint32_t>(id)};
}

ops::DType Reader::dtype() { return row<ops::DType>(ops::dtype_named, "a type"); }

std::vector<NodeId> Reader::arguments() {
  std::vector<NodeId> ids;
  scan_.expect("(");
  if (scan_.accept(")")) return ids;
  do {
    ids.push_back(node_id());
    if (ids.back().index >= graph_.nodes().size()) scan_.fail("an input that was defined before");
  } while (scan_.accept(","));
  scan_.expect(")");
  return ids;
}

void Reader::fact() {
  const index::Symbol symbol(scan_.word());
  check_size_symbols(symbol, "a fact");
  const auto bound = [&]() -> std::optional<std::int64_t> {
    if (scan_.accept("-inf") || scan_.accept("inf")) return std::nullopt;
    return scan_.integer();
  };
  scan_.expect("in");
  index::Range range;
  range.low = bound();
  scan_.expect("to");
  range.high = bound();
  const std::int64_t divisor = scan_.accept("divisor") ? scan_.integer() : 1;
  if (divisor < 1) scan_.fail(cat("a divisor of at least 1 before this, not ", divisor));
  graph_.facts().assume(symbol, range, divisor);
  if (range.low) facts_.all.push_back({*range.low, index::Expr(symbol) + 1});
  if (range.high) facts_.all.push_back({symbol, index::Expr(*range.high) + 1});
  if (divisor > 1) facts_.all.push_back({index::floor_mod(symbol, divisor), 1});
  if (!scan_.accept("below")) return;
  for (const index::Expr& extent : shape()) {
    check_size_symbols(extent, "a fact");
    graph_.facts().assume_below(symbol, extent);
    facts_.all.push_back({symbol, extent});
  }
}

void Reader::equality() {
  const index::Expr a = index::parse(scan_);
  scan_.expect("=");
  const index::Expr b = index::parse(scan_);
  check_size_symbols(a + b, "an equality");
  graph_.facts().assume_equal(a, b);
  facts_.all.push_back({a, b + 1});
  facts_.all.push_back({b, a + 1});
}

// A text may say what it likes of sizes: what does not follow from its requirements becomes one.
void Reader::justify_facts() {
  index::Facts known;
  for (const index::Symbol symbol : index::symbols_of(facts_)) known.assume(symbol, {0, {}});
  std::vector<index::Less> required;
  for (const Require& require : graph_.requirements())
    required.insert(required.end(), require.condition.all.begin(), require.condition.all.end());
  for (std::size_t k = 1; k < required.size(); ++k) {
    // 1 <= b - a and 1 <= d - c, which add up to 2: both are 1.
    const index::Less& less = required[k - 1];
    const index::Expr gap = less.b - less.a;
    if (gap + required[k].b - required[k].a == index::Expr(2)) known.assume_equal(less.a + 1, less.b);
  }
  const auto follows = [&](const index::Less& fact) {
    return known.proves_less(fact.a, fact.b) || std::ranges::any_of(required, [&](const index::Less& less) {
             return known.proves_less(-1, fact.b - fact.a - less.b + less.a);
           });
  };
  for (const index::Less& fact : facts_.all)
    if (!follows(fact)) graph_.require({{fact}}, "a fact of the graph's text");
}

// Only noted: an input becomes a parameter with its node, and a size in its turn.
void Reader::parameter() {
  std::string name = scan_.quoted();
  if (!names_.insert(name).second)
    scan_.fail(cat("another name before this: there is a parameter '", escaped(name), "'"));
  scan_.expect("=");
  if (scan_.accept("size")) {
    parameters_.push_back({std::move(name), index::parse(scan_)});
  } else {
    parameters_.push_back({std::move(name), node_id()});
  }
}

void Reader::add_size_parameters() {
  for (std::size_t k = graph_.parameters().size(); k < parameters_.size(); ++k) {
    const auto* value = std::get_if<index::Expr>(&parameters_[k].value);
    if (value == nullptr) return;
    graph_.size_parameter(parameters_[k].name, *value);
  }
}

NodeId Reader::add_input(const Head& head, const Input& input, Origin origin) {
  add_size_parameters();
  const auto slot = static_cast<std::size_t>(input.slot);
  if (slot != graph_.parameters().size() || slot >= parameters_.size())
    scan_.fail(cat("the input of parameter ", graph_.parameters().size(), " before that of ", input.slot));
  return graph_.input(parameters_[slot].name, head.dtype, head.shape, input.donated, std::move(origin));
}

Origin Reader::origin() {
  Origin origin;
  if (scan_.accept("name")) origin.name = scan_.quoted();
  if (scan_.accept("composite")) {
    origin.composite = scan_.quoted();
    origin.instance = number();
  }
  if (scan_.accept("file")) {
    origin.file = scan_.quoted();
    origin.line = number();
  }
  return origin;
}

Op Reader::constant(const Head& head) {
  const bool refers = scan_.accept("array");
  if (!refers && !scan_.accept("bytes")) return Constant{ops::parse_number(scan_), head.dtype, head.shape};
  std::vector<std::int64_t> sizes;
  for (const index::Expr& size : head.shape) {
    const auto known = index::constant_of(size);
    if (!known) scan_.fail("a constant of known sizes");
    sizes.push_back(*known);
  }
  return Constant{refers ? array(head, sizes) : written_out(head, std::move(sizes)), head.dtype, head.shape};
}

Content Reader::array(const Head& head, const std::vector<std::int64_t>& sizes) {
  const int at = number();
  if (at < 0 || static_cast<std::size_t>(at) >= arrays_.size())
    scan_.fail(cat("the number of one of the ", arrays_.size(), " arrays before this"));
  const Content& content = arrays_[static_cast<std::size_t>(at)];
  if (content->dtype != head.dtype || content->sizes != sizes)
    scan_.fail(cat("the type and the sizes of array ", at, " before this"));
  return content;
}

Content Reader::written_out(const Head& head, std::vector<std::int64_t> sizes) {
  const std::string digits = scan_.quoted();
  std::vector<std::byte> bytes;
  if (digits.size() % 2 != 0) scan_.fail("two digits for each byte");
  for (std::size_t k = 0; k < digits.size(); k += 2) {
    unsigned byte = 0;
    const auto [end, status] = std::from_chars(digits.data() + k, digits.data() + k + 2, byte, 16);
    if (status != std::errc() || end != digits.data() + k + 2) scan_.fail("hexadecimal digits");
    bytes.push_back(static_cast<std::byte>(byte));
  }
  return std::make_shared<const Array>(Array{head.dtype, std::move(sizes), std::move(bytes)});
}

Op Reader::random(const Head& head) {
  Random random{};
  random.kind = row<Distribution>(distribution_named, "a distribution");
  random.number = keyed("number");
  scan_.expect("from");
  random.low = ops::parse_number(scan_);
  scan_.expect("to");
  random.high = ops::parse_number(scan_);
  random.dtype = head.dtype;
  random.shape = head.shape;
  return random;
}

Op Reader::view(const Head& head) {
  View view;
  inputs_ = arguments();
  scan_.expect("at");
  view.axes = symbols();
  view.sizes = head.shape;
  scan_.expect("from");
  view.source = shape();
  if (!scan_.accept("inside")) return view;
  view.inside = index::parse_condition(scan_);
  scan_.expect("else");
  view.fill = ops::parse_number(scan_);
  return view;
}

Op Reader::reduce() {
  Reduce reduce{};
  reduce.monoid = row<ops::Monoid>(ops::monoid_named, "a monoid");
  if (scan_.accept("part")) reduce.component = number();
  scan_.expect("over");
  reduce.axes = list<int>([&] { return number(); });
  if (scan_.accept("or")) {
    scan_.expect("identity");
    reduce.identity_over_nothing = true;
  }
  inputs_ = arguments();
  return reduce;
}

Op Reader::scan() {
  Scan scan{};
  scan.monoid = row<ops::Monoid>(ops::monoid_named, "a monoid");
  if (scan_.accept("part")) scan.component = number();
  scan.axis = keyed("axis");
  scan.exclusive = scan_.accept("exclusive");
  scan.backwards = scan_.accept("backwards");
  inputs_ = arguments();
  return scan;
}

Op Reader::sort() {
  Sort sort{};
  sort.axis = keyed("axis");
  sort.low = keyed("low");
  sort.bits = keyed("bits");
  inputs_ = arguments();
  return sort;
}

Op Reader::gather(const Head& head) {
  Gather gather;
  inputs_ = arguments();
  scan_.expect("at");
  gather.axes = symbols();
  gather.sizes = head.shape;
  scan_.expect("found");
  gather.found = symbols();
  scan_.expect("below");
  gather.bounds = shape();
  scan_.expect("from");
  gather.source = shape();
  gather.negative_wraps = scan_.accept("wraps");
  return gather;
}

Op Reader::scatter() {
  Scatter scatter{};
  scatter.mode = row<Mode>(mode_named, "a mode");
  inputs_ = arguments();
  scan_.expect("at");
  scatter.axes = symbols();
  scan_.expect("found");
  scatter.found = symbols();
  scan_.expect("below");
  scatter.bounds = shape();
  scan_.expect("to");
  scatter.place = shape();
  scatter.include_self = !scan_.accept("without_self");
  scatter.negative_wraps = scan_.accept("wraps");
  scatter.is_permutation = scan_.accept("permutation");
  return scatter;
}

Op Reader::op(const Head& head) {
  const std::string kind = scan_.word();
  if (kind == "input") {
    const int slot = keyed("slot");
    return Input{slot, head.dtype, head.shape, scan_.accept("donated")};
  }
  if (kind == "constant") return constant(head);
  if (kind == "size") return Size{index::parse(scan_), head.dtype};
  if (kind == "iota") return Iota{keyed("axis"), head.dtype, head.shape};
  if (kind == "random") return random(head);
  if (kind == "view") return view(head);
  if (kind == "reduce") return reduce();
  if (kind == "scan") return scan();
  if (kind == "sort") return sort();
  if (kind == "gather") return gather(head);
  if (kind == "scatter") return scatter();
  Concat concat{};
  if (kind == "concat") concat.axis = keyed("axis");
  inputs_ = arguments();
  if (kind == "concat") return concat;
  if (kind == "cast") return Cast{head.dtype, scan_.accept("implicit")};
  if (kind == "realize") return Realize{scan_.accept("in_any_order")};
  const std::optional<ops::Pointwise> pointwise = ops::pointwise_named(kind);
  if (!pointwise) scan_.fail(cat("a kind of node before this, not '", kind, "'"));
  return Pointwise{*pointwise};
}

void Reader::node() {
  Head head;
  head.id = node_id();
  scan_.expect(":");
  head.dtype = dtype();
  head.shape = shape();
  scan_.expect("=");
  inputs_.clear();
  Op made = op(head);
  Origin from = origin();
  const auto* input = std::get_if<Input>(&made);
  const NodeId id = input != nullptr ? add_input(head, *input, std::move(from))
                                     : graph_.add(std::move(made), inputs_, std::move(from));
  const Node& node = graph_[id];
  if (id != head.id) scan_.fail(cat("node %", id.index, " before this, not %", head.id.index));
  if (node.dtype != head.dtype || node.shape != head.shape)
    scan_.fail(cat("the type ", ops::name(node.dtype), " ", print_shape(node.shape), " for %", id.index));
}

void Reader::requirement() {
  index::Condition condition = index::parse_condition(scan_);
  graph_.require(std::move(condition), scan_.quoted());
}

void Reader::result() {
  Result result;
  result.name = scan_.quoted();
  scan_.expect("=");
  if (scan_.accept("own")) {
    result.value = node_id();
  } else if (scan_.accept("view")) {
    result.kind = Ownership::view;
    result.value = node_id();
    scan_.expect("of");
    result.base = node_id();
  } else if (const bool input = scan_.accept("input"); input || scan_.accept("written")) {
    result.kind = input ? Ownership::input : Ownership::written;
    result.input = number();
    result.value = node_id();
  } else if (scan_.accept("size")) {
    result.kind = Ownership::size;
    result.size = index::parse(scan_);
  } else {
    scan_.expect("none");
    result.kind = Ownership::none;
  }
  const bool known = !has_value(result.kind) || result.value.index < graph_.nodes().size();
  const bool of_earlier = result.kind != Ownership::view || result.base <= result.value;
  const bool of_parameter =
      (result.kind != Ownership::input && result.kind != Ownership::written) ||
      (result.input >= 0 && static_cast<std::size_t>(result.input) < graph_.parameters().size());
  if (!known || !of_earlier || !of_parameter) scan_.fail("a result that the graph has");
  graph_.output(std::move(result));
}

Graph Reader::read() {
  scan_.expect("graph");
  graph_.name = scan_.quoted();
  while (scan_.accept("fact")) fact();
  while (scan_.accept("equal")) equality();
  while (scan_.accept("require")) requirement();
  justify_facts();
  while (scan_.accept("parameter")) parameter();
  while (scan_.peek("%")) node();
  add_size_parameters();
  if (graph_.parameters().size() != parameters_.size())
    scan_.fail(cat("an input for parameter ", graph_.parameters().size()));
  while (scan_.accept("result")) result();
  if (!scan_.at_end()) scan_.fail("a node, a result or the end");
  return std::move(graph_);
}

}  // namespace

Graph parse(std::string_view text) { return parse(text, {}); }

Graph parse(std::string_view text, std::span<const Content> arrays) {
  Graph graph = Reader(text, arrays).read();
  try {
    verify_beside_nodes(graph);
  } catch (const Bug& broken) {
    std::string_view words = broken.what();
    constexpr std::string_view blame = "bug in Twinloom: ";
    if (words.starts_with(blame)) words.remove_prefix(blame.size());
    throw Error(cat("not a valid graph: ", words.substr(0, words.rfind(" ("))));
  }
  return graph;
}

}  // namespace twinloom::graph
