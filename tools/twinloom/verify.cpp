// twinloom verify: a device against the graph evaluator, bit for bit; what is made of sums whose order
// is free, as of contractions outside strict, within bounds.
#include <algorithm>
#include <iostream>

#include "core/base/error.h"
#include "core/evaluate/evaluate.h"
#include "core/graph/passes.h"
#include "tools/twinloom/commands.h"
#include "tools/twinloom/inputs.h"
#include "tools/twinloom/report.h"
#include "tools/twinloom/rounding.h"

namespace twinloom::tool {

namespace {

struct VerifyCommand {
  ModelOptions model;
  DeviceOptions device;
};

Tensor tensor_of(const evaluate::Value& value) {
  return view_of(const_cast<std::byte*>(value.bytes.data()), value.dtype, value.sizes);
}

// Exact but where errors are allowed: of them, with the usual tolerance for what is made of them.
std::vector<Tolerance> tolerances_of(const std::vector<double>& errors) {
  std::vector<Tolerance> tolerances(errors.size());
  for (std::size_t r = 0; r < errors.size(); ++r) {
    tolerances[r].exact = errors[r] == 0;
    tolerances[r].extra = errors[r];
  }
  return tolerances;
}

// The graph whose strict values these options ask for, but where the order of sums is free.
graph::Graph meaning(const graph::Graph& graph, const CompileOptions& options) {
  if (options.mode == Mode::strict) return graph;
  return options.mode == Mode::fused ? graph::fused_meaning(graph)
                                     : graph::fast_meaning(graph, options.relaxed);
}

int verify(const VerifyCommand& command) {
  Progress& progress = *command.device.context.progress;
  progress.say("read the model");
  const Model model = read_model(command.model);
  progress.say("make inputs");
  const std::vector<runtime::Argument> arguments = make_arguments(model, command.model);
  const CompileOptions options = compile_options(command.device, Mode::strict, model);
  const RunOptions run = run_options(command.device, command.model);
  // Before the run, which may write into them.
  const std::vector<evaluate::Argument> given = for_evaluator(arguments);
  const Device device = make_device(command.device);
  const Executable executable = make_executable(model, device, options, command.device.no_compile);
  const auto moved = on_device(arguments, device);
  const auto variant = executable.variant(moved);
  progress.say("run");
  const std::vector<Output> outputs = on_host(executable.run(moved, run), device);
  print_warning(device.backend().warning());

  progress.say("evaluate the graph");
  const graph::Graph meant = meaning(model.graph, options);
  const auto expected = evaluate::evaluate(meant, given, evaluate::Arithmetic::strict, run_numbers(run));

  const std::vector<Tolerance> tolerances = tolerances_of(relaxed_errors(*variant, given, run_numbers(run)));
  bool good = true;
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    const auto wanted = expected[r] ? std::optional(tensor_of(*expected[r])) : std::nullopt;
    good = print_output(std::cout, output_name(model.graph, r), outputs[r], wanted, tolerances[r]) && good;
  }
  const bool exact = std::ranges::all_of(tolerances, &Tolerance::exact);
  std::cout << (good ? "verified: " : "NOT verified: ") << command.device.device
            << " against the evaluator, mode " << pipeline::name(options.mode)
            << (exact ? ", bit for bit\n" : ", bit for bit but what is made of sums in free order\n");
  return good ? exits::done : exits::different;
}

}  // namespace

Command add_verify(CLI::App& app, const Context& context) {
  auto command = std::make_shared<VerifyCommand>();
  CLI::App* sub = app.add_subcommand("verify", "Run a model and compare every bit with the graph evaluator");
  add_model_options(*sub, command->model);
  add_device_options(*sub, command->device, context);
  add_tuning_options(*sub, command->device);
  sub->footer("Example: twinloom verify model.fx --size s27=1 --size s77=0 --isa avx2");
  return [sub, command] { return sub->parsed() ? verify(*command) : -1; };
}

}  // namespace twinloom::tool
