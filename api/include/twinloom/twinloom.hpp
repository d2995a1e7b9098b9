/// @file
/// Twinloom's C++ API: classes over the C API (twinloom.h), in this header alone, for C++17 and later.
///
/// @code{.cpp}
///   const twinloom::Graph graph = twinloom::Graph::load("model.fx");
///   const twinloom::Executable executable(graph, twinloom::Device("cpu"));
///   std::vector<float> memory(10 * 64, 1.0f);
///   const twinloom::Tensor x = twinloom::Tensor::view(memory.data(), {10, 64});
///   const std::vector<twinloom::Value> results = executable.run({x});
///   const auto* first = std::get<twinloom::Tensor>(results[0]).data<float>();
/// @endcode
///
/// What fails throws twinloom::Error. Handles are cheap to copy and share what they refer to; a const one may
/// be used by many threads at once. Sizes and strides are in elements, memory in bytes.
#ifndef TWINLOOM_TWINLOOM_HPP
#define TWINLOOM_TWINLOOM_HPP

#include <twinloom/twinloom.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// All of the C++ API.
namespace twinloom {
inline namespace v0 {

/// Whose an error is, and what still works after it: see twinloom_code.
enum class Code {
  invalid = TWINLOOM_INVALID,              ///< The caller's.
  out_of_memory = TWINLOOM_OUT_OF_MEMORY,  ///< A run that needs less works.
  device_lost = TWINLOOM_DEVICE_LOST,      ///< Of a GPU: other devices go on.
  bug = TWINLOOM_BUG                       ///< A mistake in Twinloom.
};

/// What is thrown by all that fails.
class Error : public std::runtime_error {
 public:
  /// An error of this kind; what() is the message.
  Error(Code code, const std::string& message, std::string node = {}, std::int64_t line = 0)
      : std::runtime_error(message), code_(code), node_(std::move(node)), line_(line) {}
  /// Whose it is.
  Code code() const { return code_; }
  /// The node that it is about, as the graph calls it; empty where none is known.
  const std::string& node() const { return node_; }
  /// The line of the text that was read, from 1; 0 where none is known.
  std::int64_t line() const { return line_; }

 private:
  Code code_;
  std::string node_;
  std::int64_t line_;
};

namespace detail {

inline void check(twinloom_error* error) {
  if (error == nullptr) return;
  const std::unique_ptr<twinloom_error, decltype(&twinloom_error_free)> owner(error, twinloom_error_free);
  throw Error(static_cast<Code>(twinloom_error_code(error)), twinloom_error_message(error),
              twinloom_error_node(error), twinloom_error_line(error));
}

inline std::string taken(char* text) {
  const std::unique_ptr<char, decltype(&twinloom_text_free)> owner(text, twinloom_text_free);
  return text;
}

// A handle that the last copy frees.
template <class Handle>
std::shared_ptr<Handle> shared(Handle* handle, void (*free)(Handle*)) {
  return std::shared_ptr<Handle>(handle, free);
}

}  // namespace detail

/// The version of the library; the header's is TWINLOOM_VERSION_MAJOR and its neighbours.
inline std::string version() { return twinloom_version(); }

/// Who hears each event of a log. See twinloom_set_log for what it must not do; nor must it throw, or set
/// another.
using Log = std::function<void(std::string_view log, std::string_view text)>;

namespace detail {
inline void call_log(void* context, const char* log, const char* text) {
  (*static_cast<const Log*>(context))(log, text);
}
}  // namespace detail

/// Says which logs are on from here on: see twinloom_set_log for the names. Left empty, `log` is the error
/// stream.
inline void set_log(const std::string& names, Log log = {}) {
  // Kept until the library calls another; never freed at the end of the process, when it may still be called.
  static std::mutex& mutex = *new std::mutex;
  static std::unique_ptr<const Log>& kept = *new std::unique_ptr<const Log>;
  auto next = log ? std::make_unique<const Log>(std::move(log)) : nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  detail::check(
      twinloom_set_log(names.c_str(), next ? detail::call_log : nullptr, const_cast<Log*>(next.get())));
  kept = std::move(next);
}

/// The type of an element: DLPack's, with one lane.
struct DType {
  std::uint8_t code;  ///< A DLDataTypeCode.
  std::uint8_t bits;  ///< Of one element.
  /// The same for DLPack.
  constexpr DLDataType dlpack() const { return {code, bits, 1}; }
  /// The same type.
  friend constexpr bool operator==(DType a, DType b) { return a.code == b.code && a.bits == b.bits; }
  /// Another type.
  friend constexpr bool operator!=(DType a, DType b) { return !(a == b); }
};
/// @name Types of elements
/// @{

/// The type of elements that its name says.
inline constexpr DType boolean{6, 8}, int8{kDLInt, 8}, int16{kDLInt, 16}, int32{kDLInt, 32},
    int64{kDLInt, 64}, uint8{kDLUInt, 8}, uint16{kDLUInt, 16}, uint32{kDLUInt, 32}, uint64{kDLUInt, 64},
    float16{kDLFloat, 16}, bfloat16{kDLBfloat, 16}, float32{kDLFloat, 32}, float64{kDLFloat, 64},
    float8_e4m3fn{10, 8}, float8_e5m2{12, 8};
/// @}
/// The type of the elements of a C++ type.
template <class T>
constexpr DType dtype_of() {
  static_assert(std::is_arithmetic_v<T>,
                "name the type of elements that C++ has not: view(data, dtype, shape)");
  if constexpr (std::is_same_v<T, bool>) {
    return boolean;
  } else {
    constexpr int code = std::is_floating_point_v<T> ? kDLFloat : std::is_signed_v<T> ? kDLInt : kDLUInt;
    return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * sizeof(T))};
  }
}

/// A tensor in somebody's memory.
class Tensor {
 public:
  /// The caller's memory, row-major or with strides; it must live as long as it is used.
  static Tensor view(void* data, DType dtype, std::vector<std::int64_t> shape,
                     std::vector<std::int64_t> strides = {}, DLDevice device = {kDLCPU, 0}) {
    auto own = std::make_shared<Own>();
    own->shape = std::move(shape);
    own->strides = std::move(strides);
    own->tensor = {data,
                   device,
                   static_cast<int>(own->shape.size()),
                   dtype.dlpack(),
                   own->shape.data(),
                   own->strides.empty() ? nullptr : own->strides.data(),
                   0};
    return Tensor(std::shared_ptr<const DLTensor>(own, &own->tensor));
  }
  /// The caller's memory of a C++ type in this process.
  template <class T>
  static Tensor view(T* data, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides = {}) {
    using Element = std::remove_const_t<T>;
    return view(const_cast<Element*>(data), dtype_of<Element>(), std::move(shape), std::move(strides));
  }
  /// A tensor of another library, or of the C API: the last copy calls its deleter.
  static Tensor adopt(DLManagedTensor* managed) {
    const auto release = [](DLManagedTensor* each) {
      if (each->deleter != nullptr) each->deleter(each);
    };
    const std::shared_ptr<DLManagedTensor> owner(managed, release);
    return Tensor(std::shared_ptr<const DLTensor>(owner, &managed->dl_tensor));
  }

  /// The same for DLPack; lives as long as the tensor.
  const DLTensor& dlpack() const { return *tensor_; }
  /// The type of the elements.
  DType dtype() const { return {tensor_->dtype.code, tensor_->dtype.bits}; }
  /// Where the memory is.
  DLDevice device() const { return tensor_->device; }
  /// The size of each axis.
  std::vector<std::int64_t> shape() const { return {tensor_->shape, tensor_->shape + tensor_->ndim}; }
  /// In elements, for each axis; empty: row-major.
  std::vector<std::int64_t> strides() const {
    if (tensor_->strides == nullptr) return {};
    return {tensor_->strides, tensor_->strides + tensor_->ndim};
  }
  /// How many elements there are.
  std::int64_t count() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < tensor_->ndim; ++axis) count *= tensor_->shape[axis];
    return count;
  }
  /// The first element.
  void* data() const { return static_cast<char*>(tensor_->data) + tensor_->byte_offset; }
  /// The first element as one of this type; Error where the elements are not of this type.
  template <class T>
  T* data() const {
    if (dtype() != dtype_of<std::remove_const_t<T>>())
      throw Error(Code::invalid, "the elements of the tensor are not of the type that they are read as");
    return static_cast<T*>(data());
  }

 private:
  struct Own {
    std::vector<std::int64_t> shape, strides;
    DLTensor tensor;
  };
  explicit Tensor(std::shared_ptr<const DLTensor> tensor) : tensor_(std::move(tensor)) {}
  std::shared_ptr<const DLTensor> tensor_;
};

/// What a graph takes and gives: None, a tensor, or a size.
using Value = std::variant<std::monostate, Tensor, std::int64_t>;

/// What is known of a parameter, a result or a node before a run.
struct Port {
  std::string name;                  ///< Empty where it has none.
  twinloom_kind kind;                ///< TWINLOOM_TENSOR, TWINLOOM_SIZE or TWINLOOM_NONE.
  DType dtype;                       ///< Of a tensor.
  std::vector<std::int64_t> shape;   ///< -1: known at a run.
  std::vector<std::string> symbols;  ///< Each size as an expression: "4", "s0", "2*s0 + 1".
};

namespace detail {
inline Port port_of(const twinloom_port& port) {
  return {port.name,
          static_cast<twinloom_kind>(port.kind),
          {port.dtype.code, port.dtype.bits},
          {port.shape, port.shape + port.ndim},
          {port.shape_symbols, port.shape_symbols + port.ndim}};
}
}  // namespace detail

/// What an .npy or .npz file holds, by name; the array of an .npy file has none. See twinloom_arrays_read.
inline std::map<std::string, Tensor> read_arrays(const std::string& path) {
  twinloom_arrays* handle = nullptr;
  detail::check(twinloom_arrays_read(path.c_str(), &handle));
  const std::unique_ptr<twinloom_arrays, decltype(&twinloom_arrays_free)> arrays(handle,
                                                                                 twinloom_arrays_free);
  std::map<std::string, Tensor> result;
  for (std::size_t i = 0; i < twinloom_arrays_count(handle); ++i) {
    const char* name = nullptr;
    DLManagedTensor* tensor = nullptr;
    detail::check(twinloom_arrays_get(handle, i, &name, &tensor));
    result.insert_or_assign(name, Tensor::adopt(tensor));
  }
  return result;
}
/// Writes an .npz file, or an .npy file of one tensor.
inline void write_arrays(const std::string& path, const std::map<std::string, Tensor>& tensors) {
  std::vector<twinloom_named_tensor> named;
  for (const auto& [name, tensor] : tensors) named.push_back({name.c_str(), &tensor.dlpack()});
  detail::check(twinloom_arrays_write(path.c_str(), named.data(), named.size()));
}

/// How a text is read.
struct ReadOptions {
  int graph = 0;                                               ///< Which one of a text with several, from 0.
  std::vector<std::pair<std::string, Tensor>> constants = {};  ///< See twinloom_read_options.
};

/// Operators and what they are called with: what is compiled.
class Graph {
 public:
  /// The graph of the text that PyTorch prints for an FX graph, of Twinloom's own, or of an ONNX model's
  /// bytes.
  static Graph read(std::string_view text, const ReadOptions& options = {}) {
    return made(options, [&](const twinloom_read_options& known, twinloom_graph** graph) {
      return twinloom_graph_read(text.data(), text.size(), &known, graph);
    });
  }
  /// The graph of a file with such a text or model.
  static Graph load(const std::string& path, const ReadOptions& options = {}) {
    return made(options, [&](const twinloom_read_options& known, twinloom_graph** graph) {
      return twinloom_graph_load(path.c_str(), &known, graph);
    });
  }
  /// Of the C API; the last copy frees it.
  explicit Graph(twinloom_graph* graph) : handle_(detail::shared(graph, twinloom_graph_free)) {}

  /// What a run takes.
  std::vector<Port> parameters() const {
    return ports(twinloom_graph_parameter_count, twinloom_graph_parameter);
  }
  /// What a run gives.
  std::vector<Port> results() const { return ports(twinloom_graph_result_count, twinloom_graph_result); }
  /// Twinloom's own text, which read() reads.
  std::string text() const {
    char* text = nullptr;
    detail::check(twinloom_graph_text(handle(), &text));
    return detail::taken(text);
  }
  /// For the C API.
  const twinloom_graph* handle() const { return handle_.get(); }

 private:
  template <class Read>
  static Graph made(const ReadOptions& options, const Read& read) {
    std::vector<twinloom_named_tensor> constants;
    for (const auto& [name, tensor] : options.constants)
      constants.push_back({name.c_str(), &tensor.dlpack()});
    twinloom_read_options known = {sizeof known, options.graph, constants.size(), constants.data()};
    twinloom_graph* graph = nullptr;
    detail::check(read(known, &graph));
    return Graph(graph);
  }
  template <class Count, class Describe>
  std::vector<Port> ports(const Count& count, const Describe& describe) const {
    std::vector<Port> ports(count(handle()));
    for (std::size_t i = 0; i < ports.size(); ++i) {
      twinloom_port port{};
      port.size = sizeof port;
      detail::check(describe(handle(), i, &port));
      ports[i] = detail::port_of(port);
    }
    return ports;
  }
  std::shared_ptr<twinloom_graph> handle_;
};

// ---- a graph, call by call ----

/// A size of a shape: a number, a name that a run gives a value, or an expression of such, "2*n + 1".
class Size {
 public:
  /// @name What a size may be
  /// @{

  /// The size that is given.
  Size(std::int64_t size) : text_(std::to_string(size)) {}
  Size(int size) : text_(std::to_string(size)) {}
  Size(const char* text) : text_(text) {}
  Size(std::string text) : text_(std::move(text)) {}
  /// @}
  /// The expression.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};
/// A size for each axis.
using Shape = std::vector<Size>;

class Builder;

/// A value of the graph that is being built. It must not outlive its builder.
class Node {
 public:
  /// What it is: a tensor with its type and shape, or a size.
  Port port() const;
  /// The type of its elements.
  DType dtype() const { return port().dtype; }
  /// Whose value it is.
  Builder& builder() const { return *builder_; }
  /// Which value of the builder.
  std::int64_t number() const { return number_; }

 private:
  friend class Builder;
  Node(Builder* builder, std::int64_t number) : builder_(builder), number_(number) {}
  Builder* builder_;
  std::int64_t number_;
};

/// What an operator is called with.
class Operand {
 public:
  /// Several of them.
  using List = std::vector<Operand>;
  /// None.
  Operand() = default;
  /// @name What an operand may be
  /// @{

  /// The operand that is given.
  Operand(const Node& node) : value_(node.number()), kind_(TWINLOOM_OPERAND_VALUE) {}
  Operand(bool truth) : value_(std::int64_t{truth}), kind_(TWINLOOM_OPERAND_TRUTH) {}
  Operand(int integer) : value_(std::int64_t{integer}), kind_(TWINLOOM_OPERAND_INTEGER) {}
  Operand(std::int64_t integer) : value_(integer), kind_(TWINLOOM_OPERAND_INTEGER) {}
  Operand(double real) : value_(real), kind_(TWINLOOM_OPERAND_REAL) {}
  Operand(DType dtype) : value_(dtype), kind_(TWINLOOM_OPERAND_DTYPE) {}
  Operand(const char* text) : value_(std::string(text)), kind_(TWINLOOM_OPERAND_TEXT) {}
  Operand(const Size& size) : value_(size.text()), kind_(TWINLOOM_OPERAND_SIZE) {}
  Operand(List list) : value_(std::move(list)), kind_(TWINLOOM_OPERAND_LIST) {}
  template <class Element>
  Operand(const std::vector<Element>& elements) : Operand(List(elements.begin(), elements.end())) {}
  /// @}
  /// An operand by keyword.
  static Operand named(std::string keyword, Operand operand) {
    operand.keyword_ = std::move(keyword);
    return operand;
  }

 private:
  friend class Builder;
  std::variant<std::monostate, std::int64_t, double, DType, std::string, List> value_;
  std::int32_t kind_ = TWINLOOM_OPERAND_NONE;
  std::string keyword_;
};

/// Makes a graph, call by call.
class Builder {
 public:
  /// A builder of an empty graph of that name.
  explicit Builder(const std::string& name = "graph") : handle_(nullptr, twinloom_builder_free) {
    twinloom_builder* builder = nullptr;
    detail::check(twinloom_builder_new(name.c_str(), &builder));
    handle_.reset(builder);
  }
  /// Nodes refer to it.
  Builder(const Builder&) = delete;
  /// Nodes refer to it.
  Builder& operator=(const Builder&) = delete;

  /// A parameter: a tensor of that shape.
  Node input(const std::string& name, DType dtype, const Shape& shape) {
    std::vector<const char*> sizes;
    for (const Size& size : shape) sizes.push_back(size.text().c_str());
    std::int64_t value = 0;
    detail::check(
        twinloom_builder_input(handle(), name.c_str(), dtype.dlpack(), sizes.size(), sizes.data(), &value));
    return {this, value};
  }
  /// A number that a run is given, at least 0.
  Node size(const std::string& name) {
    std::int64_t value = 0;
    detail::check(twinloom_builder_size(handle(), name.c_str(), &value));
    return {this, value};
  }
  /// A copy of a tensor in memory of this process.
  Node constant(const Tensor& tensor) {
    std::int64_t value = 0;
    detail::check(twinloom_builder_constant(handle(), &tensor.dlpack(), &value));
    return {this, value};
  }
  /// What the calls from here on are named, each after its operator where it is empty, and the line that they stand for.
  void origin(const std::string& name, const std::string& file, std::int64_t line) {
    detail::check(twinloom_builder_origin(handle(), name.c_str(), file.c_str(), line));
  }
  /// An operator by the name that PyTorch prints, with operands as its schema says:
  /// call("aten.sum.dim_IntList", {x, {1}}).
  Node call(const std::string& target, const Operand::List& operands) {
    return calls(target, operands, 1).front();
  }
  /// The first `count` values that an operator gives.
  std::vector<Node> calls(const std::string& target, const Operand::List& operands, std::size_t count) {
    Lists lists;
    const auto& known = lowered(operands, lists);
    std::vector<std::int64_t> values(count);
    detail::check(
        twinloom_builder_call(handle(), target.c_str(), known.data(), known.size(), values.data(), count));
    std::vector<Node> nodes;
    for (const std::int64_t value : values) nodes.push_back({this, value});
    return nodes;
  }
  /// What the graph returns next.
  void output(const Node& node, const std::string& name = {}) {
    outputs_.push_back(node.number());
    names_.push_back(name);
  }
  /// The graph; the builder is then empty, and its nodes are of no use.
  Graph take() {
    std::vector<const char*> names;
    for (const std::string& name : names_) names.push_back(name.c_str());
    twinloom_graph* graph = nullptr;
    detail::check(twinloom_builder_finish(handle(), outputs_.data(), names.data(), outputs_.size(), &graph));
    outputs_.clear();
    names_.clear();
    return Graph(graph);
  }
  /// For the C API.
  twinloom_builder* handle() const { return handle_.get(); }

 private:
  using Lists = std::list<std::vector<twinloom_operand>>;
  static const std::vector<twinloom_operand>& lowered(const Operand::List& operands, Lists& lists) {
    std::vector<twinloom_operand> result;
    for (const Operand& operand : operands) {
      twinloom_operand each{};
      each.kind = operand.kind_;
      each.keyword = operand.keyword_.empty() ? nullptr : operand.keyword_.c_str();
      if (const auto* integer = std::get_if<std::int64_t>(&operand.value_)) each.as.integer = *integer;
      if (const auto* real = std::get_if<double>(&operand.value_)) each.as.real = *real;
      if (const auto* dtype = std::get_if<DType>(&operand.value_)) each.as.dtype = dtype->dlpack();
      if (const auto* text = std::get_if<std::string>(&operand.value_)) each.as.text = text->c_str();
      if (const auto* list = std::get_if<Operand::List>(&operand.value_)) {
        const std::vector<twinloom_operand>& inner = lowered(*list, lists);
        each.as.list = {inner.data(), inner.size()};
      }
      result.push_back(each);
    }
    return lists.emplace_back(std::move(result));
  }
  std::unique_ptr<twinloom_builder, decltype(&twinloom_builder_free)> handle_;
  std::vector<std::int64_t> outputs_;
  std::vector<std::string> names_;
};

inline Port Node::port() const {
  twinloom_port port{};
  port.size = sizeof port;
  detail::check(twinloom_builder_port(builder_->handle(), number_, &port));
  return detail::port_of(port);
}

/// @name Operators
/// By the names and with the meaning of PyTorch's; a number beside a tensor takes its type. Those without a
/// function here are called by Builder::call.
/// @{

#define TWINLOOM_CALL_1(name) \
  inline Node name(const Node& x) { return x.builder().call("aten." #name, {x}); }
/// PyTorch's operator of the name.
TWINLOOM_CALL_1(abs)
TWINLOOM_CALL_1(acos)
TWINLOOM_CALL_1(asin)
TWINLOOM_CALL_1(atan)
TWINLOOM_CALL_1(ceil)
TWINLOOM_CALL_1(cos)
TWINLOOM_CALL_1(cosh)
TWINLOOM_CALL_1(erf)
TWINLOOM_CALL_1(exp)
TWINLOOM_CALL_1(expm1)
TWINLOOM_CALL_1(floor)
TWINLOOM_CALL_1(log)
TWINLOOM_CALL_1(log1p)
TWINLOOM_CALL_1(log2)
TWINLOOM_CALL_1(logical_not)
TWINLOOM_CALL_1(neg)
TWINLOOM_CALL_1(reciprocal)
TWINLOOM_CALL_1(relu)
TWINLOOM_CALL_1(round)
TWINLOOM_CALL_1(rsqrt)
TWINLOOM_CALL_1(sigmoid)
TWINLOOM_CALL_1(sign)
TWINLOOM_CALL_1(silu)
TWINLOOM_CALL_1(sin)
TWINLOOM_CALL_1(sinh)
TWINLOOM_CALL_1(sqrt)
TWINLOOM_CALL_1(tan)
TWINLOOM_CALL_1(tanh)
TWINLOOM_CALL_1(trunc)
#undef TWINLOOM_CALL_1
#define TWINLOOM_CALL_2(name) \
  inline Node name(const Node& x, const Operand& y) { return x.builder().call("aten." #name, {x, y}); }
TWINLOOM_CALL_2(atan2)
TWINLOOM_CALL_2(eq)
TWINLOOM_CALL_2(fmod)
TWINLOOM_CALL_2(ge)
TWINLOOM_CALL_2(gt)
TWINLOOM_CALL_2(le)
TWINLOOM_CALL_2(logical_and)
TWINLOOM_CALL_2(logical_or)
TWINLOOM_CALL_2(lt)
TWINLOOM_CALL_2(maximum)
TWINLOOM_CALL_2(minimum)
TWINLOOM_CALL_2(ne)
TWINLOOM_CALL_2(pow)
TWINLOOM_CALL_2(remainder)
#undef TWINLOOM_CALL_2
#define TWINLOOM_OPERATOR(sign, name)                                                                    \
  inline Node operator sign(const Node& x, const Node& y) {                                              \
    return x.builder().call("aten." #name, {x, y});                                                      \
  }                                                                                                      \
  inline Node operator sign(const Node& x, double y) { return x.builder().call("aten." #name, {x, y}); } \
  inline Node operator sign(double x, const Node& y) { return y.builder().call("aten." #name, {x, y}); }
TWINLOOM_OPERATOR(+, add)
TWINLOOM_OPERATOR(-, sub)
TWINLOOM_OPERATOR(*, mul)
TWINLOOM_OPERATOR(/, div)
#undef TWINLOOM_OPERATOR
inline Node operator-(const Node& x) { return neg(x); }

inline Node where(const Node& condition, const Operand& x, const Operand& y) {
  return condition.builder().call("aten.where", {condition, x, y});
}
inline Node cast(const Node& x, DType dtype) {
  return x.builder().call("prims.convert_element_type", {x, dtype});
}
inline Node gelu(const Node& x, const char* approximate = "none") {
  return x.builder().call("aten.gelu", {x, Operand::named("approximate", approximate)});
}

/// Over the axes, all where there are none; negative ones count from the end.
using Axes = std::vector<std::int64_t>;
inline Node sum(const Node& x, const Axes& axes = {}, bool keep = false) {
  return x.builder().call("aten.sum.dim_IntList", {x, axes, keep});
}
inline Node mean(const Node& x, const Axes& axes = {}, bool keep = false) {
  return x.builder().call("aten.mean.dim", {x, axes, keep});
}
inline Node amax(const Node& x, const Axes& axes = {}, bool keep = false) {
  return x.builder().call("aten.amax", {x, axes, keep});
}
inline Node amin(const Node& x, const Axes& axes = {}, bool keep = false) {
  return x.builder().call("aten.amin", {x, axes, keep});
}
inline Node argmax(const Node& x, std::int64_t axis, bool keep = false) {
  return x.builder().call("aten.argmax", {x, axis, keep});
}
inline Node softmax(const Node& x, std::int64_t axis) {
  return x.builder().call("aten._softmax", {x, axis, false});
}
inline Node log_softmax(const Node& x, std::int64_t axis) {
  return x.builder().call("aten._log_softmax", {x, axis, false});
}
inline Node cumsum(const Node& x, std::int64_t axis) { return x.builder().call("aten.cumsum", {x, axis}); }

inline Node reshape(const Node& x, const Shape& shape) {
  return x.builder().call("aten.reshape", {x, shape});
}
inline Node expand(const Node& x, const Shape& shape) { return x.builder().call("aten.expand", {x, shape}); }
inline Node permute(const Node& x, const Axes& axes) { return x.builder().call("aten.permute", {x, axes}); }
inline Node unsqueeze(const Node& x, std::int64_t axis) {
  return x.builder().call("aten.unsqueeze", {x, axis});
}
inline Node slice(const Node& x, std::int64_t axis, const Size& first, const Size& end,
                  std::int64_t step = 1) {
  return x.builder().call("aten.slice.Tensor", {x, axis, first, end, step});
}
inline Node concat(const std::vector<Node>& parts, std::int64_t axis) {
  return parts.at(0).builder().call("aten.cat", {parts, axis});
}
inline Node index_select(const Node& x, std::int64_t axis, const Node& index) {
  return x.builder().call("aten.index_select", {x, axis, index});
}
inline Node gather(const Node& x, std::int64_t axis, const Node& index) {
  return x.builder().call("aten.gather", {x, axis, index});
}
inline Node scatter_add(const Node& x, std::int64_t axis, const Node& index, const Node& source) {
  return x.builder().call("aten.scatter_add", {x, axis, index, source});
}
inline Node matmul(const Node& x, const Node& y) { return x.builder().call("aten.mm", {x, y}); }
/// @}

// ---- running ----

/// What a device may be told.
struct DeviceOptions {
  std::string isa = {};  ///< Of a CPU: "avx2" or "avx512"; empty: the best that it has.
  bool cache = true;     ///< Machine code and planned graphs are kept on disk and found there.
};

/// What kernels run on.
class Device {
 public:
  /// The device of a name: "cpu", "cuda", "cuda:1", "reference" or "h200".
  explicit Device(const std::string& name, const DeviceOptions& options = {}) {
    twinloom_device_options known{};
    known.size = sizeof known;
    known.isa = options.isa.empty() ? nullptr : options.isa.c_str();
    known.no_cache = options.cache ? 0 : 1;
    twinloom_device* device = nullptr;
    detail::check(twinloom_device_open(name.c_str(), &known, &device));
    handle_ = detail::shared(device, twinloom_device_free);
  }
  /// The devices that can be used here, the best first.
  static std::vector<std::string> names() {
    char* lines = nullptr;
    detail::check(twinloom_device_names(&lines));
    std::vector<std::string> names(1);
    for (const char each : detail::taken(lines)) {
      if (each == '\n') {
        names.emplace_back();
      } else {
        names.back() += each;
      }
    }
    names.pop_back();
    return names;
  }
  /// The tensor in memory that the device's kernels see; one that is there already is not copied.
  Tensor upload(const Tensor& tensor) const { return moved(twinloom_device_upload, tensor); }
  /// The tensor back in memory of this process; one that is there already is not copied.
  Tensor download(const Tensor& tensor) const { return moved(twinloom_device_download, tensor); }
  /// Gives the driver the memory of a GPU that is kept for later runs, for others in this process.
  void release_memory() const { detail::check(twinloom_device_release_memory(handle())); }
  /// What it is, in one line.
  std::string description() const { return text(twinloom_device_description); }
  /// What does not work as it should and hurts no result; empty where all does.
  std::string warning() const { return text(twinloom_device_warning); }
  /// For the C API.
  const twinloom_device* handle() const { return handle_.get(); }

 private:
  template <class Tell>
  std::string text(const Tell& tell) const {
    char* text = nullptr;
    detail::check(tell(handle(), &text));
    return detail::taken(text);
  }
  template <class Move>
  Tensor moved(const Move& move, const Tensor& tensor) const {
    DLManagedTensor* managed = nullptr;
    detail::check(move(handle(), &tensor.dlpack(), &managed));
    const bool copied = managed->dl_tensor.data != tensor.data();
    Tensor result = Tensor::adopt(managed);
    return copied ? result : tensor;
  }
  std::shared_ptr<twinloom_device> handle_;
};

/// How results may be rounded: see twinloom_mode.
enum class Mode {
  fused = TWINLOOM_FUSED,    ///< 16-bit values between operators stay in f32.
  strict = TWINLOOM_STRICT,  ///< Every operator rounds once to its type.
  fast = TWINLOOM_FAST       ///< Fused, and what the relaxations name.
};

/// What was done last on the way to machine code: see twinloom_progress.
struct Progress {
  std::string pass;        ///< That is done, or in which a kernel was built.
  std::string kernel;      ///< That was built; empty: the pass is done.
  std::int64_t built = 0;  ///< Kernels so far.
  std::int64_t total = 0;  ///< Of so many; 0 before it is known.
};

/// How a graph is compiled.
struct CompileOptions {
  Mode mode = Mode::fused;       ///< How results may be rounded.
  std::string relaxations = {};  ///< Of fast: names with commas between them; empty: all.
  int build_threads = 0;         ///< 0: one a core.
  int tuning_tries = 0;          ///< Schedules of each kernel that are measured beside the usual one.
  std::string schedules = {};    ///< A folder where those that were fastest are kept and found.
  std::function<void(const Progress&)> progress = {};  ///< Who hears how far it is; it must not throw.
  /// Parameters, with commas between them, whose memory results may take: see twinloom_compile_options.
  std::string donated = {};
  bool row_major_results = false;  ///< Else in the order of what is read for them: see twinloom_compile_options.
};

/// Who runs the tasks of a CPU's kernels: calls body(first, last) so that each of 0..tasks-1 is covered once,
/// and returns when all are done.
using ParallelFor = std::function<void(
    std::int64_t tasks, int threads, const std::function<void(std::int64_t first, std::int64_t last)>& body)>;

/// Who hands out memory for results and temporaries: see twinloom_run_options. It outlives all results.
struct Allocator {
  /// At least so many bytes, for use in the order of the stream; null where there are not so many.
  std::function<void*(std::size_t bytes, void* stream)> allocate;
  /// Takes them back, from any thread; must not throw.
  std::function<void(void* memory, std::size_t bytes, void* stream)> release;
};

/// How a graph is run.
struct RunOptions {
  int threads = 0;           ///< Of a CPU; 0: one a core.
  std::uint64_t seed = 0;    ///< Of random operators.
  std::uint64_t offset = 0;  ///< Of random operators: each offset has its own numbers of a seed.
  void* stream = nullptr;    ///< Of a GPU: a CUstream; null: the device's own.
  const ParallelFor* parallel_for = nullptr;  ///< Null: OpenMP's threads.
  const Allocator* allocator = nullptr;       ///< Null: Twinloom's own memory.
  bool keep_donated = false;  ///< Donated arguments keep what they hold; results get memory of their own.
};

namespace detail {

inline std::vector<twinloom_value> values_of(const std::vector<Value>& given) {
  std::vector<twinloom_value> values(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (const auto* tensor = std::get_if<Tensor>(&given[i])) {
      values[i].kind = TWINLOOM_TENSOR;
      values[i].as.tensor = &tensor->dlpack();
    } else if (const auto* size = std::get_if<std::int64_t>(&given[i])) {
      values[i].kind = TWINLOOM_SIZE;
      values[i].as.size = *size;
    }
  }
  return values;
}

inline void call_progress(void* context, const char* pass, const char* kernel, std::int64_t built,
                          std::int64_t total) {
  (*static_cast<const std::function<void(const Progress&)>*>(context))(
      {pass, kernel == nullptr ? "" : kernel, built, total});
}

// Its texts, and who hears of progress, are those of `options`.
inline twinloom_compile_options compile_options(const CompileOptions& options) {
  twinloom_compile_options known{};
  known.size = sizeof known;
  known.mode = static_cast<std::int32_t>(options.mode);
  known.relaxations = options.relaxations.empty() ? nullptr : options.relaxations.c_str();
  known.build_threads = options.build_threads;
  known.tuning_tries = options.tuning_tries;
  known.schedules = options.schedules.empty() ? nullptr : options.schedules.c_str();
  known.donated = options.donated.empty() ? nullptr : options.donated.c_str();
  known.row_major_results = options.row_major_results ? 1 : 0;
  if (options.progress) {
    known.progress = call_progress;
    known.progress_context = const_cast<void*>(static_cast<const void*>(&options.progress));
  }
  return known;
}

inline void call_parallel_for(void* context, std::int64_t tasks, std::int32_t threads, twinloom_tasks body,
                              void* body_context) {
  (*static_cast<const ParallelFor*>(context))(
      tasks, threads, [&](std::int64_t first, std::int64_t last) { body(body_context, first, last); });
}

inline void* call_allocate(void* context, std::size_t bytes, void* stream) {
  return static_cast<const Allocator*>(context)->allocate(bytes, stream);
}
inline void call_release(void* context, void* memory, std::size_t bytes, void* stream) {
  static_cast<const Allocator*>(context)->release(memory, bytes, stream);
}

inline twinloom_run_options run_options(const RunOptions& options) {
  twinloom_run_options known{};
  known.size = sizeof known;
  known.threads = options.threads;
  known.seed = options.seed;
  known.offset = options.offset;
  known.stream = options.stream;
  known.keep_donated = options.keep_donated ? 1 : 0;
  if (options.parallel_for != nullptr) {
    known.parallel_for = call_parallel_for;
    known.parallel_context = const_cast<ParallelFor*>(options.parallel_for);
  }
  if (options.allocator != nullptr) {
    known.allocate = call_allocate;
    known.release = call_release;
    known.allocate_context = const_cast<Allocator*>(options.allocator);
  }
  return known;
}

// What a run wrote; what the caller gave stays his.
inline std::vector<Value> taken(const std::vector<twinloom_value>& values, const std::vector<Value>& given) {
  std::vector<Value> results(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].kind == TWINLOOM_MANAGED) results[i] = Tensor::adopt(values[i].as.managed);
    if (values[i].kind == TWINLOOM_SIZE) results[i] = values[i].as.size;
    if (values[i].kind == TWINLOOM_TENSOR) results[i] = given[i];
  }
  return results;
}

}  // namespace detail

/// A run that was started. Its end waits for the run.
class Pending {
 public:
  /// Waiting takes no time.
  bool ready() const { return twinloom_pending_ready(handle_.get()) != 0; }
  /// Waits until the run is done, and gives its results.
  const std::vector<Value>& wait() {
    detail::check(twinloom_pending_wait(handle_.get()));
    return results_;
  }
  /// The results before they are written: for what comes later on the run's stream.
  const std::vector<Value>& results() const { return results_; }

 private:
  friend class Executable;
  Pending(twinloom_pending* handle, std::vector<Value> arguments, std::vector<Value> results)
      : arguments_(std::move(arguments)),
        results_(std::move(results)),
        handle_(handle, twinloom_pending_free) {}
  std::vector<Value> arguments_, results_;  // their memory is kept until the run is done
  std::unique_ptr<twinloom_pending, decltype(&twinloom_pending_free)> handle_;
};

/// Machine code that is made in the background. Its end waits for it.
class Preparation {
 public:
  /// Waits so many seconds at most, or, where they are negative, until it is done; whether it is. Error where
  /// it failed.
  bool wait(double seconds = -1) const {
    std::int32_t done = 0;
    detail::check(twinloom_preparation_wait(handle_.get(), seconds, &done));
    return done != 0;
  }

 private:
  friend class Executable;
  Preparation(std::shared_ptr<twinloom_executable> executable, twinloom_preparation* handle)
      : executable_(std::move(executable)), handle_(handle, twinloom_preparation_free) {}
  std::shared_ptr<twinloom_executable> executable_;  // outlives the preparation
  std::unique_ptr<twinloom_preparation, decltype(&twinloom_preparation_free)> handle_;
};

/// What the package of a graph holds.
struct ExportOptions {
  std::string targets = {};  ///< "avx2", "avx512", "sm_90", with commas between them; empty: this processor's
  /// Whose strides kernels are made for, one for each parameter; data may be null. Empty: all tensors are
  /// row-major.
  std::vector<Value> arguments = {};
  bool of_class = false;  ///< kernels for sizes like theirs too, which are faster than those for all sizes
};

/// Compiles the graph for machines that need not be here, into one file that Executable::load runs.
inline void export_package(const Graph& graph, const std::string& path, const CompileOptions& options = {},
                           const ExportOptions& how = {}) {
  const twinloom_compile_options known = detail::compile_options(options);
  const auto values = detail::values_of(how.arguments);
  twinloom_export_options asked{};
  asked.size = sizeof asked;
  asked.targets = how.targets.empty() ? nullptr : how.targets.c_str();
  asked.arguments = values.data();
  asked.argument_count = values.size();
  asked.of_class = how.of_class ? 1 : 0;
  detail::check(twinloom_export_package(graph.handle(), path.c_str(), &known, &asked));
}

/// What sources of a graph are made for.
struct SourceOptions {
  /// "avx2" or "avx512": C++ for g++ and clang++; "sm_90": CUDA C++ for nvcc; empty: as this processor.
  std::string target = {};
  std::string name = {};     ///< of the function; empty: the graph's
  std::uint64_t seed = 0;    ///< of random numbers in the test
  std::uint64_t offset = 0;  ///< the same: where in their sequence
  bool of_class =
      false;  ///< kernels for sizes like the arguments' alone, which are faster than those for all
  bool overwrite = false;  ///< files that the folder holds
};

/// Writes the graph as C++ or CUDA C++ into a folder: a function, its kernels, a build file and a test that
/// hands these arguments in, one for each parameter. It is built without Twinloom and gives the same bits.
inline void export_sources(const Graph& graph, const std::string& folder, const std::vector<Value>& arguments,
                           const CompileOptions& options = {}, const SourceOptions& how = {}) {
  const twinloom_compile_options known = detail::compile_options(options);
  const auto values = detail::values_of(arguments);
  twinloom_source_options asked{};
  asked.size = sizeof asked;
  asked.target = how.target.empty() ? nullptr : how.target.c_str();
  asked.name = how.name.empty() ? nullptr : how.name.c_str();
  asked.seed = how.seed;
  asked.offset = how.offset;
  asked.of_class = how.of_class ? 1 : 0;
  asked.overwrite = how.overwrite ? 1 : 0;
  detail::check(
      twinloom_export_sources(graph.handle(), folder.c_str(), values.data(), values.size(), &known, &asked));
}

/// A compiled graph.
class Executable {
 public:
  /// Compiles; machine code is made when the first run of a layout needs it, or by prepare().
  Executable(const Graph& graph, const Device& device, const CompileOptions& options = {})
      : result_count_(twinloom_graph_result_count(graph.handle())),
        options_(std::make_shared<const CompileOptions>(options)) {
    const twinloom_compile_options known = detail::compile_options(*options_);
    twinloom_executable* executable = nullptr;
    detail::check(twinloom_compile(graph.handle(), device.handle(), &known, &executable));
    handle_ = detail::shared(executable, twinloom_executable_free);
  }

  /// Of a package; what it lacks for the device is compiled, or, where `compile` is false, an Error.
  static Executable load(const std::string& path, const Device& device, bool compile = true) {
    twinloom_package_options known{};
    known.size = sizeof known;
    known.no_compile = compile ? 0 : 1;
    twinloom_executable* executable = nullptr;
    detail::check(twinloom_load_package(path.c_str(), device.handle(), &known, &executable));
    Executable loaded;
    loaded.handle_ = detail::shared(executable, twinloom_executable_free);
    loaded.result_count_ = twinloom_graph_result_count(loaded.graph().handle());
    return loaded;
  }
  /// That it runs, for names, types and shapes.
  Graph graph() const {
    twinloom_graph* graph = nullptr;
    detail::check(twinloom_executable_graph(handle(), &graph));
    return Graph(graph);
  }

  /// Makes the machine code that a run with these arguments needs. Here, and in the next two, a tensor's
  /// type, shape and strides are enough: its data may be null.
  void prepare(const std::vector<Value>& arguments) const {
    const auto values = detail::values_of(arguments);
    detail::check(twinloom_prepare(handle(), values.data(), values.size()));
  }
  /// The same on a thread of its own, while runs with other arguments go on.
  Preparation prepare_in_background(const std::vector<Value>& arguments) const {
    const auto values = detail::values_of(arguments);
    twinloom_preparation* preparation = nullptr;
    detail::check(twinloom_prepare_start(handle(), values.data(), values.size(), &preparation));
    return Preparation(handle_, preparation);
  }
  /// Bytes of new memory that a run with these arguments needs at once: temporaries, and results that lie in
  /// no argument.
  std::int64_t peak_bytes(const std::vector<Value>& arguments) const {
    const auto values = detail::values_of(arguments);
    std::int64_t bytes = 0;
    detail::check(twinloom_peak_bytes(handle(), values.data(), values.size(), &bytes));
    return bytes;
  }

  /// For each result the number of the parameter whose memory it takes in such a run; -1: of none.
  std::vector<std::int32_t> reuses(const std::vector<Value>& arguments, std::size_t results) const {
    const auto values = detail::values_of(arguments);
    std::vector<std::int32_t> parameters(results);
    detail::check(twinloom_reuses(handle(), values.data(), values.size(), parameters.data(), results));
    return parameters;
  }

  /// What a run with these arguments consists of, as an object of JSON: see twinloom_explain.
  std::string explain(const std::vector<Value>& arguments, int threads = 0) const {
    const auto values = detail::values_of(arguments);
    char* json = nullptr;
    detail::check(twinloom_explain(handle(), values.data(), values.size(), threads, &json));
    return detail::taken(json);
  }

  /// The text of the form after each pass of the compiler for such a run, as a list of JSON.
  std::string dump(const std::vector<Value>& arguments) const {
    const auto values = detail::values_of(arguments);
    char* json = nullptr;
    detail::check(twinloom_dump(handle(), values.data(), values.size(), &json));
    return detail::taken(json);
  }

  /// Times runs with these arguments, for so many seconds, as an object of JSON: see twinloom_bench.
  std::string bench(const std::vector<Value>& arguments, double seconds = 1,
                    const RunOptions& options = {}) const {
    const auto values = detail::values_of(arguments);
    const twinloom_run_options run = detail::run_options(options);
    twinloom_bench_options known{};
    known.size = sizeof known;
    known.seconds = seconds;
    known.run = &run;
    char* json = nullptr;
    detail::check(twinloom_bench(handle(), values.data(), values.size(), &known, &json));
    return detail::taken(json);
  }

  /// Runs the graph. One argument for each parameter. `into` is empty, or holds a tensor for every result
  /// that the graph computes and nothing for others: those are written. A result that is an argument, or a
  /// view of one, lies in its memory, and so may one that takes a donated argument's: see twinloom_run.
  std::vector<Value> run(const std::vector<Value>& arguments, const RunOptions& options = {},
                         const std::vector<Value>& into = {}) const {
    const auto values = detail::values_of(arguments);
    const twinloom_run_options known = detail::run_options(options);
    std::vector<twinloom_value> results = asked(into);
    detail::check(
        twinloom_run(handle(), values.data(), values.size(), &known, results.data(), results.size()));
    return detail::taken(results, into);
  }
  /// run() without waiting for a GPU.
  Pending start(const std::vector<Value>& arguments, const RunOptions& options = {},
                const std::vector<Value>& into = {}) const {
    const auto values = detail::values_of(arguments);
    const twinloom_run_options known = detail::run_options(options);
    std::vector<twinloom_value> results = asked(into);
    twinloom_pending* pending = nullptr;
    detail::check(twinloom_start(handle(), values.data(), values.size(), &known, results.data(),
                                 results.size(), &pending));
    return Pending(pending, arguments, detail::taken(results, into));
  }
  /// By the names of parameters and of results that have one. Error where an argument is missing, or is of no
  /// parameter.
  std::map<std::string, Value> run_named(const std::map<std::string, Value>& arguments,
                                         const RunOptions& options = {}) const {
    const Graph run_graph = graph();
    std::map<std::string, Value> left = arguments;
    std::vector<Value> given;
    for (const Port& port : run_graph.parameters()) {
      const auto found = left.find(port.name);
      if (found == left.end())
        throw Error(Code::invalid, "parameter '" + port.name + "' was not given", port.name);
      given.push_back(std::move(found->second));
      left.erase(found);
    }
    if (!left.empty()) {
      const std::string& name = left.begin()->first;
      throw Error(Code::invalid, "there is no parameter '" + name + "'", name);
    }
    const std::vector<Value> results = run(given, options);
    std::map<std::string, Value> named;
    const std::vector<Port> ports = run_graph.results();
    for (std::size_t i = 0; i < results.size(); ++i)
      if (!ports[i].name.empty()) named.insert_or_assign(ports[i].name, results[i]);
    return named;
  }
  /// For the C API.
  const twinloom_executable* handle() const { return handle_.get(); }

 private:
  std::vector<twinloom_value> asked(const std::vector<Value>& into) const {
    std::vector<twinloom_value> results = detail::values_of(into);
    if (results.empty()) results.resize(result_count_);
    return results;
  }
  Executable() = default;
  std::size_t result_count_ = 0;
  std::shared_ptr<const CompileOptions> options_;  // with who hears of progress, as long as the handle lives
  std::shared_ptr<twinloom_executable> handle_;
};

}  // namespace v0
}  // namespace twinloom

#endif
