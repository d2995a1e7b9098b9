// Which text it is, and who reads it. See load.h.
#include "api/load.h"

#include <fstream>
#include <utility>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/mapped_file.h"
#include "core/graph/passes.h"
#include "frontends/fx/read.h"

namespace twinloom {

namespace {

constexpr std::int64_t most_text = std::int64_t{1} << 28;
constexpr char ir_version = 8;  // what a model begins with: its field 1, a number

// Whether it is the text that graph::print writes, which starts with its name.
bool is_graph_text(std::string_view text) {
  constexpr std::string_view start = "graph \"";
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text.substr(first).starts_with(start);
}

fx::ReadOptions fx_options(const LoadOptions& options) { return {options.graph, options.constants}; }

onnx::ReadOptions onnx_options(const LoadOptions& options) {
  expect_first_graph(options.graph, "an ONNX model");
  const auto value = [&options](const std::string& name, std::size_t) -> std::optional<graph::Array> {
    const auto found = options.constants.find(name);
    return found == options.constants.end() ? std::nullopt : std::optional(found->second);
  };
  return {.folder = {}, .values = value, .elements = {}};
}

}  // namespace

void expect_first_graph(int graph, std::string_view what) {
  if (graph != 0) throw Error(cat("graph ", graph, " was asked for; ", what, " holds 1, counted from 0"));
}

graph::Graph read_graph(std::string_view text, const LoadOptions& options) {
  if (text.starts_with(ir_version)) return onnx::read(text, onnx_options(options));
  if (!is_graph_text(text)) return fx::read(text, fx_options(options));
  expect_first_graph(options.graph, "the text");
  return graph::without_promises(graph::parse(text));
}

graph::Graph load_graph(const std::filesystem::path& file, const LoadOptions& options) {
  if (is_onnx(file)) return load_onnx(file, onnx_options(options));
  return read_graph(load_text(file), options);
}

bool is_onnx(const std::filesystem::path& file) {
  if (file.extension() == ".onnx") return true;
  char first = 0;
  std::ifstream(file, std::ios::binary).get(first);
  return first == ir_version;
}

graph::Graph load_onnx(const std::filesystem::path& file, onnx::ReadOptions options) {
  options.folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!std::filesystem::is_regular_file(file)) return onnx::read(read_bytes(file, onnx::most_bytes), options);
  // Where it lies: arrays are not in memory twice.
  const auto mapped = std::make_shared<const MappedFile>(file);
  if (std::cmp_greater(mapped->bytes().size(), onnx::most_bytes))
    throw Error(cat("'", escaped(file.string()), "' holds more than ", onnx::most_bytes, " bytes"));
  options.owner = mapped;
  return onnx::read(mapped->bytes(), options);
}

std::vector<std::optional<graph::Shape>> strides_in(std::string_view text, const LoadOptions& options) {
  if (is_graph_text(text)) return {};
  return fx::parameter_strides(text, fx_options(options));
}

std::string load_text(const std::filesystem::path& file) { return read_bytes(file, most_text); }

}  // namespace twinloom
