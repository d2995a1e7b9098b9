// Model -> graph: inputs, constants, then node by node what the rows of operators.h build. See read.h.
#include "frontends/onnx/read.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/graph/assertion.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/dimensions.h"
#include "frontends/onnx/functions.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/tensors.h"

namespace twinloom::onnx {

namespace {

using format::GraphProto;
using format::ModelProto;
using format::NodeProto;
using index::Expr;

// Nodes of a model, those of a loop each time: what is more, is taken for a mistake.
constexpr int most_nodes = 1 << 20;

class Reader {
 public:
  Reader(const ModelProto& model, const ReadOptions& options)
      : model_(model),
        options_(options),
        known_(builder_.graph(), options),
        context_{builder_, known_, options,
                 [this](const GraphProto& graph, const AnyValues& inputs) { return run(graph, inputs); }} {}

  graph::Graph read() {
    add_opsets();
    add_initializers(*model_.graph);
    add_inputs();
    for (const NodeProto& node : model_.graph->node) add(node);
    add_outputs();
    return builder_.take();
  }

 private:
  void add_opsets();
  void add_initializers(const GraphProto& graph);
  void add_inputs();
  void add(const NodeProto& node);
  void add_tensor_input(const format::ValueInfoProto& input, const std::string& what);
  void add_elements(std::string_view name, std::size_t number, const std::string& what);
  AnyValues built(const NodeProto& node, const std::string& what);
  AnyValues run(const GraphProto& graph, const AnyValues& inputs);
  AnyValues run(const format::FunctionProto& function, const NodeProto& call);
  void count_node();
  void check_depth() const;
  const Value* find(std::string_view name) const;
  std::vector<std::optional<Value>> inputs_of(const NodeProto& node) const;
  void check_size(const Tensor& tensor) const;
  static void check_all_read(const Call& call);
  void define(std::string_view name, const Value& value);
  void add_outputs();
  void add_output(const Tensor& value, const std::string& name);
  Tensor with_checked_inputs(const Tensor& value);

  const ModelProto& model_;
  const ReadOptions& options_;
  graph::Builder builder_;
  Known known_;
  Call::Context context_;
  std::map<std::string_view, std::int64_t> versions_;              // by domain
  std::map<std::string, const format::FunctionProto*> functions_;  // by key_of()
  int depth_ = 0;  // of graphs inside of nodes, and of functions
  // By name, a view into the model: those of the model's graph, then those of each graph around what is read,
  // the innermost last.
  std::vector<std::unordered_map<std::string_view, Value>> values_{1};
  bool is_checked_ = false;                       // whether a result waits for the comparison of inputs
  int nodes_ = 0;                                 // that were read; of a loop each time
  Dimensions dimensions_;
};

std::string_view domain_of(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

void Reader::add_opsets() {
  for (const auto& opset : model_.opset_import) versions_[domain_of(opset.domain)] = opset.version;
  for (const format::FunctionProto& function : model_.functions)
    functions_.emplace(key_of(function), &function);
  if (!model_.graph) throw Error("the model has no graph");
  if (versions_.empty()) throw Error("the model names no opset");
}

void Reader::add_initializers(const GraphProto& graph) {
  if (graph.sparse_initializer) throw Unsupported("sparse constants are not supported");
  for (const format::TensorProto& tensor : graph.initializer) {
    const std::string what = cat("initializer '", escaped(tensor.name), "'");
    builder_.origin = {{}, 0, std::string(tensor.name), {}, 0};
    define(tensor.name, Value(builder_.constant(array_of(tensor, options_, what)),
                              element_type(tensor.data_type, what).narrow));
  }
}

void Reader::add_inputs() {
  std::size_t number = 0;
  for (const format::ValueInfoProto& input : model_.graph->input) {
    if (find(input.name) != nullptr) continue;  // an initializer is its value
    const std::string what = cat("input '", escaped(input.name), "'");
    const auto& type = input.type;
    if (!type.is_given()) throw Error(cat(what, ": has no type"));
    builder_.origin = {};
    if (type.tensor_type) {
      add_tensor_input(input, what);
    } else {
      add_elements(input.name, number, what);
    }
    ++number;
  }
}

void Reader::add_tensor_input(const format::ValueInfoProto& input, const std::string& what) {
  const auto& type = *input.type.tensor_type;
  const auto [dtype, narrow] = element_type(type.elem_type, what);
  if (!type.shape) throw Unsupported(cat(what, ": an unknown number of axes is not supported"));
  graph::Shape shape;
  for (const auto& dimension : type.shape->dim) shape.push_back(dimensions_.size_of(dimension, what));
  const Tensor tensor = builder_.input(std::string(input.name), dtype, std::move(shape));
  check_size(tensor);
  define(input.name, Value(tensor, narrow));
}

void Reader::add_elements(std::string_view name, std::size_t number, const std::string& what) {
  const auto elements = options_.elements ? options_.elements(std::string(name), number) : std::nullopt;
  if (!elements)
    throw Unsupported(
        cat(what, ": a sequence, map or optional whose elements are not given is not supported"));
  Sequence tensors;
  for (const graph::Array& array : elements->tensors)
    tensors.push_back(builder_.input(cat(name, "[", tensors.size(), "]"), array.dtype,
                                     graph::Shape(array.sizes.begin(), array.sizes.end())));
  if (elements->is_sequence) {
    define(name, tensors);
  } else if (tensors.empty()) {
    define(name, std::monostate());
  } else {
    define(name, tensors[0]);
  }
}

void Reader::check_size(const Tensor& tensor) const {
  std::int64_t count = 1;
  for (const Expr& size : tensor.shape()) {
    const auto known = index::constant_of(size);
    if (!known || *known == 0) return;
    if (count > most_elements / *known)
      throw Error(cat("a tensor of more than ", most_elements, " elements is asked for: [",
                      join(tensor.shape(), ", ", [](const Expr& each) { return index::print(each); }), "]"));
    count *= *known;
  }
}

void Reader::define(std::string_view name, const Value& value) {
  if (name.empty()) return;
  if (!values_.back().emplace(name, value).second)
    throw Error(cat("two nodes, inputs or initializers are called '", escaped(name), "'"));
}

const Value* Reader::find(std::string_view name) const {
  for (auto scope = values_.rbegin(); scope != values_.rend(); ++scope)
    if (const auto found = scope->find(name); found != scope->end()) return &found->second;
  return nullptr;
}

void Reader::count_node() {
  if (++nodes_ > most_nodes)
    throw Unsupported(
        cat("more than ", most_nodes, " nodes, those of loops counted each time, are not supported"));
}

void Reader::check_depth() const {
  constexpr int deepest = 32;
  if (depth_ > deepest)
    throw Error(cat("functions and graphs inside of nodes are nested more than ", deepest, " deep"));
}

// A function sees its inputs alone, and has opsets of its own.
AnyValues Reader::run(const format::FunctionProto& function, const NodeProto& call) {
  const auto inputs = inputs_of(call);
  if (inputs.size() > function.input.size())
    throw Error(cat("the function has ", function.input.size(), " inputs, given are ", inputs.size()));
  ++depth_;
  check_depth();
  auto values = std::exchange(values_, decltype(values_)(1));
  auto versions = std::exchange(versions_, {});
  for (const auto& opset : function.opset_import) versions_[domain_of(opset.domain)] = opset.version;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k]) define(function.input[k], *inputs[k]);
  for (const NodeProto& node : function.node) add(for_call(node, function, call));
  AnyValues outputs;
  for (const std::string_view output : function.output) {
    const Value* found = find(output);
    if (found == nullptr)
      throw Error(cat("output '", escaped(output), "' of the function is computed by no node"));
    outputs.push_back(*found);
  }
  values_ = std::move(values);
  versions_ = std::move(versions);
  --depth_;
  return outputs;
}

// A graph inside of a node sees what is around it.
AnyValues Reader::run(const GraphProto& graph, const AnyValues& inputs) {
  count_node();
  ++depth_;
  check_depth();
  if (graph.input.size() != inputs.size())
    throw Error(cat("the graph inside has ", graph.input.size(), " inputs in place of ", inputs.size()));
  const graph::Origin origin = builder_.origin;
  values_.emplace_back();
  add_initializers(graph);
  for (std::size_t k = 0; k < inputs.size(); ++k) define(graph.input[k].name, inputs[k]);
  for (const NodeProto& node : graph.node) add(node);
  AnyValues outputs;
  for (const format::ValueInfoProto& output : graph.output) {
    const Value* found = find(output.name);
    if (found == nullptr)
      throw Error(cat("output '", escaped(output.name), "' of the graph inside is computed by no node"));
    outputs.push_back(*found);
  }
  values_.pop_back();
  --depth_;
  builder_.origin = origin;
  return outputs;
}

std::vector<std::optional<Value>> Reader::inputs_of(const NodeProto& node) const {
  std::vector<std::optional<Value>> inputs;
  for (const std::string_view name : node.input) {
    if (name.empty()) {
      inputs.emplace_back();
      continue;
    }
    const Value* found = find(name);
    if (found == nullptr)
      throw Error(cat("reads '", escaped(name),
                      "', which is no input, no initializer and no output of a node before it"));
    inputs.emplace_back(*found);
  }
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  return inputs;
}

// What a row does not know of, newer opsets may have added: no result is better than a wrong one.
void Reader::check_all_read(const Call& call) {
  if (call.version() < 6) call.ignore({"consumed_inputs"});
  for (const std::string& attribute : call.unread_attributes())
    throw Unsupported(cat("attribute '", escaped(attribute), "' is not supported"));
  for (const std::size_t input : call.unread_inputs())
    throw Unsupported(cat("input ", input, " is not supported"));
}

AnyValues Reader::built(const NodeProto& node, const std::string& what) {
  count_node();
  if (const auto function = functions_.find(key_of(node)); function != functions_.end())
    return run(*function->second, node);
  const std::string_view domain = domain_of(node.domain);
  const std::string name = domain.empty() ? std::string(node.op_type) : cat(domain, ".", node.op_type);
  const auto version = versions_.find(domain);
  if (version == versions_.end())
    throw Error(cat("the model names no opset of domain '", escaped(domain), "'"));
  if (const auto newest = newest_opset(domain); newest && version->second > *newest)
    throw Unsupported(cat("opset ", version->second, " is not supported, only those up to ", *newest));
  const Row* row = find_operator(name);
  const std::string_view reason = why_refused(name);
  if (row == nullptr)
    throw Unsupported(
        cat("the operator ", escaped(name), " is not supported", reason.empty() ? "" : ": ", reason));
  if (version->second < row->since)
    throw Unsupported(cat("opset ", version->second, " is not supported, only ", row->since, " and later"));
  // The name of the source, for messages, explain and traces.
  builder_.origin = {{}, 0, what, {}, 0};
  const graph::CompositeScope scope(builder_, std::string(node.op_type));
  const Call call(context_, node, version->second, inputs_of(node));
  const auto narrow_input = call.narrow_input();
  if (narrow_input && row->narrow == Narrow::refused)
    throw Unsupported(
        cat(call.described(*narrow_input), " of ", call.type(*narrow_input).name(), " is not supported"));
  AnyValues values;
  if (row->build_any != nullptr) {
    values = row->build_any(call);
  } else {
    const NarrowType* kept = row->narrow == Narrow::kept ? call.type(0).narrow : nullptr;
    for (const Tensor& value : row->build(call)) values.emplace_back(value, kept);
  }
  check_all_read(call);
  for (const Value& value : values)
    if (const auto* tensor = std::get_if<Tensor>(&value)) check_size(*tensor);
  return values;
}

void Reader::add(const NodeProto& node) {
  std::string name(node.name);
  if (name.empty() && !node.output.empty()) name = node.output[0];
  const auto version = versions_.find(domain_of(node.domain));
  const std::string prefix = cat("node '", escaped(name), "' (", escaped(node.op_type),
                                 version == versions_.end() ? "" : cat(", opset ", version->second), "): ");
  try {
    const AnyValues values = built(node, name);
    for (std::size_t output = 0; output < node.output.size(); ++output) {
      if (node.output[output].empty()) continue;
      if (output >= values.size())
        throw Unsupported(cat("output ", output, " is not supported; there are ", values.size()));
      define(node.output[output], values[output]);
    }
  } catch (const Unsupported& error) {
    throw Unsupported(prefix + error.what(), {name});
  } catch (const Error& error) {
    throw Error(prefix + error.what(), {name});
  }
}

// The value, in runs whose inputs have the values that the graph was made with.
Tensor Reader::with_checked_inputs(const Tensor& value) {
  std::vector<graph::Assertion> assertions;
  for (const auto& [parameter, content] : known_.used_parameters()) {
    const graph::Parameter& given = builder_.graph().parameters()[static_cast<std::size_t>(parameter)];
    const Tensor input(&builder_, std::get<graph::NodeId>(given.value));
    const Tensor made_with = builder_.constant(*content);
    assertions.push_back(
        {graph::all(graph::eq(input, made_with)),
         cat("input '", escaped(given.name), "' must have the values that the graph was made with")});
  }
  return graph::asserting(value, assertions);
}

void Reader::add_output(const Tensor& value, const std::string& name) {
  builder_.origin = {};
  builder_.output(is_checked_ ? value : with_checked_inputs(value), name);
  is_checked_ = true;
}

void Reader::add_outputs() {
  if (model_.graph->output.empty()) throw Error("the graph has no outputs");
  for (const format::ValueInfoProto& output : model_.graph->output) {
    const Value* found = find(output.name);
    if (found == nullptr) throw Error(cat("output '", escaped(output.name), "' is computed by no node"));
    if (const auto* tensor = std::get_if<Tensor>(found)) add_output(*tensor, std::string(output.name));
    if (const auto* sequence = std::get_if<Sequence>(found))
      for (std::size_t k = 0; k < sequence->size(); ++k)
        add_output((*sequence)[k], cat(output.name, "[", k, "]"));
  }
}

Kind kind_of(const format::TypeProto& type) {
  if (type.sequence_type) return Kind::sequence;
  return type.optional_type ? Kind::optional : Kind::tensor;
}

ModelProto parsed(std::string_view bytes) {
  return format::decoded<ModelProto>(bytes, "this is no ONNX model");
}

}  // namespace

graph::Graph read(std::string_view bytes, const ReadOptions& options) {
  const ModelProto model = parsed(bytes);
  return Reader(model, options).read();
}

Signature signature_of(std::string_view bytes) {
  const ModelProto model = parsed(bytes);
  if (!model.graph) return {};
  const GraphProto& graph = *model.graph;
  std::set<std::string_view> initialized;
  for (const auto& tensor : graph.initializer) initialized.insert(tensor.name);
  Signature signature;
  for (const auto& input : graph.input)
    if (!initialized.contains(input.name)) signature.inputs.push_back(kind_of(input.type));
  for (const auto& output : graph.output) signature.outputs.push_back(kind_of(output.type));
  return signature;
}

std::vector<std::string> operators() { return operator_names(); }

}  // namespace twinloom::onnx
