// Inside of the component: one node of a model as the rows of operators.h see it. What is missing, has the
// wrong type or is not known while the model is read, is an Error; the reader puts node, operator and opset
// before it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/graph/views.h"
#include "frontends/onnx/element_types.h"
#include "frontends/onnx/format.h"
#include "frontends/onnx/known.h"

namespace twinloom::onnx {

using graph::Tensor;
using Values = std::vector<Tensor>;
using Integers = std::vector<std::int64_t>;
// What a name of a model stands for: a tensor, a sequence, whose length is known, or an optional without a
// value.
using Sequence = std::vector<Tensor>;
struct Value : std::variant<Tensor, Sequence, std::monostate> {
  using variant::variant;
  Value(const Tensor& tensor, const NarrowType* held) : variant(tensor), narrow(held) {}
  const NarrowType* narrow = nullptr;  // that a tensor's elements stand for
};
using AnyValues = std::vector<Value>;

// The elements, row by row; 64-bit integers rounded.
std::vector<double> reals_in(const graph::Array& array);

class Call {
 public:
  // What a node is read with; outlives the calls.
  struct Context {
    graph::Builder& builder;
    Known& known;
    const ReadOptions& options;
    // The outputs of a graph inside of a node, for these values of its inputs.
    std::function<AnyValues(const format::GraphProto& graph, const AnyValues& inputs)> run;
  };
  Call(Context& context, const format::NodeProto& node, std::int64_t version,
       std::vector<std::optional<Value>> inputs)
      : context_(context), node_(node), version_(version), inputs_(std::move(inputs)) {}

  graph::Builder& builder() const { return context_.builder; }
  std::string name() const { return std::string(node_.op_type); }
  std::int64_t version() const { return version_; }  // of the opset

  // An input in messages.
  std::string described(std::size_t position) const;
  // How many inputs there are, those left out in the middle counted.
  std::size_t count() const { return inputs_.size(); }
  bool has(std::size_t position) const;
  Tensor tensor(std::size_t position) const;
  std::optional<Tensor> optional(std::size_t position) const;
  Value value(std::size_t position) const;
  // What the elements of a tensor are in ONNX.
  ElementType type(std::size_t position) const;
  Sequence sequence(std::size_t position) const;
  // All of them; none may be left out.
  Values tensors() const;
  // How many outputs are named, those left out in the middle counted; and whether one is.
  std::size_t outputs() const { return node_.output.size(); }
  bool wants(std::size_t output) const;

  // The numbers of an input, which must be known here.
  std::vector<index::Expr> sizes(std::size_t position) const;
  Integers integers(std::size_t position) const;
  std::int64_t integer(std::size_t position) const;
  std::vector<double> reals(std::size_t position) const;
  graph::Array array(std::size_t position) const;
  // The same of any tensor, which messages call `what`.
  graph::Array array(const Tensor& tensor, std::string_view what) const;
  std::int64_t integer_of(const Tensor& tensor, std::string_view what) const;
  // The outputs of the graph that an attribute holds.
  AnyValues run(std::string_view attribute, const AnyValues& inputs) const;
  // The value as a tensor; Error where it is none, `what` names it. Unsupported where it is of a narrow type.
  Tensor tensor_in(const Value& value, std::string_view what) const;

  bool has_attribute(std::string_view attribute) const { return find(attribute) != nullptr; }
  std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  bool truth(std::string_view attribute, bool otherwise) const;
  double real(std::string_view attribute, double otherwise) const;
  std::string text(std::string_view attribute, std::string_view otherwise) const;
  std::optional<Integers> integers(std::string_view attribute) const;
  std::optional<std::vector<double>> reals(std::string_view attribute) const;
  std::vector<std::string> texts(std::string_view attribute) const;
  std::optional<graph::Array> array(std::string_view attribute) const;
  ops::DType dtype(std::string_view attribute, ops::DType otherwise) const;
  ElementType type(std::string_view attribute, ElementType otherwise) const;
  // That the tensor of an attribute stands for.
  const NarrowType* narrow(std::string_view attribute) const;

  // Attributes and an input that say nothing about the result, where the row does not ask for them.
  void ignore(std::initializer_list<std::string_view> attributes) const;
  void ignore_input(std::size_t position) const { read_inputs_.insert(position); }
  // What nobody has asked for.
  std::vector<std::string> unread_attributes() const;
  std::vector<std::size_t> unread_inputs() const;
  // The first input of a narrow type.
  std::optional<std::size_t> narrow_input() const;

  // What ONNX had as an attribute up to an opset and has as an input from then on.
  std::optional<Integers> integers(std::string_view attribute, std::size_t position) const;
  // The axis counted from the front, of `rank` axes.
  int axis(std::int64_t given, int rank) const;
  // The first input and the axis that attribute 'axis' says; without it all elements in one row.
  std::pair<Tensor, int> tensor_along_axis() const;

  template <class... Words>
  [[noreturn]] void fail(const Words&... words) const {
    throw Error(cat(words...));
  }
  template <class... Words>
  [[noreturn]] void unsupported(const Words&... words) const {
    throw Unsupported(cat(words..., " is not supported"));
  }

 private:
  const format::AttributeProto* find(std::string_view attribute) const;
  const format::AttributeProto* find(std::string_view attribute, format::AttributeType type) const;
  std::vector<index::Expr> sizes_in(const Tensor& tensor, std::string_view what) const;
  [[noreturn]] void fail_unknown(const Tensor& tensor, std::string_view what) const;

  Context& context_;
  const format::NodeProto& node_;
  std::int64_t version_;
  std::vector<std::optional<Value>> inputs_;
  mutable std::set<std::string, std::less<>> read_attributes_;
  mutable std::set<std::size_t> read_inputs_;
};

}  // namespace twinloom::onnx
