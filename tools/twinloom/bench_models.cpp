// See bench_models.h.
#include "tools/twinloom/bench_models.h"

#include <optional>
#include <set>

#include "core/base/error.h"
#include "tools/twinloom/inputs.h"

namespace twinloom::tool {

namespace {

// Nothing where the file cannot be read.
std::optional<graph::Graph> readable_graph(const ModelOptions& options) {
  try {
    return read_model(options).graph;
  } catch (const std::exception&) {  // it is said where the model is measured
    return std::nullopt;
  }
}

// Error where one of the NAME=VALUE is used by no model. `words`: the option, and what its names are of.
void check_used(const std::vector<std::string>& texts, const std::set<std::string>& used,
                std::string_view words) {
  for (const std::string& text : texts) {
    if (!used.contains(text)) throw Error(cat(words, " '", escaped(text.substr(0, text.find('='))), "'"));
  }
}

}  // namespace

std::vector<ModelOptions> options_of_each(const std::vector<std::filesystem::path>& files,
                                          const ModelOptions& common) {
  std::vector<ModelOptions> each(files.size(), common);
  for (std::size_t f = 0; f < files.size(); ++f) each[f].file = files[f];
  if (files.size() == 1 || (common.input.empty() && common.sizes.empty())) return each;
  std::set<std::string> inputs, sizes;
  bool any_readable = false;
  for (ModelOptions& options : each) {
    const auto graph = readable_graph(options);
    if (!graph) continue;
    any_readable = true;
    options = options_for(*graph, options);
    inputs.insert(options.input.begin(), options.input.end());
    sizes.insert(options.sizes.begin(), options.sizes.end());
  }
  if (!any_readable) return each;
  check_used(common.input, inputs, "--input: none of the models has a parameter");
  check_used(common.sizes, sizes, "--size: none of the models has a size");
  return each;
}

}  // namespace twinloom::tool
