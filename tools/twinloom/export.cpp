// twinloom export: compiles a model ahead of time.
#include <iostream>

#include "api/package.h"
#include "api/sources.h"
#include "core/base/error.h"
#include "tools/twinloom/commands.h"
#include "tools/twinloom/inputs.h"

namespace twinloom::tool {

namespace {

struct ExportCommand {
  ModelOptions model;
  DeviceOptions device;
  std::filesystem::path package, cpp;
  bool force = false;
  std::vector<std::string> isas, architectures;
};

// "90" and "sm_90" are one.
std::string gpu_target(const std::string& architecture) {
  return architecture.starts_with("sm_") ? architecture : cat("sm_", architecture);
}

bool has_sizes(const ExportCommand& command) {
  return !command.model.sizes.empty() || !command.model.inputs.empty();
}

void write_cpp(const Model& model, const ExportCommand& command) {
  SourceOptions options;
  options.compile = compile_options(command.device, Mode::fused);
  if (command.isas.size() > 1)
    throw Error("--cpp writes kernels for one instruction set; --isa names several");
  if (!command.isas.empty()) options.isa = command.isas.front();
  if (!command.architectures.empty()) throw Error("--cpp writes kernels for processors; --sm names a GPU");
  options.name = command.model.file.stem().string();
  options.seed = command.model.seed;
  options.of_class = has_sizes(command);
  options.overwrite = command.force;
  const std::string name =
      export_cpp(model.graph, command.cpp, make_arguments(model, command.model), options);
  std::cout << command.cpp.string() << ": " << name << "() in " << name << ".h; cmake -B "
            << (command.cpp / "build").string() << " -S " << command.cpp.string() << '\n';
}

void write_package(const Model& model, const ExportCommand& command) {
  ExportOptions options;
  options.compile = compile_options(command.device, Mode::fused);
  options.targets = command.isas;
  for (const std::string& architecture : command.architectures)
    options.targets.push_back(gpu_target(architecture));
  options.examples = {describe_arguments(model, command.model)};
  options.of_class = has_sizes(command);
  export_package(model.graph, command.package, options);
  const package::Package written = package::Package::open(command.package);
  std::cout << command.package.string() << ": " << std::filesystem::file_size(command.package)
            << " bytes, mode " << written.mode() << ", for "
            << join(written.targets(), ", ", [](const std::string& target) { return target; }) << '\n';
}

int run_export(const ExportCommand& command) {
  if (command.package.empty() && command.cpp.empty())
    throw Error("export writes a package or sources; expected --package FILE or --cpp FOLDER");
  const Model model = read_model(command.model);
  if (model.package) throw Error(cat("'", escaped(command.model.file.string()), "' is a package already"));
  if (!command.package.empty()) write_package(model, command);
  if (!command.cpp.empty()) write_cpp(model, command);
  return 0;
}

}  // namespace

Command add_export(CLI::App& app, const Context& context) {
  auto command = std::make_shared<ExportCommand>();
  CLI::App* sub =
      app.add_subcommand("export", "Compile a model ahead of time, for machines that need not be here");
  add_model_options(*sub, command->model);
  sub->add_option("--package", command->package, "Write kernels, plan, guards and constants to this file")
      ->type_name(takes::file);
  sub->add_option("--cpp", command->cpp,
                  "Write C++ to this folder, which is built without Twinloom: a function, kernels, a test")
      ->type_name(takes::folder);
  sub->add_flag("--force", command->force, "Overwrite files of a folder that is not empty");
  sub->add_option(
         "--isa", command->isas,
         "Instruction sets to compile for, with commas between; left out, and without --sm, the best "
         "of this processor")
      ->type_name("avx2|avx512")
      ->delimiter(',')
      ->allow_extra_args(false);
  sub->add_option("--sm", command->architectures,
                  "Architectures of GPUs to compile for, which needs NVRTC and no GPU")
      ->type_name("90")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_mode_option(*sub, command->device);
  add_relax_option(*sub, command->device);
  command->device.context = context;
  sub->footer(
      "Example: twinloom export model.fx --package model.twinloom --isa avx2,avx512 --sm 90\n"
      "Arguments that a run hands in must have the strides that the text or the given arrays have. Kernels "
      "are for all\n"
      "sizes; with --size or --inputs there are others for sizes like these, which are faster.\n"
      "Then: twinloom run model.twinloom --no-compile");
  return [sub, command] { return sub->parsed() ? run_export(*command) : -1; };
}

}  // namespace twinloom::tool
