// The same in C++, with the caller's threads, and an error that is thrown. Prints the first row.
#include <twinloom/twinloom.hpp>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

namespace {

bool writes_sources(const twinloom::Graph& graph, const std::vector<twinloom::Value>& arguments,
                    const std::filesystem::path& folder) {
  twinloom::SourceOptions how;
  how.name = "rows";
  how.overwrite = true;
  twinloom::export_sources(graph, folder.string(), arguments, {twinloom::Mode::strict}, how);
  const bool written = std::filesystem::exists(folder / "rows.h");
  std::filesystem::remove_all(folder);
  return written;
}

// The same results by names, from a file of arrays, and from a package.
bool by_name_and_in_files(const twinloom::Graph& graph, const twinloom::Executable& executable,
                          const std::vector<twinloom::Value>& arguments, const std::string& path) {
  const std::string archive = path + ".arguments.npz", file = path + ".twinloom";
  twinloom::write_arrays(archive, {{"x", std::get<twinloom::Tensor>(arguments[0])},
                                   {"bias", std::get<twinloom::Tensor>(arguments[1])}});
  std::map<std::string, twinloom::Value> named;
  for (const auto& [name, tensor] : twinloom::read_arrays(archive)) named.emplace(name, tensor);
  twinloom::export_package(graph, file, {twinloom::Mode::strict});
  const twinloom::Executable packaged = twinloom::Executable::load(file, twinloom::Device("cpu"), false);
  if (!writes_sources(graph, arguments, path + ".sources")) return false;
  std::remove(archive.c_str());
  std::remove(file.c_str());
  const auto same = [&](const twinloom::Value& a, const twinloom::Value& b) {
    return std::memcmp(std::get<twinloom::Tensor>(a).data(), std::get<twinloom::Tensor>(b).data(), 48) == 0;
  };
  const auto results = executable.run(arguments);
  const std::string first = graph.results().at(0).name;
  const auto by_name = executable.run_named(named);
  if (!first.empty() && !same(by_name.at(first), results.at(0))) return false;
  if (!same(packaged.run(arguments).at(0), results.at(0))) return false;
  named.emplace("z", std::int64_t{1});
  try {
    executable.run_named(named);
  } catch (const twinloom::Error& error) {
    return error.node() == "z" && std::strstr(error.what(), "there is no parameter 'z'") != nullptr;
  }
  return false;
}

int run(const char* path) {
  const twinloom::Graph graph = twinloom::Graph::load(path);
  const twinloom::Executable executable(graph, twinloom::Device("cpu", {{}, false}),
                                        {twinloom::Mode::strict});
  std::vector<float> rows(3 * 4, 1.0f), bias = {1, 2, 3, 4}, written(3 * 4), sums(3 * 4);
  const std::vector<twinloom::Value> arguments = {twinloom::Tensor::view(rows.data(), {3, 4}),
                                                  twinloom::Tensor::view(bias.data(), {4})};
  std::int64_t covered = 0;
  const twinloom::ParallelFor serial = [&](std::int64_t tasks, int, const auto& body) {
    covered += tasks;
    body(0, tasks);
  };
  twinloom::RunOptions options;
  options.parallel_for = &serial;
  options.threads = 2;
  const auto results = executable.run(arguments, options);
  executable.run(
      arguments, {},
      {twinloom::Tensor::view(written.data(), {3, 4}), twinloom::Tensor::view(sums.data(), {3, 4})});
  const auto& softmax = std::get<twinloom::Tensor>(results.at(0));
  const float* first = softmax.data<float>();
  std::printf("%.4f %.4f %.4f %.4f\n", first[0], first[1], first[2], first[3]);
  if (std::memcmp(first, written.data(), written.size() * sizeof(float)) != 0) return 1;
  if (softmax.shape() != std::vector<std::int64_t>{3, 4} || softmax.dtype() != twinloom::float32) return 1;
  if (twinloom::Graph::read(graph.text()).text() != graph.text()) return 1;
  twinloom::Pending pending = executable.start(arguments);
  if (std::memcmp(std::get<twinloom::Tensor>(pending.wait().at(0)).data(), first,
                  written.size() * sizeof(float)) != 0)
    return 1;
  if (graph.results().at(0).symbols.at(0) != "s0" || twinloom::Device::names().empty()) return 1;
  if (!by_name_and_in_files(graph, executable, arguments, path)) return 1;
  try {
    executable.run({arguments[0]});
  } catch (const twinloom::Error& error) {
    return error.code() == twinloom::Code::invalid && std::strstr(error.what(), "2 parameters") != nullptr
               ? 0
               : 1;
  }
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  try {
    return run(words[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
