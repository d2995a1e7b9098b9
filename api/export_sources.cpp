// See sources.h.
#include <algorithm>

#include "api/asked.h"
#include "api/calibrations.h"
#include "api/sources.h"
#include "backends/cpu/cpu.h"
#include "backends/cpu/source_target.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/sources/sources.h"
#ifdef TWINLOOM_HAS_CUDA
#include "backends/cuda/cuda.h"
#include "backends/cuda/source_target.h"
#endif

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

// What sources are made by, and where the run takes place that their test repeats.
struct Maker {
  std::shared_ptr<const runtime::Backend> planner;
  std::unique_ptr<const sources::Target> target;
  Device device;
};

// By an instruction set that this processor has: all of them give the same bits.
Maker cpu_maker(const SourceOptions& options) {
  const std::vector<std::string> here = cpu::supported_isas();
  const std::string isa = options.isa.empty() ? here.back() : options.isa;
  CpuOptions device;
  if (std::ranges::find(here, isa) != here.end()) device.isa = isa;
  return {cpu::make_planner(isa, kept_calibration), cpu::make_source_target(isa), Device::cpu(device)};
}

// A CPU gives the bits of a GPU, but in mode fast.
Maker gpu_maker(const SourceOptions& options) {
#ifdef TWINLOOM_HAS_CUDA
  const bool same_bits = options.compile.mode != Mode::fast;
  return {cuda::make_planner(), cuda::make_source_target(cuda::HOPPER),
          same_bits ? Device::cpu() : Device::cuda()};
#else
  static_cast<void>(options);
  throw Error(missing_gpus().front());
#endif
}

std::string export_sources(const Graph& graph, const std::filesystem::path& folder,
                           const std::vector<Argument>& example, const SourceOptions& options,
                           const Maker& maker) {
  const Asked asked = asked_by(graph, example, options.of_class);
  CompileOptions each_run = options.compile;
  each_run.made_once = false;
  const auto variant =
      pipeline::make_variant(graph, asked.layouts, *maker.planner, each_run, nullptr, asked.class_of);
  const std::string name = sources::identifier(options.name.empty() ? graph.name : options.name);
  const Project project{name,
                        graph,
                        *variant,
                        *maker.target,
                        std::string(pipeline::name(options.compile.mode)),
                        sources::kernel_functions(name, *variant)};
  RunOptions run;
  run.seed = options.seed;
  run.offset = options.offset;
  const std::vector<Output> outputs = compile(graph, maker.device, options.compile).run(example, run);
  for (const auto& files :
       {sources::function_files(project), sources::test_files(project, {example, outputs, asked.sizes, run}),
        sources::build_files(project)})
    for (const File& file : files) write_file(folder, file);
  return name;
}

}  // namespace

std::string export_cpp(const Graph& graph, const std::filesystem::path& folder,
                       const std::vector<Argument>& example, const SourceOptions& options) {
  check_folder(folder, options.overwrite);
  return export_sources(graph, folder, example, options, cpu_maker(options));
}

std::string export_cuda(const Graph& graph, const std::filesystem::path& folder,
                        const std::vector<Argument>& example, const SourceOptions& options) {
  check_folder(folder, options.overwrite);
  return export_sources(graph, folder, example, options, gpu_maker(options));
}

}  // namespace twinloom
