// twinloom cache: what is kept on disk of compiled kernels and planned graphs, and why a kernel is not found
// there.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iostream>

#include "api/calibrations.h"
#include "api/estimates.h"
#include "backends/cpu/cpu.h"
#include "backends/cpu/translate.h"
#include "core/base/error.h"
#include "core/object_cache/object_cache.h"
#include "tools/twinloom/commands.h"
#include "tools/twinloom/inputs.h"
#include "tools/twinloom/report.h"

namespace twinloom::tool {

namespace {

using object_cache::ObjectCache;

ObjectCache open_cache() { return ObjectCache(object_cache::options_from_environment()); }

std::string place_words(const ObjectCache& cache) {
  const std::string folder = cache.folder();
  return folder.empty() ? "no folder: the cache is off" : escaped(folder);
}

std::string age_words(std::int64_t seconds) {
  if (seconds < 60) return cat(std::max<std::int64_t>(seconds, 0), " s");
  if (seconds < 60 * 60) return cat(seconds / 60, " min");
  if (seconds < 24 * 60 * 60) return cat(seconds / (60 * 60), " h");
  return cat(seconds / (24 * 60 * 60), " days");
}

int list() {
  const ObjectCache cache = open_cache();
  const std::vector<object_cache::Entry> entries = cache.entries();
  std::size_t width = 6, graphs = 0;
  std::int64_t bytes = 0;
  for (const auto& entry : entries) {
    width = std::max(width, escaped(subject_of(entry.key)).size());
    graphs += text_of(entry.key, object_cache::kernel_field).empty();
    bytes += entry.file_bytes;
  }
  if (!entries.empty())
    std::cout << fmt::format("{:<{}}  {:<12}  {:>9}  {:>8}\n", "kernel", width, "target", "bytes", "age");
  for (const auto& entry : entries)
    std::cout << fmt::format("{:<{}}  {:<12}  {:>9}  {:>8}\n", escaped(subject_of(entry.key)), width,
                             escaped(text_of(entry.key, object_cache::target_field)), entry.file_bytes,
                             age_words(std::time(nullptr) - entry.stored_seconds));
  std::cout << entries.size() - graphs << " kernels and " << graphs << " graphs, " << bytes_words(bytes)
            << " in " << place_words(cache) << '\n';
  print_warning(cache.warning());
  return 0;
}

int clear() {
  const ObjectCache cache = open_cache();
  const object_cache::Cleared cleared = cache.clear();
  std::cout << cleared.entries << " kernels and graphs, " << bytes_words(cleared.bytes) << " removed from "
            << place_words(cache) << '\n';
  print_warning(cache.warning());
  return 0;
}

struct WhyMissCommand {
  ModelOptions model;
  DeviceOptions device;
};

int why_miss(const WhyMissCommand& command) {
  if (command.device.device != "cpu")
    throw Error(cat("kernels are kept for the device cpu, not for '", escaped(command.device.device), "'"));
  const Model model = read_model(command.model);
  const auto arguments = describe_arguments(model, command.model);
  const Executable executable =
      pipeline::compile(model.graph, cpu::make_planner(command.device.isa, kept_calibration),
                        compile_options(command.device, Mode::fused));
  const auto variant = executable.variant(arguments);
  const cpu::Translator translator(cpu::choose_isa(command.device.isa, /*compile_only=*/true));
  const ObjectCache cache = open_cache();
  const auto entries = cache.entries();
  std::size_t hits = 0;
  for (const runtime::Step& step : variant->steps) {
    const std::string words = object_cache::why_miss(translator.text(step.program).key, entries);
    std::cout << step.program.name << ": " << (words.empty() ? "hit" : cat("miss: ", words)) << '\n';
    hits += words.empty();
  }
  std::cout << hits << " of " << variant->steps.size() << " kernels are kept in " << place_words(cache)
            << '\n';
  print_warning(cache.warning());
  return 0;
}

}  // namespace

Command add_cache(CLI::App& app, const Context& context) {
  CLI::App* cache = app.add_subcommand(
      "cache", "Show or clear the compiled kernels and planned graphs that are kept on disk");
  cache->require_subcommand(1);
  cache->footer(
      "They are in TWINLOOM_CACHE_DIR, else XDG_CACHE_HOME/twinloom, else HOME/.cache/twinloom, at most "
      "TWINLOOM_CACHE_BYTES.");
  CLI::App* lister = cache->add_subcommand("list", "Each with its target, its bytes and its age");
  CLI::App* clearer = cache->add_subcommand("clear", "Remove all of them");
  CLI::App* asker = cache->add_subcommand(
      "why-miss", "Say for each kernel of a model whether it is found, or how the nearest one differs");
  auto command = std::make_shared<WhyMissCommand>();
  add_model_options(*asker, command->model);
  add_device_options(*asker, command->device, context);
  asker->footer("Example: twinloom cache why-miss model.fx --isa avx2 --mode strict");
  return [=] {
    if (lister->parsed()) return list();
    if (clearer->parsed()) return clear();
    return asker->parsed() ? why_miss(*command) : -1;
  };
}

}  // namespace twinloom::tool
