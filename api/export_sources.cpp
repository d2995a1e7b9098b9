// See sources.h.
#include <algorithm>

#include "api/asked.h"
#include "api/calibrations.h"
#include "api/sources.h"
#include "backends/cpu/cpu.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/source_text.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/sources/sources.h"

namespace twinloom {

namespace {

using sources::File;
using sources::Project;

// An empty folder, which is made where it is missing.
void check_folder(const std::filesystem::path& folder, bool overwrite) {
  std::error_code error;
  const std::string name = cat("'", escaped(folder.string()), "'");
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error))
    throw Error(cat(name, " is no folder"));
  const bool is_empty = !std::filesystem::exists(folder, error) || std::filesystem::is_empty(folder, error);
  if (!is_empty && !overwrite)
    throw Error(cat("the folder ", name, " is not empty; files in it are overwritten with --force"));
}

void write_file(const std::filesystem::path& folder, const File& file) {
  const std::filesystem::path path = folder / file.path;
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    throw Error(
        cat("the folder '", escaped(path.parent_path().string()), "' cannot be made: ", error.message()));
  write_whole(path, file.bytes);
}

// What the test expects: a run here, by an instruction set that this processor has.
std::vector<Output> expected_outputs(const Graph& graph, const std::vector<Argument>& example,
                                     const std::string& isa, const SourceOptions& options,
                                     const RunOptions& run) {
  const std::vector<std::string> here = cpu::supported_isas();
  CpuOptions device;
  if (std::ranges::find(here, isa) != here.end()) device.isa = isa;
  return compile(graph, Device::cpu(device), options.compile).run(example, run);
}

std::vector<File> kernel_files(Project& project) {
  std::vector<File> files;
  const std::vector<runtime::Step>& steps = project.variant.steps;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const loops::Program& program = steps[s].program;
    std::string function = cat(project.name, "_", program.name);
    if (std::ranges::find(project.kernels, function, &sources::Kernel::function) != project.kernels.end())
      function += cat("_", s);
    project.kernels.push_back({function, cpu::task_count(program)});
    const std::string comment =
        cat("Kernel ", s, " of ", project.name, "(), and the loops that it walks:\n", loops::print(program));
    files.push_back({cat("kernels/", function, ".cpp"), cpu::source_text(program, function, comment)});
  }
  return files;
}

}  // namespace

std::string export_cpp(const Graph& graph, const std::filesystem::path& folder,
                       const std::vector<Argument>& example, const SourceOptions& options) {
  check_folder(folder, options.overwrite);
  const std::string isa = options.isa.empty() ? cpu::supported_isas().back() : options.isa;
  const auto planner = cpu::make_planner(isa, kept_calibration);
  const Asked asked = asked_by(graph, example, options.of_class);
  const auto variant =
      pipeline::make_variant(graph, asked.layouts, *planner, options.compile, nullptr, asked.class_of);
  Project project{sources::identifier(options.name.empty() ? graph.name : options.name),
                  graph,
                  *variant,
                  {},
                  cat("processors with ", isa),
                  cpu::compiler_flags(isa),
                  std::string(pipeline::name(options.compile.mode))};
  std::vector<File> files = kernel_files(project);
  RunOptions run;
  run.seed = options.seed;
  run.offset = options.offset;
  const std::vector<Output> outputs = expected_outputs(graph, example, isa, options, run);
  const auto add = [&](std::vector<File> more) { std::ranges::move(more, std::back_inserter(files)); };
  add(sources::function_files(project));
  add(sources::test_files(project, {example, outputs, asked.sizes, run}));
  add(sources::build_files(project));
  for (const jit::VirtualFile& header : cpu::source_headers())
    files.push_back({cat("include/", header.path), std::string(header.text)});
  for (const File& file : files) write_file(folder, file);
  return project.name;
}

}  // namespace twinloom
