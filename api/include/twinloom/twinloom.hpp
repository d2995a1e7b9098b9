// Twinloom's C++ API: classes over the C API (twinloom.h), in this header alone, for C++17 and later.
//
//   const twinloom::Graph graph = twinloom::Graph::load("model.fx");
//   const twinloom::Executable executable(graph, twinloom::Device("cpu"));
//   std::vector<float> memory(10 * 64, 1.0f);
//   const std::vector<twinloom::Value> results = executable.run({twinloom::Tensor::view(memory.data(), {10,
//   64})}); const auto* first = std::get<twinloom::Tensor>(results[0]).data<float>();
//
// What fails throws twinloom::Error. Handles are cheap to copy and share what they refer to; a const one may
// be used by many threads at once. Sizes and strides are in elements, memory in bytes.
#ifndef TWINLOOM_TWINLOOM_HPP
#define TWINLOOM_TWINLOOM_HPP

#include <twinloom/twinloom.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace twinloom {
inline namespace v0 {

enum class Code {
  invalid = TWINLOOM_INVALID,
  out_of_memory = TWINLOOM_OUT_OF_MEMORY,
  device_lost = TWINLOOM_DEVICE_LOST,
  bug = TWINLOOM_BUG
};

class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Code code() const { return code_; }

 private:
  Code code_;
};

namespace detail {

inline void check(twinloom_error* error) {
  if (error == nullptr) return;
  const std::unique_ptr<twinloom_error, decltype(&twinloom_error_free)> owner(error, twinloom_error_free);
  throw Error(static_cast<Code>(twinloom_error_code(error)), twinloom_error_message(error));
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

// Of the library; the header's is TWINLOOM_VERSION_MAJOR and its neighbours.
inline std::string version() { return twinloom_version(); }

// The type of an element: DLPack's, with one lane.
struct DType {
  std::uint8_t code, bits;
  constexpr DLDataType dlpack() const { return {code, bits, 1}; }
  friend constexpr bool operator==(DType a, DType b) { return a.code == b.code && a.bits == b.bits; }
  friend constexpr bool operator!=(DType a, DType b) { return !(a == b); }
};
inline constexpr DType boolean{6, 8}, int8{kDLInt, 8}, int16{kDLInt, 16}, int32{kDLInt, 32},
    int64{kDLInt, 64}, uint8{kDLUInt, 8}, uint16{kDLUInt, 16}, uint32{kDLUInt, 32}, uint64{kDLUInt, 64},
    float16{kDLFloat, 16}, bfloat16{kDLBfloat, 16}, float32{kDLFloat, 32}, float64{kDLFloat, 64},
    float8_e4m3fn{10, 8}, float8_e5m2{12, 8};
// That of a C++ type.
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

// A tensor in somebody's memory.
class Tensor {
 public:
  // The caller's memory, row-major or with strides; it must live as long as it is used.
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
  template <class T>
  static Tensor view(T* data, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides = {}) {
    using Element = std::remove_const_t<T>;
    return view(const_cast<Element*>(data), dtype_of<Element>(), std::move(shape), std::move(strides));
  }
  // Of another library's, or of the C API's: the last copy calls its deleter.
  static Tensor adopt(DLManagedTensor* managed) {
    const auto release = [](DLManagedTensor* each) {
      if (each->deleter != nullptr) each->deleter(each);
    };
    const std::shared_ptr<DLManagedTensor> owner(managed, release);
    return Tensor(std::shared_ptr<const DLTensor>(owner, &managed->dl_tensor));
  }

  const DLTensor& dlpack() const { return *tensor_; }
  DType dtype() const { return {tensor_->dtype.code, tensor_->dtype.bits}; }
  DLDevice device() const { return tensor_->device; }
  std::vector<std::int64_t> shape() const { return {tensor_->shape, tensor_->shape + tensor_->ndim}; }
  // Empty: row-major.
  std::vector<std::int64_t> strides() const {
    if (tensor_->strides == nullptr) return {};
    return {tensor_->strides, tensor_->strides + tensor_->ndim};
  }
  std::int64_t count() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < tensor_->ndim; ++axis) count *= tensor_->shape[axis];
    return count;
  }
  void* data() const { return static_cast<char*>(tensor_->data) + tensor_->byte_offset; }
  // Error where the elements are not of this type.
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

// What a graph takes and gives: None, a tensor, or a size.
using Value = std::variant<std::monostate, Tensor, std::int64_t>;

// What is known of a parameter or a result before a run.
struct Port {
  std::string name;
  twinloom_kind kind;  // TWINLOOM_TENSOR, TWINLOOM_SIZE or TWINLOOM_NONE
  DType dtype;
  std::vector<std::int64_t> shape;   // -1: known at a run
  std::vector<std::string> symbols;  // each size as an expression: "4", "s0", "2*s0 + 1"
};

struct ReadOptions {
  int graph = 0;                                               // which one of a text with several, from 0
  std::vector<std::pair<std::string, Tensor>> constants = {};  // that FX text reads as self.NAME
};

class Graph {
 public:
  // The text that PyTorch prints for an FX graph, or Twinloom's own.
  static Graph read(std::string_view text, const ReadOptions& options = {}) {
    return made(options, [&](const twinloom_read_options& known, twinloom_graph** graph) {
      return twinloom_graph_read(text.data(), text.size(), &known, graph);
    });
  }
  static Graph load(const std::string& path, const ReadOptions& options = {}) {
    return made(options, [&](const twinloom_read_options& known, twinloom_graph** graph) {
      return twinloom_graph_load(path.c_str(), &known, graph);
    });
  }
  explicit Graph(twinloom_graph* graph) : handle_(detail::shared(graph, twinloom_graph_free)) {}

  std::vector<Port> parameters() const {
    return ports(twinloom_graph_parameter_count, twinloom_graph_parameter);
  }
  std::vector<Port> results() const { return ports(twinloom_graph_result_count, twinloom_graph_result); }
  // Twinloom's own text, which read() reads.
  std::string text() const {
    char* text = nullptr;
    detail::check(twinloom_graph_text(handle(), &text));
    return detail::taken(text);
  }
  const twinloom_graph* handle() const { return handle_.get(); }

 private:
  template <class Read>
  static Graph made(const ReadOptions& options, const Read& read) {
    std::vector<twinloom_constant> constants;
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
      ports[i] = {port.name,
                  static_cast<twinloom_kind>(port.kind),
                  {port.dtype.code, port.dtype.bits},
                  {port.shape, port.shape + port.ndim},
                  {port.shape_symbols, port.shape_symbols + port.ndim}};
    }
    return ports;
  }
  std::shared_ptr<twinloom_graph> handle_;
};

struct DeviceOptions {
  std::string isa = {};  // of a CPU: "avx2" or "avx512"; empty: the best that it has
  bool cache = true;     // machine code is kept on disk and found there
};

class Device {
 public:
  // "cpu", "cuda", "cuda:1", "reference" or "h200".
  explicit Device(const std::string& name, const DeviceOptions& options = {}) {
    twinloom_device_options known{};
    known.size = sizeof known;
    known.isa = options.isa.empty() ? nullptr : options.isa.c_str();
    known.no_cache = options.cache ? 0 : 1;
    twinloom_device* device = nullptr;
    detail::check(twinloom_device_open(name.c_str(), &known, &device));
    handle_ = detail::shared(device, twinloom_device_free);
  }
  // Those that can be used here, the best first.
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
  std::string description() const { return text(twinloom_device_description); }
  // What does not work as it should and hurts no result; empty where all does.
  std::string warning() const { return text(twinloom_device_warning); }
  const twinloom_device* handle() const { return handle_.get(); }

 private:
  template <class Tell>
  std::string text(const Tell& tell) const {
    char* text = nullptr;
    detail::check(tell(handle(), &text));
    return detail::taken(text);
  }
  std::shared_ptr<twinloom_device> handle_;
};

enum class Mode { fused = TWINLOOM_FUSED, strict = TWINLOOM_STRICT, fast = TWINLOOM_FAST };

struct CompileOptions {
  Mode mode = Mode::fused;
  std::string relaxations = {};  // of fast: names with commas between them; empty: all
  int build_threads = 0;         // 0: one a core
  int tuning_tries = 0;          // schedules of each kernel that are measured beside the usual one
  std::string schedules = {};    // a folder where those that were fastest are kept and found
};

// Who runs the tasks of a CPU's kernels: calls body(first, last) so that each of 0..tasks-1 is covered once,
// and returns when all are done.
using ParallelFor = std::function<void(
    std::int64_t tasks, int threads, const std::function<void(std::int64_t first, std::int64_t last)>& body)>;

struct RunOptions {
  int threads = 0;                            // of a CPU; 0: one a core
  std::uint64_t seed = 0, offset = 0;         // of random operators
  void* stream = nullptr;                     // of a GPU: a CUstream; null: the device's own
  const ParallelFor* parallel_for = nullptr;  // null: OpenMP's threads
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

inline void call_parallel_for(void* context, std::int64_t tasks, std::int32_t threads, twinloom_tasks body,
                              void* body_context) {
  (*static_cast<const ParallelFor*>(context))(
      tasks, threads, [&](std::int64_t first, std::int64_t last) { body(body_context, first, last); });
}

inline twinloom_run_options run_options(const RunOptions& options) {
  twinloom_run_options known{};
  known.size = sizeof known;
  known.threads = options.threads;
  known.seed = options.seed;
  known.offset = options.offset;
  known.stream = options.stream;
  if (options.parallel_for != nullptr) {
    known.parallel_for = call_parallel_for;
    known.parallel_context = const_cast<ParallelFor*>(options.parallel_for);
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

// A run that was started. Its end waits for the run.
class Pending {
 public:
  bool ready() const { return twinloom_pending_ready(handle_.get()) != 0; }
  // Until the run is done.
  const std::vector<Value>& wait() {
    detail::check(twinloom_pending_wait(handle_.get()));
    return results_;
  }
  // The same before they are written: for what comes later on the run's stream.
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

// A compiled graph.
class Executable {
 public:
  Executable(const Graph& graph, const Device& device, const CompileOptions& options = {})
      : result_count_(twinloom_graph_result_count(graph.handle())) {
    twinloom_compile_options known{};
    known.size = sizeof known;
    known.mode = static_cast<std::int32_t>(options.mode);
    known.relaxations = options.relaxations.empty() ? nullptr : options.relaxations.c_str();
    known.build_threads = options.build_threads;
    known.tuning_tries = options.tuning_tries;
    known.schedules = options.schedules.empty() ? nullptr : options.schedules.c_str();
    twinloom_executable* executable = nullptr;
    detail::check(twinloom_compile(graph.handle(), device.handle(), &known, &executable));
    handle_ = detail::shared(executable, twinloom_executable_free);
  }

  // For the next two a tensor's type, shape and strides are enough: its data may be null.
  //
  // Makes the machine code that a run with these arguments needs.
  void prepare(const std::vector<Value>& arguments) const {
    const auto values = detail::values_of(arguments);
    detail::check(twinloom_prepare(handle(), values.data(), values.size()));
  }
  // Bytes of new memory that such a run needs at once: temporaries, and results that lie in no argument.
  std::int64_t peak_bytes(const std::vector<Value>& arguments) const {
    const auto values = detail::values_of(arguments);
    std::int64_t bytes = 0;
    detail::check(twinloom_peak_bytes(handle(), values.data(), values.size(), &bytes));
    return bytes;
  }

  // One argument for each parameter. `into` is empty, or holds a tensor for every result that the graph
  // computes and nothing for others: those are written. A result that is an argument, or a view of one, lies
  // in its memory.
  std::vector<Value> run(const std::vector<Value>& arguments, const RunOptions& options = {},
                         const std::vector<Value>& into = {}) const {
    const auto values = detail::values_of(arguments);
    const twinloom_run_options known = detail::run_options(options);
    std::vector<twinloom_value> results = asked(into);
    detail::check(
        twinloom_run(handle(), values.data(), values.size(), &known, results.data(), results.size()));
    return detail::taken(results, into);
  }
  // The same without waiting for a GPU.
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
  const twinloom_executable* handle() const { return handle_.get(); }

 private:
  std::vector<twinloom_value> asked(const std::vector<Value>& into) const {
    std::vector<twinloom_value> results = detail::values_of(into);
    if (results.empty()) results.resize(result_count_);
    return results;
  }
  std::size_t result_count_;
  std::shared_ptr<twinloom_executable> handle_;
};

}  // namespace v0
}  // namespace twinloom

#endif
