// What to compute: a list of nodes, inputs before uses, each with one result.
//
//   node  := Input | Constant | Size | Pointwise | Cast | View | Concat | Iota | Random
//          | Reduce | Scan | Sort | Gather | Scatter | Realize
//   shape := [expr, ...]     sizes over the size symbols of the graph
//
// Composite operators (softmax, layer norm, ...) are functions of builder.h, never kinds of node.
// A pass is a loop from front to back that adds to a new graph. add() infers type and shape, checks
// the inputs (Error that names the node), and returns the id of an equal node where one exists.
// Thread safety: a const Graph may be read by many threads; add() needs the graph for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/base/id.h"
#include "core/base/kept_bytes.h"
#include "core/base/match.h"
#include "core/index/facts.h"
#include "core/ops/dtype.h"
#include "core/ops/monoid.h"
#include "core/ops/number.h"
#include "core/ops/pointwise.h"

namespace twinloom::graph {

using NodeId = Id<struct NodeTag>;
using Shape = std::vector<index::Expr>;

// The elements of a constant array, row-major, without gaps. Never changes; shared by graphs.
struct Array {
  ops::DType dtype;
  std::vector<std::int64_t> sizes;
  KeptBytes bytes;
};
using Content = std::shared_ptr<const Array>;  // equal when the contents are

// A tensor the caller hands in; `slot` counts the graph's parameters (size parameters included).
struct Input {
  int slot;
  ops::DType dtype;
  Shape shape;
  bool donated = false;  // its memory may be reused for an output
  friend bool operator==(const Input&, const Input&) = default;
};
struct Constant {
  std::variant<ops::Number, Content> value;  // a number fills the shape
  ops::DType dtype;
  Shape shape;
  friend bool operator==(const Constant& a, const Constant& b);  // of contents, not of handles
};
// A size used as a number, shape [].
struct Size {
  index::Expr value;
  ops::DType dtype;
  friend bool operator==(const Size&, const Size&) = default;
};
// Inputs of equal shape (broadcasts are Views) and of the types that the row takes. f16 and bf16 are
// computed in f32 and rounded once.
struct Pointwise {
  ops::Pointwise op;
  friend bool operator==(const Pointwise&, const Pointwise&) = default;
};
struct Cast {
  ops::DType to;
  bool implicit = false;  // put in by type promotion or a composite, not by the user
  friend bool operator==(const Cast&, const Cast&) = default;
};
// reshape, transpose, slice, pad, flip, broadcast, as_strided: element `axes` of the result is
// element `source` of the input where `inside` holds, else `fill`.
struct View {
  std::vector<index::Symbol> axes;  // one for each dimension of the result
  Shape sizes;                      // of the result
  std::vector<index::Expr> source;  // one for each dimension of the input; over axes and sizes
  index::Condition inside;
  ops::Number fill;
  friend bool operator==(const View&, const View&) = default;
};
struct Concat {
  int axis;
  friend bool operator==(const Concat&, const Concat&) = default;
};
struct Iota {  // the position along `axis`
  int axis;
  ops::DType dtype;
  Shape shape;
  friend bool operator==(const Iota&, const Iota&) = default;
};
enum class Distribution : std::uint8_t { uniform, normal, integers };
struct Random {
  Distribution kind;
  int number;  // no two draws of a graph have the same
  ops::DType dtype;
  Shape shape;
  ops::Number low, high;  // of integers: low <= x < high
  friend bool operator==(const Random&, const Random&) = default;
};
// Over `axes` (sorted, distinct); they vanish from the shape. Elements of f16 and bf16 are combined in
// f32 and the result is rounded once.
struct Reduce {
  ops::Monoid monoid;
  std::vector<int> axes;
  int component = 0;  // which part of a tuple monoid; a place is the row-major position over `axes`
  friend bool operator==(const Reduce&, const Reduce&) = default;
  // Where a total over nothing has no value: give the monoid's identity in place of a requirement. For
  // composites, whose own result is then empty too or follows from the identity.
  bool identity_over_nothing = false;
};
struct Scan {
  ops::Monoid monoid;
  int axis;
  bool exclusive = false;
  bool backwards = false;
  int component = 0;
  friend bool operator==(const Scan&, const Scan&) = default;
};
// Of each row of keys along `axis` (i64) the offsets of its elements (i64) by ascending key, equal keys by
// ascending offset. Keys differ in no other bits than the `bits` from bit `low` on, of which the highest is
// their sign.
struct Sort {
  int axis;
  int low = 0;
  int bits = 64;
  friend bool operator==(const Sort&, const Sort&) = default;
};
// Element `axes` of the result is element `source` of input 0. Input 1 + k has the result's shape and
// an integer type; its element is bound to found[k] and checked: 0 <= found[k] < bounds[k], after
// adding bounds[k] once to a negative one where negative_wraps.
struct Gather {
  std::vector<index::Symbol> axes;  // of the result
  Shape sizes;                      // of the result
  std::vector<index::Symbol> found;
  Shape bounds;
  std::vector<index::Expr> source;  // one for each dimension of input 0; over axes and found
  bool negative_wraps = false;
  friend bool operator==(const Gather&, const Gather&) = default;
};
enum class Mode : std::uint8_t { replace, add, multiply, least, greatest };
ops::Monoid monoid_of(Mode mode);  // that combines where places repeat; Bug for replace
// Input 0 with input 1 written at computed places. Input 2 + k has the shape of input 1. Where places
// repeat: replace keeps the contribution of the highest row-major position over `axes`, the others
// combine in ascending position, canonically, and then with what was there.
struct Scatter {
  std::vector<index::Symbol> axes;  // of input 1
  std::vector<index::Symbol> found;
  Shape bounds;
  std::vector<index::Expr> place;  // one for each dimension of the result; over axes and found
  Mode mode;
  bool include_self = true;
  bool negative_wraps = false;
  bool is_permutation =
      false;  // whoever made it knows that each place is one element's: nothing of input 0 is left
  friend bool operator==(const Scatter&, const Scatter&) = default;
};
// The value of its input, which becomes a buffer: a user's fusion barrier, or what a pass wants in memory.
struct Realize {
  bool any_order = false;  // of its elements in memory; else row-major
  friend bool operator==(const Realize&, const Realize&) = default;
};

using Op = std::variant<Input, Constant, Size, Pointwise, Cast, View, Concat, Iota, Random, Reduce, Scan,
                        Sort, Gather, Scatter, Realize>;

// The k-th axis of a View, Gather or Scatter as add() names it (i0, i1, ...), and the k-th found index
// (f0, f1, ...). Sizes must not have such names.
index::Symbol axis_symbol(int k);
index::Symbol found_symbol(int k);

// Where a node came from; not part of equality.
struct Origin {
  std::string file;  // of the user's program
  int line = 0;
  std::string name;       // the node's name in the source graph
  std::string composite;  // "softmax", when a composite operator made it
  int instance = 0;       // its how-manieth use
};

struct Node {
  Op node;  // matched by match()
  std::vector<NodeId> inputs;
  ops::DType dtype;
  Shape shape;
  Origin origin;
};

// A parameter of the graph, in order: a tensor (an Input node), or a size. A size parameter whose
// expression is a symbol binds it; any other is checked.
struct Parameter {
  std::string name;
  std::variant<NodeId, index::Expr> value;
};

// What the caller gets, in order. Which values may be views, and of what, is in sharing.h.
enum class Ownership : std::uint8_t {
  own,      // a value in memory that no other own result has; the caller may hand in a tensor for it
  view,     // `base` itself or a strided view of it, in the memory of `base`: nothing is stored for it
  input,    // parameter `input` itself or a strided view of it: nothing is computed (sharing.h)
  written,  // parameter `input`, which holds `value` when the run is over, after all has been read
  size,     // a number known from the sizes
  none,     // None
};
// The memory of a view's base is that of the first own result that is `base`. Where none is, it is made for
// the views of `base`, which keep it alive together.
struct Result {
  Ownership kind = Ownership::own;
  NodeId value;      // of own, view, input and written
  int input = -1;    // of input and written: which parameter
  index::Expr size;  // of size
  std::string name;
  NodeId base = {};  // of view: the value that lies in its memory, which Views lead to from `value`
};
// Whether results of the kind have a value.
bool has_value(Ownership kind);
// Whether such a value is stored for this result alone: own and written.
bool is_stored(Ownership kind);

// A condition on sizes that only the run can check, with the words for when it fails.
struct Require {
  index::Condition condition;
  std::string message;
};

class Graph {
 public:
  // In graph.cpp: the variant in its nodes is costly to compile.
  Graph();
  Graph(const Graph&);
  Graph(Graph&&) noexcept;
  Graph& operator=(const Graph&);
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  NodeId add(Op op, std::vector<NodeId> inputs, Origin origin = {});
  // add() without the proof that the map of a View, Gather or Scatter stays inside: for maps that were proven
  // as nodes of another graph, or one by one before they were put together.
  NodeId add_proven(Op op, std::vector<NodeId> inputs, Origin origin = {});
  // What add() asks of an operator, and no node.
  void check(const Op& op, std::span<const NodeId> inputs, const Origin& origin);
  // Adds an Input and its Parameter. The node has the parameter's name where the origin has none.
  NodeId input(std::string name, ops::DType dtype, Shape shape, bool donated = false, Origin origin = {});
  void size_parameter(std::string name, index::Expr value);
  void output(Result result);
  // Keeps one requirement for each condition; drops one that holds for all sizes.
  void require(index::Condition condition, std::string message);
  // Makes sure that the two sizes are equal: an Error starting with `words` where they cannot be, a
  // requirement and a fact where only the run can tell.
  void require_equal(const index::Expr& a, const index::Expr& b, const std::string& words);
  // Facts about sizes that hold whenever every requirement does; a size symbol is at least 0.
  index::Facts& facts() { return facts_; }

  const Node& operator[](NodeId id) const { return nodes_[id.index]; }
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Parameter> parameters() const { return parameters_; }
  std::span<const Result> results() const { return results_; }
  std::span<const Require> requirements() const { return requirements_; }
  const index::Facts& facts() const { return facts_; }
  std::string name = "graph";

 private:
  NodeId add(Op op, std::vector<NodeId> inputs, Origin origin, bool map_is_proven);
  // Whether a node has this map, from and to the same sizes.
  bool has_map(const Op& op, std::span<const NodeId> inputs) const;

  std::vector<Node> nodes_;
  std::vector<Parameter> parameters_;
  std::vector<Result> results_;
  std::vector<Require> requirements_;
  index::Facts facts_;
  std::unordered_multimap<std::uint64_t, NodeId> by_hash_;  // of everything but the origin
  std::unordered_multimap<std::uint64_t, NodeId> by_map_;   // of View, Gather and Scatter, without the inputs
};

// The kind, with the row of its table: "exp", "reduce sum", "scatter add".
std::string kind_name(const Op& op);
// What a person calls the node: its name in the source, else its kind and number.
std::string describe(const Graph& graph, NodeId id);

std::string_view name(Mode mode);
std::string_view name(Distribution distribution);
std::optional<Mode> mode_named(std::string_view name);
std::optional<Distribution> distribution_named(std::string_view name);

// The users of each node, by node, each once, results not counted.
std::vector<std::vector<NodeId>> users_of(const Graph& graph);
// Whether a result needs the node.
std::vector<bool> live_nodes(const Graph& graph);
// What a sum of products sums up, a `mul`; nothing of another node.
std::optional<NodeId> summed_products(const Graph& graph, const Node& sum);
// Whether an element of the node may change along the dimension; true where it is not plain.
bool changes_along(const Graph& graph, NodeId id, std::size_t dimension);
// Every size symbol that a shape, a parameter or a Size mentions.
std::set<index::Symbol> size_symbols(const Graph& graph);

// Bug with the node's printed line where the graph breaks the rules of its form.
void verify(const Graph& graph);

std::string print(const Graph& graph);
// Error where the text is no graph, or none that verify() passes. What it says of sizes is not believed: a
// fact that does not follow from its requirements becomes one.
Graph parse(std::string_view text);

}  // namespace twinloom::graph
