// The commands of the `twinloom` program. Each adds its subcommand to the parser and, when it was asked
// for, runs and returns the exit code, one of exit_codes.h.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "api/twinloom.h"
#include "tools/twinloom/command_line.h"
#include "tools/twinloom/exit_codes.h"
#include "tools/twinloom/model.h"
#include "tools/twinloom/progress.h"

namespace twinloom::tool {

using Command = std::function<int()>;

// What --device means: the name and what is asked of a CPU.
using FindDevice = std::function<Device(std::string_view name, const CpuOptions& options)>;

// What a command finds around it.
struct Context {
  FindDevice find_device;
  Progress* progress = nullptr;  // lives as long as the command
};

// The whole program, from the words of the command line to its exit code.
int run_program(std::span<const std::string> words, const FindDevice& find_device = &Device::named);

// Where and how a graph runs; shared by run, verify, bench and explain.
struct DeviceOptions {
  std::string device = "cpu";
  std::string isa;
  std::string mode;
  std::vector<std::string> relax;
  int threads = 0;
  bool no_cache = false;
  std::filesystem::path schedules;
  int tune = 0;
  bool no_compile = false;  // of a package: what it lacks is an Error
  Context context;
};
void add_model_options(CLI::App& app, ModelOptions& options);
// The same without the file.
void add_input_options(CLI::App& app, ModelOptions& options);
void add_device_options(CLI::App& app, DeviceOptions& options, const Context& context);
void add_mode_option(CLI::App& app, DeviceOptions& options);
void add_isa_option(CLI::App& app, DeviceOptions& options);
void add_relax_option(CLI::App& app, DeviceOptions& options);
// Where schedules are kept; and, of commands that run kernels, how many are measured.
void add_schedule_options(CLI::App& app, DeviceOptions& options);
void add_tuning_options(CLI::App& app, DeviceOptions& options);
Device make_device(const DeviceOptions& options);
// They say on the way which pass is done and which kernel is built.
CompileOptions compile_options(const DeviceOptions& options, Mode otherwise);
// Where no mode is asked for, that of a package is its own.
CompileOptions compile_options(const DeviceOptions& options, Mode otherwise, const Model& model);
// Compiled, or, of a package, loaded. Error where a package was exported in another mode. `no_compile`: see
// DeviceOptions.
Executable make_executable(const Model& model, const Device& device, const CompileOptions& options,
                           bool no_compile = false);
// Tensors where the device's kernels find them, and results where this process does.
std::vector<runtime::Argument> on_device(std::vector<runtime::Argument> arguments, const Device& device);
std::vector<Output> on_host(std::vector<Output> outputs, const Device& device);
// Says it on the error stream, unless it is empty. A device has its warnings after its work.
void print_warning(const std::string& warning);
// How many threads a kernel runs on at most; --threads 0 is one a core.
int thread_count(const DeviceOptions& options);
RunOptions run_options(const DeviceOptions& options, const ModelOptions& model);

// The name that an output has in archives and in messages.
std::string output_name(const graph::Graph& graph, std::size_t result);

Command add_run(CLI::App& app, const Context& context);
Command add_verify(CLI::App& app, const Context& context);
Command add_bench(CLI::App& app, const Context& context);
Command add_explain(CLI::App& app, const Context& context);
Command add_dump(CLI::App& app, const Context& context);
Command add_conformance(CLI::App& app, const Context& context);
Command add_export(CLI::App& app, const Context& context);
Command add_cache(CLI::App& app, const Context& context);
Command add_calibrate(CLI::App& app, const Context& context);
Command add_devices(CLI::App& app);
Command add_ops(CLI::App& app);
Command add_completion(CLI::App& app);
Command add_man(CLI::App& app);

}  // namespace twinloom::tool
