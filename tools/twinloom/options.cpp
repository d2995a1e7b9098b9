// Options that several commands share. See commands.h.
#include <algorithm>
#include <iostream>
#include <thread>

#include "api/compile.h"
#include "api/package.h"
#include "core/base/error.h"
#include "tools/twinloom/commands.h"

namespace twinloom::tool {

namespace {

std::vector<std::string> relaxation_names() {
  std::vector<std::string> names;
  for (const graph::Relaxation each : graph::all_relaxations()) names.emplace_back(name(each));
  return names;
}

std::string words_of(const pipeline::Progress& done) {
  if (done.kernel.empty()) return cat("pass ", done.pass);
  return cat("kernel ", done.built, " of ", done.total, ": ", done.kernel);
}

void set_relaxed(CompileOptions& result, const DeviceOptions& options) {
  if (!options.mode.empty() && result.mode != Mode::fast)
    throw Error(cat("--relax is for mode fast, the mode is ", options.mode));
  result.mode = Mode::fast;
  result.relaxed = {};
  for (const std::string& given : options.relax) result.relaxed.add(graph::relaxation_named(given));
}

}  // namespace

void add_model_options(CLI::App& app, ModelOptions& options) {
  app.add_option("model", options.file,
                 "The text that PyTorch prints for an FX graph, or that a failing random graph prints, an "
                 "ONNX model, or a "
                 "package")
      ->required()
      ->type_name(takes::file);
  add_input_options(app, options);
}

void add_input_options(CLI::App& app, ModelOptions& options) {
  app.add_option("--graph", options.graph, "Which graph of a file with several, from 0")
      ->capture_default_str();
  app.add_option("--inputs", options.inputs,
                 "An .npz with in0, in1, ... or arrays by parameter name, or a folder of input_K.pb")
      ->type_name(takes::file);
  app.add_option("--input", options.input,
                 "One parameter, by name or as inK: a file F.npy or F.pb, or normal, uniform, zeros, ones, a "
                 "number or "
                 "LOW..HIGH")
      ->type_name("NAME=VALUE");
  app.add_option("--size", options.sizes, "A symbolic size; left out, the given arrays tell, else it is 16")
      ->type_name("SYMBOL=N");
  app.add_option(
         "--donate", options.donated,
         "A parameter whose contents are no longer needed after the run: a result may take its memory")
      ->type_name("NAME");
  app.add_option("--seed", options.seed, "Of inputs that are drawn, and of random operators")
      ->capture_default_str();
}

void add_relax_option(CLI::App& app, DeviceOptions& options) {
  app.add_option("--relax", options.relax,
                 "What mode fast relaxes, with commas between; left out, all; given, the mode is fast")
      ->type_name(takes::one_of(relaxation_names()))
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_mode_option(CLI::App& app, DeviceOptions& options) {
  app.add_option("--mode", options.mode, "What may be relied on about the bits of results")
      ->type_name("strict|fused|fast");
}

void add_isa_option(CLI::App& app, DeviceOptions& options) {
  app.add_option("--isa", options.isa, "Of a CPU; left out, the best of this processor")
      ->type_name("avx2|avx512");
}

void add_device_options(CLI::App& app, DeviceOptions& options, const Context& context) {
  options.context = context;
  app.add_option("--device", options.device, "Where kernels run; h200 only plans")
      ->type_name("cpu|reference|cuda|cuda:N|h200")
      ->capture_default_str();
  add_isa_option(app, options);
  add_mode_option(app, options);
  add_relax_option(app, options);
  app.add_option("--threads", options.threads, "Threads of a kernel; 0: one a core")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--no-compile", options.no_compile,
               "Of a package: what it lacks for the device is an error, and is not compiled");
  app.add_flag("--no-cache", options.no_cache,
               "Compile every kernel; neither read nor write kept machine code");
}

void add_schedule_options(CLI::App& app, DeviceOptions& options) {
  app.add_option("--schedules", options.schedules,
                 "A folder of schedule files: a kernel that has one, for this machine and these threads, is "
                 "scheduled as it says")
      ->type_name(takes::folder);
}

void add_tuning_options(CLI::App& app, DeviceOptions& options) {
  add_schedule_options(app, options);
  app.add_option(
         "--tune", options.tune,
         "Measure so many other schedules of each kernel, those with the least estimates, and use the "
         "fastest; with --schedules it is kept there")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
}

Device make_device(const DeviceOptions& options) {
  return options.context.find_device(options.device, {.isa = options.isa, .cache = !options.no_cache});
}

std::vector<runtime::Argument> on_device(std::vector<runtime::Argument> arguments, const Device& device) {
  for (runtime::Argument& argument : arguments)
    if (auto* tensor = std::get_if<Tensor>(&argument)) *tensor = device.upload(*tensor);
  return arguments;
}

std::vector<Output> on_host(std::vector<Output> outputs, const Device& device) {
  for (Output& output : outputs)
    if (auto* tensor = std::get_if<Tensor>(&output)) *tensor = device.download(*tensor);
  return outputs;
}

void print_warning(const std::string& warning) {
  if (!warning.empty()) std::cerr << "warning: " << warning << '\n';
}

CompileOptions compile_options(const DeviceOptions& options, Mode otherwise) {
  CompileOptions result;
  result.mode = otherwise;
  result.tuning = {options.tune, options.schedules, options.threads,
                   [](const pipeline::Tuning::Tuned& tuned) {
                     std::cerr << "tuned " << tuned.kernel << ": " << microseconds(tuned.usual_seconds)
                               << " -> " << microseconds(tuned.seconds) << '\n';
                   }};
  result.progress = [progress = options.context.progress](const pipeline::Progress& done) {
    progress->say(words_of(done));
  };
  if (!options.mode.empty()) {
    const auto mode = pipeline::mode_named(options.mode);
    if (!mode) throw Error(cat("--mode must be strict, fused or fast, it is '", escaped(options.mode), "'"));
    result.mode = *mode;
  }
  if (!options.relax.empty()) set_relaxed(result, options);
  return result;
}

CompileOptions compile_options(const DeviceOptions& options, Mode otherwise, const Model& model) {
  CompileOptions result = compile_options(options, otherwise);
  if (!model.package || !options.mode.empty() || !options.relax.empty()) return result;
  const CompileOptions packaged = compile_options_of(*model.package);
  result.mode = packaged.mode;
  result.relaxed = packaged.relaxed;
  return result;
}

Executable make_executable(const Model& model, const Device& device, const CompileOptions& options,
                           bool no_compile) {
  if (!model.package) return compile(model.graph, device, options);
  const CompileOptions packaged = compile_options_of(*model.package);
  const bool is_same =
      options.mode == packaged.mode && (options.mode != Mode::fast || options.relaxed == packaged.relaxed);
  if (!is_same)
    throw Error(cat("the package was exported in mode ", pipeline::name(packaged.mode),
                    "; the mode asked for is ", pipeline::name(options.mode),
                    options.mode == packaged.mode ? " with other relaxations" : ""));
  return model.package->executable(device.share(),
                                   no_compile ? Executable::Maker() : maker_for(device, options));
}

int thread_count(const DeviceOptions& options) {
  return options.threads != 0 ? options.threads
                              : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

RunOptions run_options(const DeviceOptions& options, const ModelOptions& model) {
  RunOptions result;
  result.settings.threads = options.threads;
  result.seed = model.seed;
  return result;
}

std::string output_name(const graph::Graph& graph, std::size_t result) {
  const std::string& name = graph.results()[result].name;
  return name.empty() ? cat("out", result) : name;
}

}  // namespace twinloom::tool
