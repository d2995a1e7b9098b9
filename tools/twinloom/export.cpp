// twinloom export: compiles a model ahead of time, or writes what its graph says.
#include <iostream>

#include "api/package.h"
#include "api/sources.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "frontends/onnx/write.h"
#include "tools/twinloom/commands.h"
#include "tools/twinloom/inputs.h"

namespace twinloom::tool {

namespace {

struct ExportCommand {
  ModelOptions model;
  DeviceOptions device;
  std::filesystem::path package, cpp, cuda, onnx;
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

using Export = std::string(const Graph&, const std::filesystem::path&, const std::vector<Argument>&,
                           const SourceOptions&);

void write_sources(const Model& model, const ExportCommand& command, const std::filesystem::path& folder,
                   Export write) {
  SourceOptions options;
  options.compile = compile_options(command.device, Mode::fused);
  if (!command.isas.empty()) options.isa = command.isas.front();
  options.name = command.model.file.stem().string();
  options.seed = command.model.seed;
  options.of_class = has_sizes(command);
  options.overwrite = command.force;
  const std::string name = write(model.graph, folder, make_arguments(model, command.model), options);
  std::cout << folder.string() << ": " << name << "() in " << name << ".h; cmake -B "
            << (folder / "build").string() << " -S " << folder.string() << '\n';
}

// What a package may name several of, and sources none or one.
void check_targets(const ExportCommand& command) {
  if (!command.cpp.empty() && command.isas.size() > 1)
    throw Error("--cpp writes kernels for one instruction set; --isa names several");
  if (!command.cpp.empty() && !command.architectures.empty() && command.package.empty() &&
      command.cuda.empty())
    throw Error("--cpp writes kernels for processors; --sm names a GPU, as --cuda and --package take it");
  if (!command.cuda.empty() && command.package.empty() && command.cpp.empty() && !command.isas.empty())
    throw Error("--cuda writes kernels for GPUs; --isa names a processor's instruction set");
  if (command.cuda.empty()) return;
  for (const std::string& architecture : command.architectures)
    if (gpu_target(architecture) != "sm_90")
      throw Error(cat("--cuda writes kernels for sm_90; --sm names ", gpu_target(architecture)));
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

void write_onnx(const Model& model, const std::filesystem::path& path) {
  const std::string bytes = onnx::write(model.graph);
  try {
    write_whole(path, bytes);
  } catch (const Error& error) {
    throw Error(cat("'", escaped(path.string()), "' cannot be written; ", error.what()));
  }
  std::cout << path.string() << ": " << bytes.size() << " bytes\n";
}

int run_export(const ExportCommand& command) {
  if (command.package.empty() && command.cpp.empty() && command.cuda.empty() && command.onnx.empty())
    throw Error(
        "export writes a package, sources or a model; expected --package FILE, --cpp FOLDER, --cuda FOLDER "
        "or "
        "--onnx FILE");
  check_targets(command);
  const Model model = read_model(command.model);
  if (model.package) throw Error(cat("'", escaped(command.model.file.string()), "' is a package already"));
  if (!command.package.empty()) write_package(model, command);
  if (!command.cpp.empty()) write_sources(model, command, command.cpp, export_cpp);
  if (!command.cuda.empty()) write_sources(model, command, command.cuda, export_cuda);
  if (!command.onnx.empty()) write_onnx(model, command.onnx);
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
  sub->add_option("--cuda", command->cuda,
                  "Write CUDA C++ to this folder, which nvcc builds without Twinloom: the same for GPUs")
      ->type_name(takes::folder);
  sub->add_option("--onnx", command->onnx, "Write what the graph computes to this file, as an ONNX model")
      ->type_name(takes::file);
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
