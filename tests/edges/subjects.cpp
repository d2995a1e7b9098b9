// See subjects.h.
#include "tests/edges/subjects.h"

#include <xmmintrin.h>

#include <algorithm>
#include <cfenv>
#include <cstdlib>

#include "backends/cpu/cpu.h"
#include "backends/reference/reference.h"
#include "core/base/error.h"
#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "core/pipeline/pipeline.h"

namespace twinloom::tests {

namespace {

using graph::Tensor;

struct OfRows {
  std::string_view name;
  Tensor (*make)(const Tensor& x, int axis);
};
#define OVER_AXES(name)                                                     \
  {                                                                         \
#name, [](const Tensor& x, int axis) { return graph::name(x, {axis}); } \
  }
#define OVER_AXIS(name)                                                   \
  {                                                                       \
#name, [](const Tensor& x, int axis) { return graph::name(x, axis); } \
  }
constexpr OfRows of_rows[] = {
    OVER_AXES(sum),
    OVER_AXES(prod),
    OVER_AXES(mean),
    OVER_AXES(var),
    OVER_AXES(amax),
    OVER_AXES(amin),
    OVER_AXES(any),
    OVER_AXES(all),
    OVER_AXES(logsumexp),
    OVER_AXIS(argmax),
    OVER_AXIS(argmin),
    OVER_AXIS(softmax),
    OVER_AXIS(log_softmax),
    OVER_AXIS(cumsum),
    OVER_AXIS(cumprod),
    {"cummax", [](const Tensor& x, int axis) { return graph::cummax(x, axis).value; }},
    {"cummin", [](const Tensor& x, int axis) { return graph::cummin(x, axis).value; }},
    {"cummax place", [](const Tensor& x, int axis) { return graph::cummax(x, axis).place; }},
    {"cummin place", [](const Tensor& x, int axis) { return graph::cummin(x, axis).place; }},
};

Tensor applied(const std::string& operation, const std::vector<Tensor>& operands, int axis) {
  constexpr std::string_view cast_to = "cast to ";
  if (operation.starts_with(cast_to))
    return graph::cast(operands[0], ops::dtype_named(operation.substr(cast_to.size())).value());
  const auto* found = std::ranges::find(of_rows, operation, &OfRows::name);
  if (found != std::end(of_rows)) return found->make(operands[0], axis);
  return graph::pointwise(ops::pointwise_named(operation).value(), operands);
}

std::vector<std::int64_t> sizes_of(const Edge& edge, Layout layout) {
  const auto length = static_cast<std::int64_t>(edge.inputs[0].size());
  if (layout == Layout::pointwise) return {elements};
  return layout == Layout::along ? std::vector{elements, length} : std::vector{length, elements};
}

// Subnormal numbers become zero and roundings go upwards, until the end of the scope.
class BadState {
 public:
  BadState() {
    _mm_setcsr(before_ | 0x8040);
    std::fesetround(FE_UPWARD);
  }
  BadState(const BadState&) = delete;
  BadState& operator=(const BadState&) = delete;
  ~BadState() {
    std::fesetround(FE_TONEAREST);
    _mm_setcsr(before_);
  }

 private:
  unsigned before_ = _mm_getcsr();
};

std::optional<BadState> state_of(bool bad) {
  return bad ? std::optional<BadState>(std::in_place) : std::nullopt;
}

evaluate::Value run_executable(const runtime::Executable& executable,
                               const std::vector<evaluate::Argument>& arguments, bool in_bad_state) {
  std::vector<evaluate::Argument> copies = arguments;
  std::vector<runtime::Argument> tensors;
  for (evaluate::Argument& copy : copies) {
    auto& value = std::get<evaluate::Value>(copy);
    tensors.emplace_back(runtime::view_of(value.bytes.data(), value.dtype, value.sizes));
  }
  const auto run = [&] {
    const auto state = state_of(in_bad_state);
    return executable.run(tensors);
  };
  const std::vector<runtime::Output> outputs = run();
  const auto& tensor = std::get<runtime::Tensor>(outputs[0]);
  const auto* bytes = static_cast<const std::byte*>(tensor.data);
  const std::int64_t size = runtime::element_count(tensor) * ops::size_of(tensor.dtype);
  return {tensor.dtype, tensor.sizes, {bytes, bytes + size}};
}

}  // namespace

graph::Graph graph_of(const Edge& edge, Layout layout) {
  graph::Builder builder("edge");
  std::vector<Tensor> operands;
  const auto sizes = sizes_of(edge, layout);
  for (std::size_t i = 0; i < edge.inputs.size(); ++i)
    operands.push_back(builder.input(cat("x", i), edge.of, graph::Shape(sizes.begin(), sizes.end())));
  builder.output(applied(edge.operation, operands, layout == Layout::along ? 1 : 0));
  return builder.take();
}

ops::Number number_of(const std::string& text, ops::DType dtype) {
  if (ops::is_floating(dtype)) return ops::cast(std::strtod(text.c_str(), nullptr), dtype);
  const bool is_negative = text.starts_with('-');
  return ops::cast(is_negative ? std::int64_t{std::strtoll(text.c_str(), nullptr, 10)}
                               : static_cast<std::int64_t>(std::strtoull(text.c_str(), nullptr, 10)),
                   dtype);
}

std::vector<evaluate::Argument> arguments_of(const Edge& edge, Layout layout) {
  std::vector<evaluate::Argument> arguments;
  const auto size = static_cast<std::size_t>(ops::size_of(edge.of));
  const auto sizes = sizes_of(edge, layout);
  for (const std::vector<std::string>& numbers : edge.inputs) {
    evaluate::Value value{edge.of, sizes, {}};
    value.bytes.resize(static_cast<std::size_t>(elements) * numbers.size() * size);
    const auto put = [&](std::size_t at, const std::string& text) {
      ops::store_number(edge.of, number_of(text, edge.of), value.bytes.data() + at * size);
    };
    for (std::size_t at = 0; at * size < value.bytes.size(); ++at) put(at, "1");
    for (const std::int64_t place : places) {
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto row = static_cast<std::size_t>(place);
        put(layout == Layout::across ? i * elements + row : row * numbers.size() + i, numbers[i]);
      }
    }
    arguments.emplace_back(std::move(value));
  }
  return arguments;
}

std::vector<Subject> subjects_of(const graph::Graph& graph) {
  using Arguments = std::vector<evaluate::Argument>;
  std::vector<Subject> subjects;
  subjects.push_back({"evaluator", [graph](const Arguments& arguments) {
                        return *evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict)[0];
                      }});
  const auto compiled = [&](std::shared_ptr<const runtime::Backend> backend, bool fuse) {
    const pipeline::Options options{pipeline::Mode::strict, fuse, true};
    return std::make_shared<const runtime::Executable>(pipeline::compile(graph, backend, options));
  };
  const auto add = [&](const std::string& name, const auto& executable, bool in_bad_state) {
    subjects.push_back({name, [executable, in_bad_state](const Arguments& arguments) {
                          return run_executable(*executable, arguments, in_bad_state);
                        }});
  };
  add("interpreter", compiled(reference::make_reference(), false), false);
  for (const std::string& isa : cpu::supported_isas()) {
    const auto state = state_of(true);
    const auto executable = compiled(cpu::make_cpu({.isa = isa}), true);
    add(cat("machine code for ", isa, ", in a bad state"), executable, true);  // its first run compiles
    add(cat("machine code for ", isa), executable, false);
  }
  return subjects;
}

}  // namespace twinloom::tests
