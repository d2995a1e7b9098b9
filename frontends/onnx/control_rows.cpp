// Control flow, which is decided while the model is read: the branch that is taken, the iterations one by
// one.
#include <array>

#include "core/graph/views.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using ops::DType;

constexpr std::int64_t most_iterations = 1 << 10;

AnyValues branch(const Call& call) {
  call.ignore({"then_branch", "else_branch"});
  return call.run(call.integer(0) != 0 ? "then_branch" : "else_branch", {});
}

// What the iterations leave behind in each of the axes that they fill.
Tensor joined(const Call& call, const Values& parts, int axis, bool backwards) {
  if (parts.empty()) call.unsupported("a result of no iterations, whose shape is not known,");
  return graph::stack(backwards ? Values(parts.rbegin(), parts.rend()) : parts, axis);
}

// The body's inputs: the number of the iteration, the condition, what is carried. Its outputs: whether to go
// on, what is carried, and elements of the results. Without a condition to begin with the body's does not
// count.
AnyValues loop(const Call& call) {
  const std::int64_t most = call.has(0) ? call.integer(0) : INT64_MAX;
  const bool asks = call.has(1);
  bool goes_on = !asks || call.integer(1) != 0;
  const std::size_t carried_count = call.count() < 2 ? 0 : call.count() - 2;
  if (call.outputs() < carried_count) call.fail("has fewer outputs than carried values");
  AnyValues carried;
  for (std::size_t k = 0; k < carried_count; ++k) carried.push_back(call.value(2 + k));
  std::vector<Values> results(call.outputs() - carried_count);
  for (std::int64_t iteration = 0; goes_on && iteration < most; ++iteration) {
    if (iteration == most_iterations) call.unsupported("more than ", most_iterations, " iterations");
    AnyValues inputs = {call.builder().constant(iteration, DType::i64),
                        call.builder().constant(true, DType::b8)};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const AnyValues outputs = call.run("body", inputs);
    if (outputs.size() != 1 + carried_count + results.size())
      call.fail("the body has ", outputs.size(), " outputs in place of ", 1 + carried_count + results.size());
    carried.assign(outputs.begin() + 1, outputs.begin() + 1 + static_cast<std::ptrdiff_t>(carried_count));
    for (std::size_t k = 0; k < results.size(); ++k)
      results[k].push_back(call.tensor_in(outputs[1 + carried_count + k], "a result of the body"));
    const std::string_view condition = "the condition of the body";
    if (asks) goes_on = call.integer_of(call.tensor_in(outputs[0], condition), condition) != 0;
  }
  for (const Values& parts : results) carried.push_back(joined(call, parts, 0, false));
  return carried;
}

// A number for each of the scanned inputs or outputs; 0 where the attribute is missing.
Integers each_of(const Call& call, std::string_view attribute, std::size_t count) {
  const Integers given = call.integers(attribute).value_or(Integers(count, 0));
  if (given.size() != count)
    call.fail("attribute '", attribute, "' has ", given.size(), " numbers in place of ", count);
  return given;
}

Values tensors_in(const Call& call, const AnyValues& values) {
  Values tensors;
  for (const Value& value : values) tensors.push_back(call.tensor_in(value, "an output of the body"));
  return tensors;
}

struct Scanned {
  Tensor tensor;
  int axis;
  bool backwards;
};

std::int64_t iterations_of(const Call& call, const std::vector<Scanned>& inputs) {
  const auto count = index::constant_of(inputs[0].tensor.size(inputs[0].axis));
  if (!count || *count > most_iterations)
    call.unsupported("a symbolic number of iterations, or more than ", most_iterations, ",");
  for (const Scanned& each : inputs)
    call.builder().graph().require_equal(each.tensor.size(each.axis), *count,
                                         "Scan: all inputs must have one length");
  return *count;
}

// What a scan goes through: states come first, then what is scanned, an element an iteration.
struct Scan {
  Values state;
  std::vector<Scanned> scanned;
  Integers result_axes, result_ways;  // of each result
};

// The last states, and the results.
Values run(const Call& call, Scan scan) {
  const std::size_t states = scan.state.size(), result_count = scan.result_axes.size();
  const std::int64_t count = iterations_of(call, scan.scanned);
  std::vector<Values> results(result_count);
  for (std::int64_t iteration = 0; iteration < count; ++iteration) {
    AnyValues inputs(scan.state.begin(), scan.state.end());
    for (const auto& [x, axis, backwards] : scan.scanned)
      inputs.push_back(graph::select(x, axis, backwards ? count - 1 - iteration : iteration));
    const Values outputs = tensors_in(call, call.run("body", inputs));
    if (outputs.size() != states + result_count)
      call.fail("the body has ", outputs.size(), " outputs in place of ", states + result_count);
    scan.state.assign(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(states));
    for (std::size_t k = 0; k < result_count; ++k) results[k].push_back(outputs[states + k]);
  }
  for (std::size_t k = 0; k < result_count; ++k) {
    const int rank = results[k].empty() ? 1 : results[k][0].rank() + 1;
    scan.state.push_back(
        joined(call, results[k], call.axis(scan.result_axes[k], rank), scan.result_ways[k] != 0));
  }
  return scan.state;
}

// Of opset 8: every tensor has a batch in front, whose sequences are scanned one by one.
Values scan_of_batches(const Call& call, std::size_t scanned_count, std::size_t states) {
  if (call.has(0)) call.unsupported("sequences of different lengths");
  const Integers ways = each_of(call, "directions", scanned_count);
  const auto batch = index::constant_of(call.tensor(1 + states).size(0));
  if (!batch || *batch < 1 || *batch > most_iterations)
    call.unsupported("a symbolic size of the batch, or one not in 1 to ", most_iterations, ",");
  std::vector<Values> parts(call.outputs());
  for (std::int64_t b = 0; b < *batch; ++b) {
    Scan scan;
    for (std::size_t k = 0; k < states; ++k) scan.state.push_back(graph::select(call.tensor(1 + k), 0, b));
    for (std::size_t k = 0; k < scanned_count; ++k)
      scan.scanned.push_back({graph::select(call.tensor(1 + states + k), 0, b), 0, ways[k] != 0});
    scan.result_axes = scan.result_ways = Integers(call.outputs() - states, 0);
    const Values values = run(call, std::move(scan));
    for (std::size_t k = 0; k < values.size(); ++k) parts[k].push_back(values[k]);
  }
  Values results;
  for (const Values& each : parts) results.push_back(graph::stack(each, 0));
  return results;
}

Values scan(const Call& call) {
  const std::size_t first = call.version() < 9 ? 1 : 0;
  const auto scanned_count = static_cast<std::size_t>(call.integer("num_scan_inputs", 0));
  if (scanned_count < 1 || scanned_count + first > call.count())
    call.fail("attribute 'num_scan_inputs' must lie in 1 to ", call.count() - first);
  const std::size_t states = call.count() - first - scanned_count;
  if (call.outputs() < states) call.fail("has fewer outputs than states");
  if (call.version() < 9) return scan_of_batches(call, scanned_count, states);
  const std::size_t result_count = call.outputs() - states;
  const Integers axes = each_of(call, "scan_input_axes", scanned_count),
                 ways = each_of(call, "scan_input_directions", scanned_count);
  Scan scan{{},
            {},
            each_of(call, "scan_output_axes", result_count),
            each_of(call, "scan_output_directions", result_count)};
  for (std::size_t k = 0; k < states; ++k) scan.state.push_back(call.tensor(k));
  for (std::size_t k = 0; k < scanned_count; ++k) {
    const Tensor x = call.tensor(states + k);
    scan.scanned.push_back({x, call.axis(axes[k], x.rank()), ways[k] != 0});
  }
  return run(call, std::move(scan));
}

constexpr std::array rows = {
    any_row("If", branch, Narrow::read),
    any_row("Loop", loop, Narrow::read),
    Row{"Scan", scan, 8},
};

}  // namespace

std::span<const Row> control_rows() { return rows; }

}  // namespace twinloom::onnx
