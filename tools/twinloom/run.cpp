// twinloom run: runs a model, compares with expected outputs, writes outputs.
#include <iostream>
#include <optional>

#include "core/base/error.h"
#include "frontends/arrays/arrays.h"
#include "tools/twinloom/commands.h"
#include "tools/twinloom/compare.h"
#include "tools/twinloom/inputs.h"
#include "tools/twinloom/report.h"
#include "tools/twinloom/rounding.h"
#include "tools/twinloom/trace.h"

namespace twinloom::tool {

namespace {

struct RunCommand {
  ModelOptions model;
  DeviceOptions device;
  std::filesystem::path expect, outputs, trace;
  Tolerance tolerance;
};

void write_outputs(const std::filesystem::path& file, const graph::Graph& graph,
                   const std::vector<Output>& outputs) {
  std::vector<arrays::Entry> entries;
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    std::string name = output_name(graph, r);
    if (const auto* tensor = std::get_if<Tensor>(&outputs[r])) {
      entries.push_back({tensor->dtype == DType::bf16 ? name + "_bf16" : name, *tensor});
    } else {
      Tensor number = allocate(DType::i64, {});
      const auto* size = std::get_if<std::int64_t>(&outputs[r]);
      *static_cast<std::int64_t*>(number.data) = size == nullptr ? 0 : *size;
      entries.push_back({name + (size == nullptr ? "_none" : "_scalar"), number});
    }
  }
  arrays::write_npz(file, entries);
}

// Left out roundings and sums in free order ask for more than the user's tolerance.
std::vector<Tolerance> tolerances_of(const RunCommand& command, const graph::Graph& graph,
                                     const runtime::Variant& variant,
                                     std::span<const evaluate::Argument> arguments, Mode mode) {
  std::vector<Tolerance> tolerances(graph.results().size(), command.tolerance);
  if (mode == Mode::strict || command.tolerance.exact) return tolerances;
  const evaluate::RunNumbers numbers = run_numbers(run_options(command.device, command.model));
  const std::vector<double> steps = dropped_steps(graph, arguments, numbers);
  const std::vector<double> errors = relaxed_errors(variant, arguments, numbers);
  for (std::size_t r = 0; r < tolerances.size(); ++r) tolerances[r].extra = steps[r] + errors[r];
  return tolerances;
}

// Where it ran, and what came of it.
struct Ran {
  Device device;
  Executable executable;
  std::vector<runtime::Argument> arguments;  // where the device's kernels find them
  std::vector<Output> outputs;
};

Ran ran(const RunCommand& command, const Model& model, const std::vector<runtime::Argument>& arguments,
        CompileOptions options, const Phases& phase, Trace* trace) {
  Device device = phase("open the device", [&] { return make_device(command.device); });
  if (trace != nullptr) options.progress = traced(*trace, options.progress);
  Executable executable = make_executable(model, device, options, command.device.no_compile);
  auto moved = phase("upload", [&] { return on_device(arguments, device); });
  const auto variant = phase("compile", [&] { return executable.variant(moved); });
  RunOptions how = run_options(command.device, command.model);
  std::optional<TracedRun> traced_run;
  if (trace != nullptr) traced_run.emplace(*trace, *variant, device.backend().space() != nullptr, how);
  auto results = phase("run", [&] { return executable.run(moved, how); });
  if (traced_run) traced_run->finish();
  auto outputs = phase("download", [&] { return on_host(std::move(results), device); });
  return {std::move(device), std::move(executable), std::move(moved), std::move(outputs)};
}

int run(const RunCommand& command) {
  std::optional<Trace> trace;
  if (!command.trace.empty()) trace.emplace(command.trace);
  const Phases phase(*command.device.context.progress, trace ? &*trace : nullptr);
  const Model model = phase("read the model", [&] { return read_model(command.model); });
  const std::vector<runtime::Argument> arguments =
      phase("make inputs", [&] { return make_arguments(model, command.model); });
  // A comparison is with what each operator alone gives, unless a mode is asked for.
  const CompileOptions options =
      compile_options(command.device, command.expect.empty() ? Mode::fused : Mode::strict, model);
  // Before the run, which may write into them.
  const bool compares = !command.expect.empty() && options.mode != Mode::strict && !command.tolerance.exact;
  const std::vector<evaluate::Argument> given =
      compares ? for_evaluator(arguments) : std::vector<evaluate::Argument>();
  const Ran done = ran(command, model, arguments, options, phase, trace ? &*trace : nullptr);
  if (trace) trace->write(done.device.backend().name());
  print_warning(done.device.backend().warning());
  if (!command.outputs.empty()) write_outputs(command.outputs, model.graph, done.outputs);
  if (command.expect.empty()) {
    print_outputs(std::cout, model.graph, done.outputs);
    return exits::done;
  }
  const auto tolerances = phase("find what may differ", [&] {
    const auto variant = done.executable.variant(done.arguments);
    return tolerances_of(command, model.graph, *variant, given, options.mode);
  });
  const bool good =
      print_comparison(std::cout, model.graph, done.outputs, read_arrays(command.expect), tolerances);
  return good ? exits::done : exits::different;
}

}  // namespace

Command add_run(CLI::App& app, const Context& context) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* sub = app.add_subcommand("run", "Run a model; with --expect, compare its outputs");
  add_model_options(*sub, command->model);
  add_device_options(*sub, command->device, context);
  add_tuning_options(*sub, command->device);
  sub->add_option("--expect", command->expect, "An .npz with out0, out1, ... or arrays by name")
      ->type_name(takes::file);
  sub->add_option("--outputs", command->outputs, "Write the outputs to this .npz")->type_name(takes::file);
  sub->add_option("--trace", command->trace,
                  "Write what was done when to this file, for chrome://tracing or ui.perfetto.dev")
      ->type_name(takes::file);
  sub->add_option("--rtol", command->tolerance.relative, "Relative tolerance")->capture_default_str();
  sub->add_option("--atol", command->tolerance.absolute, "Absolute tolerance")->capture_default_str();
  sub->add_option("--ulp", command->tolerance.ulp, "Steps of the output's type that are also enough");
  sub->add_flag("--exact", command->tolerance.exact, "Compare bits; any NaN equals any NaN");
  sub->footer("Example: twinloom run model.fx --inputs data.npz --expect data.npz --mode strict");
  return [sub, command] { return sub->parsed() ? run(*command) : -1; };
}

}  // namespace twinloom::tool
