// See texts.h.
#include "tests/frontends/texts.h"

#include <fstream>
#include <iterator>

#include "core/base/error.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {

std::string module_text(std::string_view parameters, std::string_view statements, std::string_view result) {
  std::string text = cat("class GraphModule(torch.nn.Module):\n    def forward(self, ", parameters, "):\n");
  std::size_t start = 0;
  while (start < statements.size()) {
    const std::size_t end = std::min(statements.find('\n', start), statements.size());
    text += cat("        ", statements.substr(start, end - start), "\n");
    start = end + 1;
  }
  return text + cat("        return ", result, "\n");
}

std::string error_of(std::string_view text, const fx::ReadOptions& options) {
  return words_of<Error>([&] { fx::read(text, options); });
}

std::string result_type(const graph::Graph& graph, std::size_t k) {
  const graph::Result& result = graph.results()[k];
  if (result.kind == graph::Ownership::none) return "None";
  if (result.kind == graph::Ownership::size) return cat("size ", result.size);
  const graph::Node& node = graph[result.value];
  return cat(ops::name(node.dtype), "[",
             join(node.shape, ", ", [](const index::Expr& size) { return index::print(size); }), "]");
}

void write_file(const std::string& file, std::string_view bytes) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string read_file(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace twinloom::tests
