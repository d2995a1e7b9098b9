// Builds a graph by writing arithmetic: what frontends and the C++ API use.
//
//   Builder builder("mlp");
//   const Tensor x = builder.input("x", ops::DType::f32, {index::Symbol("n"), 64});
//   builder.output(softmax(x * 2.0 + bias, -1));
//   const Graph graph = builder.take();
//
// A Tensor is a small handle: the builder and a node. It must not outlive its builder. Tensors of one
// expression are of one builder and, but where said, of one element type (promotion is a frontend's
// rule); shapes are broadcast as NumPy does. A negative axis counts from the end. An empty list of axes
// means all of them. Wrong arguments are Errors that say what was given and expected.
//
// Movement is in views.h, reductions and scans in reductions.h, computed places in indexing.h, softmax
// and its like in composites.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom::graph {

class Builder;
using Axes = std::vector<int>;

class Tensor {
 public:
  Tensor() = default;
  Tensor(Builder* builder, NodeId id) : builder_(builder), id_(id) {}
  Builder& builder() const;
  NodeId id() const { return id_; }
  ops::DType dtype() const;
  Shape shape() const;
  int rank() const;
  index::Expr size(int axis) const;
  // How many elements it has.
  index::Expr count() const;

 private:
  Builder* builder_ = nullptr;
  NodeId id_;
};

// What one operator may ask for. More is taken for a mistake and is an Error.
struct Limits {
  std::int64_t parts = 1 << 14;  // tensors that it gives: unbind, split, chunk
};

class Builder {
 public:
  explicit Builder(std::string name = "graph") { graph_.name = std::move(name); }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  Tensor input(std::string name, ops::DType dtype, Shape shape, bool donated = false);
  void size_parameter(std::string name, index::Expr value);
  void output(const Tensor& value, std::string name = {});
  // Parameter `parameter` itself or a strided view of it: nothing is computed. Of one that is a view of
  // row-major memory alone, a run whose caller lays the parameter out otherwise returns a view of a copy.
  void output_of_input(const Tensor& value, int parameter, std::string name = {});
  // `base` itself or a strided view of it, in the memory of the result that is `base`, or of its own with
  // other views of `base`. sharing.h says for all results of a program which share memory.
  void output_view(const Tensor& value, const Tensor& base, std::string name = {});
  // Parameter `parameter`, which holds the value when the run is over. Error where it has not the parameter's
  // type and shape.
  void output_written(const Tensor& value, int parameter, std::string name = {});
  void output_size(index::Expr size, std::string name = {});
  void output_none(std::string name = {});

  // A number that fills the shape; the number is first cast to the type.
  Tensor constant(ops::Number value, ops::DType dtype, Shape shape = {});
  Tensor constant(Array array);
  // A size used as a number, of shape [].
  Tensor size(index::Expr value, ops::DType dtype = ops::DType::i64);
  // The position along `axis`.
  Tensor iota(Shape shape, int axis, ops::DType dtype = ops::DType::i64);
  // start, start + step, ... : `count` elements, computed in the type (in f32 for f16 and bf16).
  Tensor arange(index::Expr count, ops::Number start, ops::Number step, ops::DType dtype);
  Tensor uniform(Shape shape, ops::DType dtype);  // [0, 1)
  Tensor normal(Shape shape, ops::DType dtype);
  Tensor integers(ops::Number low, ops::Number high, Shape shape, ops::DType dtype = ops::DType::i64);

  // Adds a node with the current origin.
  Tensor add(Op op, const std::vector<Tensor>& inputs);

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  Graph take() { return std::move(graph_); }

  // Where the nodes that are added from here on come from. Composite functions fill in `composite` and
  // `instance` where no composite is set.
  Origin origin;
  Limits limits;

 private:
  friend class CompositeScope;
  const NodeId* input_of(int parameter) const;  // null where it is no tensor
  Graph graph_;
  std::map<std::string, int> instances_;
  int draws_ = 0;
};

// Names the composite operator that makes the nodes of a scope. The outermost name wins.
class CompositeScope {
 public:
  CompositeScope(Builder& builder, std::string name);
  ~CompositeScope();
  CompositeScope(const CompositeScope&) = delete;
  CompositeScope& operator=(const CompositeScope&) = delete;

 private:
  Builder& builder_;
  bool outermost_;
};

// A number beside a tensor takes the tensor's type; beside f16 and bf16 it stays an f32 number and the
// result is rounded once. A number with a fraction beside integers is an Error.
Tensor pointwise(ops::Pointwise op, const std::vector<Tensor>& inputs);
Tensor pointwise(ops::Pointwise op, const Tensor& left, ops::Number right);
Tensor pointwise(ops::Pointwise op, ops::Number left, const Tensor& right);

// `x` itself where it has the type already.
Tensor cast(const Tensor& x, ops::DType to, bool implicit = false);
// In f32 where x is f16 or bf16 (an implicit cast), else x: what composites compute in.
Tensor widened(const Tensor& x);

// One function for each row of the table with one, two or three inputs: exp(x), add(a, b), where(c, a, b).
#define TWINLOOM_ROW_1(name) \
  inline Tensor name(const Tensor& x) { return pointwise(ops::Pointwise::name, {x}); }
#define TWINLOOM_ROW_2(name)                                                                               \
  inline Tensor name(const Tensor& a, const Tensor& b) { return pointwise(ops::Pointwise::name, {a, b}); } \
  inline Tensor name(const Tensor& a, ops::Number b) { return pointwise(ops::Pointwise::name, a, b); }     \
  inline Tensor name(ops::Number a, const Tensor& b) { return pointwise(ops::Pointwise::name, a, b); }
#define TWINLOOM_ROW_3(name)                                              \
  inline Tensor name(const Tensor& a, const Tensor& b, const Tensor& c) { \
    return pointwise(ops::Pointwise::name, {a, b, c});                    \
  }
#define TWINLOOM_ROW_4(name)
#define TWINLOOM_ROW_6(name)
#define POINTWISE(name, arity, ...) TWINLOOM_ROW_##arity(name)
#include "core/ops/pointwise.def"
#undef POINTWISE
#undef TWINLOOM_ROW_1
#undef TWINLOOM_ROW_2
#undef TWINLOOM_ROW_3
#undef TWINLOOM_ROW_4
#undef TWINLOOM_ROW_6

// Numbers in place of one or both values take the type of the other, or `dtype`.
Tensor where(const Tensor& condition, const Tensor& yes, ops::Number no);
Tensor where(const Tensor& condition, ops::Number yes, const Tensor& no);
Tensor where(const Tensor& condition, ops::Number yes, ops::Number no, ops::DType dtype);
// NaN stays NaN; where low > high the result is high.
Tensor clamp(const Tensor& x, std::optional<ops::Number> low, std::optional<ops::Number> high);
Tensor clamp(const Tensor& x, const std::optional<Tensor>& low, const std::optional<Tensor>& high);
Tensor masked_fill(const Tensor& x, const Tensor& mask, ops::Number value);
Tensor full_like(const Tensor& x, ops::Number value);
// A fusion barrier: the value becomes a buffer.
Tensor realize(const Tensor& x);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& a, ops::Number b) { return add(a, b); }
inline Tensor operator+(ops::Number a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator-(const Tensor& a, ops::Number b) { return sub(a, b); }
inline Tensor operator-(ops::Number a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator*(const Tensor& a, ops::Number b) { return mul(a, b); }
inline Tensor operator*(ops::Number a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator/(const Tensor& a, ops::Number b) { return div(a, b); }
inline Tensor operator/(ops::Number a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

// The axis counted from the front; Error starting with `what` where it is out of range.
int axis_of(int axis, int rank, std::string_view what);
// Sorted and distinct; empty gives all. For rank 0 the axes 0 and -1 are none.
Axes axes_of(const Axes& axes, int rank, std::string_view what);

}  // namespace twinloom::graph
