// twinloom bench: how long the kernels of models take, and what they move. One model after the other is
// measured (bench_measure.h), and said at once (bench_report.h). See api/traffic.h for the bytes.
#include <algorithm>
#include <fstream>
#include <iostream>

#include "core/base/error.h"
#include "tools/twinloom/bench_models.h"
#include "tools/twinloom/bench_report.h"
#include "tools/twinloom/commands.h"

namespace twinloom::tool {

namespace {

struct BenchCommand {
  std::vector<std::filesystem::path> files;
  ModelOptions model;  // of each file
  DeviceOptions device;
  double seconds = 1;
  std::filesystem::path json;
  bool several() const { return files.size() > 1; }
};

// The other models are measured whatever becomes of this one.
BenchedModel benched(const ModelOptions& model, const BenchSetting& setting) {
  try {
    return {model.file, measure_model(model, setting)};
  } catch (const std::exception& error) {
    return {model.file, failure_of(error)};
  }
}

void print_model(const BenchReport& report, const BenchedModel& model, bool several) {
  const std::string name = escaped(model.file.string());
  if (const auto* failure = std::get_if<Failure>(&model.outcome)) {
    print_failure(several ? Failure{failure->code, cat(name, ": ", failure->words)} : *failure);
    return;
  }
  if (several) std::cout << name << '\n';
  print_table(std::cout, report, std::get<Benched>(model.outcome));
  std::cout << (several ? "\n" : "") << std::flush;
}

void write_json(const BenchReport& report, const BenchCommand& command) {
  if (command.json.empty()) return;
  std::ofstream stream(command.json);
  stream << json_text(report, command.several()) << '\n';
  if (!stream.flush()) throw Error(cat("cannot write '", escaped(command.json.string()), "'"));
}

// The highest exit code of the models.
int exit_code(const BenchReport& report) {
  int code = 0;
  for (const BenchedModel& model : report.models)
    if (const auto* failure = std::get_if<Failure>(&model.outcome)) code = std::max(code, failure->code);
  return code;
}

int bench(const BenchCommand& command) {
  const BenchSetting setting{make_device(command.device), compile_options(command.device, Mode::fused),
                             run_options(command.device, command.model), command.seconds,
                             command.device.context.progress};
  BenchReport report;
  report.device = command.device.device;
  report.mode = pipeline::name(setting.compiled.mode);
  report.threads = thread_count(command.device);
  for (const ModelOptions& model : options_of_each(command.files, command.model)) {
    report.models.push_back(benched(model, setting));
    const bool is_measured = std::holds_alternative<Benched>(report.models.back().outcome);
    if (is_measured && !report.copy) report.copy = measure_copy(setting);
    print_model(report, report.models.back(), command.several());
    write_json(report, command);  // a bench that is ended early has left what was measured
  }
  if (report.copy) print_copy(std::cout, *report.copy);
  print_warning(setting.device.backend().warning());
  return exit_code(report);
}

constexpr const char* notes =
    R"(Example: twinloom bench model.fx --threads 1 --json result.json
         twinloom bench models/*.fx --device cuda:0 --seconds 0.5 --json results.json
  ms       the median time; once: it follows from arrays of the graph alone, and no run starts it
  estimate how long the kernel should take by what it moves and computes, with the sizes and threads of the
           run; none of a kernel that calls a routine, none on --device reference
  limiter  what takes longest of the estimate: memory, L3 or L2 (bytes that cross from there), instructions
           (that the units execute), wavefronts (passes of a GPU's requests through its first cache), chain
           (what waits for one another), blocks (the starts of a GPU's blocks) or launch
  of limiter  the limiter's time / median time: over 100 % where the estimate is too long
  bytes    for every buffer that a kernel reads or writes, the elements covered, at most the whole buffer
  floor    the graph's inputs, as far as an output needs them, and its outputs
  touched  the bytes of the loads and stores that the kernel executes
  GB/s     bytes / median time; of copy: their share of the copy bandwidth, which is measured once, after the
           first model
  launches of each on a GPU: registers, spilled bytes, shared memory, blocks x threads a multiprocessor
  GFLOP/s  operators on elements, an exponential as its 13 instructions, and combinations of totals / median
           time
The time of a run and those of its kernels are medians of separate runs: in the former nothing is between
kernels. Times on a GPU are its own, by events, and those of a cold L2 cache: a buffer larger than it is
written before each run. On a CPU nothing is cleared.
Several models are measured one after the other. Each takes the --input and --size whose names it has; a name
that no model has is an error. A model that fails does not stop the others; the exit code is then that of its
error.
In the JSON, quartiles are those of the runs that a median is of, and runs how many they are; flops is operations a second, gbps 10^9 bytes a second and share_of_limiter a fraction; roofs
are all that an estimate comes from, each with its amount (bytes, instructions, passes, cycles or launches)
and its seconds; prepare_ms is the time from a graph to kernels that can be run, by the wall clock, compile_ms
the sum over its kernels. Several models are a list "models", each with its "file"; one that failed has its
"error" and no numbers.)";

}  // namespace

Command add_bench(CLI::App& app, const Context& context) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App* sub = app.add_subcommand("bench", "Time the kernels of models");
  sub->add_option("models", command->files,
                  "Texts that PyTorch prints for FX graphs, or that a failing random graph prints")
      ->type_name(takes::file)
      ->required();
  add_input_options(*sub, command->model);
  // What follows their one value is a model.
  for (const char* option : {"--input", "--size"}) sub->get_option(option)->allow_extra_args(false);
  add_device_options(*sub, command->device, context);
  add_tuning_options(*sub, command->device);
  sub->add_option(
         "--seconds", command->seconds,
         "How long each model is measured, half of it for runs and half for kernels; at least 5 runs "
         "of both are")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--json", command->json, "Also write the numbers to this file")->type_name(takes::file);
  sub->footer(notes);
  return [sub, command] { return sub->parsed() ? bench(*command) : -1; };
}

}  // namespace twinloom::tool
