// See subjects.h.
#include "tests/goldens/subjects.h"

#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/base/text.h"
#include "frontends/fx/read.h"
#include "perf/cases.h"
#include "perf/gpu_cases.h"
#include "perf/gpu_inputs.h"
#include "perf/speed_cases.h"
#include "perf/ways_cases.h"
#include "tools/twinloom/inputs.h"

namespace twinloom::tests {

namespace {

Subject subject_of(std::string name, graph::Graph graph) {
  tool::Model model{std::move(graph), {}, {}};
  std::vector<runtime::Argument> arguments = tool::describe_arguments(model, {});
  return {std::move(name), std::move(model.graph), std::move(arguments)};
}

graph::Graph built(const std::string& name, void (*build)(graph::Builder&)) {
  graph::Builder builder(name);
  build(builder);
  return builder.take();
}

Subject gpu_subject(std::string_view table, const perf::GpuCase& given) {
  Subject subject = subject_of(cat(table, "/", given.name), built(given.name, given.build));
  if (!given.channels_last) return subject;
  for (runtime::Argument& argument : subject.arguments) {
    auto* tensor = std::get_if<runtime::Tensor>(&argument);
    if (tensor != nullptr && tensor->sizes.size() == 4)
      tensor->strides = perf::channels_last_strides(tensor->sizes);
  }
  return subject;
}

void add_cases(std::vector<Subject>& all, bool on_a_gpu) {
  for (perf::Case& given : perf::kernel_cases())
    all.push_back(subject_of(cat("case/", given.name), std::move(given.graph)));
  if (on_a_gpu) {
    for (const perf::GpuCase& given : perf::gpu_cases()) all.push_back(gpu_subject("gpu", given));
    for (const perf::GpuCase& given : perf::gpu_indexed_cases()) all.push_back(gpu_subject("indexed", given));
    return;
  }
  for (const perf::SpeedCase& given : perf::speed_cases())
    all.push_back(subject_of(cat("speed/", given.name), built(given.name, given.build)));
}

// The sizes are those of perf/ways.cpp.
void add_ways(std::vector<Subject>& all, bool on_a_gpu) {
  const perf::MatrixSizes sizes = on_a_gpu ? perf::MatrixSizes{16384, 4096} : perf::MatrixSizes{64, 1024};
  for (const perf::Way& way : perf::all_ways())
    all.push_back(subject_of(cat("way/", way.family, "/", way.name), fx::read(perf::text_of(way, sizes))));
}

// The first words of the lines of graphs.txt, with their real inputs.
void add_graphs(std::vector<Subject>& all) {
  const std::filesystem::path folder = TWINLOOM_GRAPHS_FOLDER;
  std::ifstream list(folder / "graphs.txt");
  if (!list) throw Error(cat((folder / "graphs.txt").string(), " cannot be read"));
  for (std::string line; std::getline(list, line);) {
    const std::string name = line.substr(0, line.find(' '));
    if (name.empty() || name.starts_with('#')) continue;
    tool::ModelOptions options;
    options.file = folder / "printed" / (name + ".fx");
    options.inputs = folder / "printed" / (name + ".npz");
    tool::Model model = tool::read_model(options);
    std::vector<runtime::Argument> arguments = tool::describe_arguments(model, options);
    all.push_back({cat("graph/", name), std::move(model.graph), std::move(arguments)});
  }
}

}  // namespace

std::vector<Subject> subjects(bool on_a_gpu) {
  std::vector<Subject> all;
  add_cases(all, on_a_gpu);
  add_ways(all, on_a_gpu);
  add_graphs(all);
  return all;
}

}  // namespace twinloom::tests
