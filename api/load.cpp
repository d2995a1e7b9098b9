// Which text it is, and who reads it. See load.h.
#include "api/load.h"

#include "core/base/error.h"
#include "core/base/files.h"
#include "frontends/fx/read.h"

namespace twinloom {

namespace {

constexpr std::int64_t most_text = std::int64_t{1} << 28;

// Whether it is the text that graph::print writes, which starts with its name.
bool is_graph_text(std::string_view text) {
  constexpr std::string_view start = "graph \"";
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text.substr(first).starts_with(start);
}

fx::ReadOptions fx_options(const LoadOptions& options) { return {options.graph, options.constants}; }

}  // namespace

graph::Graph read_graph(std::string_view text, const LoadOptions& options) {
  if (!is_graph_text(text)) return fx::read(text, fx_options(options));
  if (options.graph != 0)
    throw Error(cat("graph ", options.graph, " was asked for; the text holds 1, counted from 0"));
  return graph::parse(text);
}

std::vector<std::optional<graph::Shape>> strides_in(std::string_view text, const LoadOptions& options) {
  if (is_graph_text(text)) return {};
  return fx::parameter_strides(text, fx_options(options));
}

std::string load_text(const std::filesystem::path& file) { return read_bytes(file, most_text); }

}  // namespace twinloom
