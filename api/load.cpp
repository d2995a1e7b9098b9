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

}  // namespace

Loaded read_graph(std::string_view text, const LoadOptions& options) {
  if (!is_graph_text(text)) {
    const fx::ReadOptions read = {options.graph, options.constants};
    return {fx::read(text, read), fx::parameter_strides(text, read)};
  }
  if (options.graph != 0)
    throw Error(cat("graph ", options.graph, " was asked for; the text holds 1, counted from 0"));
  return {graph::parse(text), {}};
}

Loaded load_graph(const std::filesystem::path& file, const LoadOptions& options) {
  return read_graph(read_bytes(file, most_text), options);
}

}  // namespace twinloom
