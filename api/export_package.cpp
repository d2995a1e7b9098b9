// See package.h.
#include <algorithm>
#include <array>

#include "api/asked.h"
#include "api/calibrations.h"
#include "api/package.h"
#include "backends/cpu/cpu.h"
#include "core/base/error.h"
#include "core/graph/donate.h"
#include "core/package/package.h"
#include "core/runtime/arguments.h"
#ifdef TWINLOOM_HAS_CUDA
#include "backends/cuda/cuda.h"
#endif

namespace twinloom {

namespace {

using package::Entry;
using Exporter = std::shared_ptr<const runtime::Backend>;

Exporter gpu_exporter() {
#ifdef TWINLOOM_HAS_CUDA
  return cuda::make_exporter(cuda::HOPPER);
#else
  throw Error(missing_gpus().front());
#endif
}

Exporter exporter_for(const std::string& target) {
  constexpr std::array<std::string_view, 3> known = {"avx2", "avx512", "sm_90"};
  if (target == known[2]) return gpu_exporter();
  if (std::ranges::find(known, target) == known.end()) {
    const std::string near = nearest_name(target, known);
    throw Error(cat("there is no target '", escaped(target), "'; targets are avx2, avx512 and sm_90",
                    near.empty() ? "" : cat("; did you mean '", near, "'?")));
  }
  cpu::CpuOptions settings;
  settings.isa = target;
  settings.calibrations = kept_calibration;
  return cpu::make_exporter(settings);
}

std::vector<Entry> entries_for(const Graph& graph, const Exporter& exporter, const std::vector<Asked>& all,
                               const CompileOptions& options) {
  std::vector<Entry> entries;
  const auto add = [&](const lower::Layouts& layouts, const index::Values& sizes) {
    entries.push_back({exporter->targets().front(), layouts,
                       pipeline::make_variant(graph, layouts, *exporter, options, nullptr, sizes)});
  };
  for (const Asked& asked : all)
    if (!asked.class_of.empty()) add(asked.layouts, asked.class_of);
  for (const Asked& asked : all) {
    const bool made = std::ranges::any_of(entries, [&](const Entry& entry) {
      return entry.variant->sizes.questions.empty() &&
             runtime::key_of(entry.layouts) == runtime::key_of(asked.layouts);
    });
    if (!made) add(asked.layouts, {});
  }
  return entries;
}

}  // namespace

void export_package(const Graph& graph, const std::filesystem::path& file, const ExportOptions& options) {
  std::vector<Asked> all;
  for (const std::vector<Argument>& example : options.examples)
    all.push_back(asked_by(graph, example, options.of_class));
  if (all.empty()) all.emplace_back();
  std::vector<std::string> targets = options.targets;
  if (targets.empty()) targets.push_back(cpu::supported_isas().back());
  const Graph donating = graph::donate(graph, options.compile.donated);
  package::Contents contents{donating, std::string(pipeline::name(options.compile.mode)), {}, {}};
  for (const Relaxation each : graph::all_relaxations())
    if (options.compile.relaxes(each)) contents.relaxed.emplace_back(name(each));
  for (const std::string& target : targets) {
    if (std::ranges::count(targets, target) != 1) throw Error(cat("the target ", target, " is given twice"));
    for (Entry& entry : entries_for(donating, exporter_for(target), all, options.compile))
      contents.entries.push_back(std::move(entry));
  }
  package::write_package(file, contents);
}

}  // namespace twinloom
