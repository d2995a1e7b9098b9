// Compiling by the C API. See handles.h.
#include <algorithm>

#include "api/bench.h"
#include "api/c/arguments.h"
#include "api/c/handles.h"
#include "api/c/run_options.h"
#include "api/explain.h"
#include "api/package.h"
#include "api/sources.h"

namespace {

using twinloom::cat;
using twinloom::Error;
using twinloom::c::arguments_of;
using twinloom::c::checked;
using twinloom::c::guarded;

twinloom::Mode mode_of(std::int32_t mode) {
  switch (mode) {
    case TWINLOOM_FUSED:
      return twinloom::Mode::fused;
    case TWINLOOM_STRICT:
      return twinloom::Mode::strict;
    case TWINLOOM_FAST:
      return twinloom::Mode::fast;
  }
  throw Error(cat("twinloom_compile_options.mode is ", mode,
                  "; expected TWINLOOM_FUSED (0), TWINLOOM_STRICT (1) or TWINLOOM_FAST (2)"));
}

// Names with commas between them; none of an empty text.
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    names.emplace_back(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(text.size(), names.back().size() + 1));
  }
  return names;
}

twinloom::Relaxations relaxations_of(std::string_view names) {
  twinloom::Relaxations relaxed;
  for (const std::string& name : names_in(names)) relaxed.add(twinloom::graph::relaxation_named(name));
  return relaxed;
}

twinloom::CompileOptions compile_options(const twinloom_compile_options* given) {
  const twinloom_compile_options options = twinloom::c::known(given, "twinloom_compile_options");
  twinloom::CompileOptions result;
  result.mode = mode_of(options.mode);
  if (options.relaxations != nullptr) {
    if (result.mode != twinloom::Mode::fast)
      throw Error(
          "twinloom_compile_options.relaxations are of mode TWINLOOM_FAST; another mode was asked for");
    result.relaxed = relaxations_of(options.relaxations);
  }
  result.build_threads = options.build_threads;
  result.tuning.tries = options.tuning_tries;
  if (options.schedules != nullptr) result.tuning.folder = options.schedules;
  result.row_major_results = options.row_major_results != 0;
  if (options.donated != nullptr) result.donated = names_in(options.donated);
  if (options.progress != nullptr) {
    result.progress = [say = options.progress,
                       context = options.progress_context](const twinloom::pipeline::Progress& progress) {
      const std::string pass(progress.pass), kernel(progress.kernel);
      say(context, pass.c_str(), kernel.empty() ? nullptr : kernel.c_str(),
          static_cast<std::int64_t>(progress.built), static_cast<std::int64_t>(progress.total));
    };
  }
  return result;
}

}  // namespace

twinloom_error* twinloom_compile(const twinloom_graph* graph, const twinloom_device* device,
                                 const twinloom_compile_options* options, twinloom_executable** executable) {
  return guarded([&] {
    checked(executable, "executable");
    const twinloom::Graph& given = checked(graph, "graph").graph;
    const twinloom::Device& where = checked(device, "device").device;
    const twinloom::CompileOptions known = compile_options(options);
    *executable = new twinloom_executable{twinloom::compile(given, where, known), where, known};
  });
}

twinloom_error* twinloom_explain(const twinloom_executable* executable, const twinloom_value* arguments,
                                 size_t argument_count, int32_t threads, char** json) {
  return guarded([&] {
    checked(json, "json");
    const twinloom_executable& asked = checked(executable, "executable");
    twinloom::RunOptions run;
    run.settings.threads = threads;
    const auto explanation = twinloom::explain(
        asked.executable, arguments_of(arguments, argument_count, false), asked.device, asked.options, run);
    *json = twinloom::c::copied(twinloom::json_of(explanation));
  });
}

twinloom_error* twinloom_bench(const twinloom_executable* executable, const twinloom_value* arguments,
                               size_t argument_count, const twinloom_bench_options* options, char** json) {
  return guarded([&] {
    checked(json, "json");
    const twinloom_executable& asked = checked(executable, "executable");
    const twinloom_bench_options known = twinloom::c::known(options, "twinloom_bench_options");
    if (!(known.seconds >= 0))
      throw Error(cat("twinloom_bench_options.seconds is ", known.seconds, "; expected 0 or more"));
    twinloom::c::Settings settings;
    twinloom::c::set_settings(settings, known.run);
    const twinloom::Benched benched =
        twinloom::bench(asked.executable, arguments_of(arguments, argument_count, true), asked.device,
                        {.run = settings.options, .seconds = known.seconds});
    *json = twinloom::c::copied(twinloom::json_of(benched));
  });
}

twinloom_error* twinloom_dump(const twinloom_executable* executable, const twinloom_value* arguments,
                              size_t argument_count, char** json) {
  return guarded([&] {
    checked(json, "json");
    const twinloom_executable& asked = checked(executable, "executable");
    const auto texts =
        twinloom::dump(asked.executable.graph(), arguments_of(arguments, argument_count, false), asked.device,
                       asked.options);
    *json = twinloom::c::copied(twinloom::json_of(texts));
  });
}

twinloom_error* twinloom_export_package(const twinloom_graph* graph, const char* path,
                                        const twinloom_compile_options* options,
                                        const twinloom_export_options* how) {
  return guarded([&] {
    const twinloom_export_options known = twinloom::c::known(how, "twinloom_export_options");
    twinloom::ExportOptions asked;
    asked.compile = compile_options(options);
    if (known.targets != nullptr) asked.targets = names_in(known.targets);
    asked.of_class = known.of_class != 0;
    if (known.argument_count != 0)
      asked.examples.push_back(arguments_of(known.arguments, known.argument_count, false));
    twinloom::export_package(checked(graph, "graph").graph, &checked(path, "path"), asked);
  });
}

twinloom_error* twinloom_export_sources(const twinloom_graph* graph, const char* folder,
                                        const twinloom_value* arguments, size_t argument_count,
                                        const twinloom_compile_options* options,
                                        const twinloom_source_options* how) {
  return guarded([&] {
    const twinloom_source_options known = twinloom::c::known(how, "twinloom_source_options");
    twinloom::SourceOptions asked;
    asked.compile = compile_options(options);
    const std::string target = known.target == nullptr ? "" : known.target;
    if (target != "sm_90") asked.isa = target;
    if (known.name != nullptr) asked.name = known.name;
    asked.seed = known.seed;
    asked.offset = known.offset;
    asked.of_class = known.of_class != 0;
    asked.overwrite = known.overwrite != 0;
    const auto write = target == "sm_90" ? twinloom::export_cuda : twinloom::export_cpp;
    write(checked(graph, "graph").graph, &checked(folder, "folder"),
          arguments_of(arguments, argument_count, true), asked);
  });
}
