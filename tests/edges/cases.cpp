// See cases.h.
#include "tests/edges/cases.h"

#include <fstream>

#include "core/base/error.h"

namespace twinloom::tests {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t end = 0; end != std::string::npos; start = end + 1) {
    end = text.find(separator, start);
    std::string part = text.substr(start, end == std::string::npos ? end : end - start);
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

bool is_row(const std::string& text) { return text.starts_with('['); }

// "[1*36, nan]", "[]" or "5".
std::vector<std::string> numbers_of(const std::string& text) {
  std::vector<std::string> numbers;
  for (const std::string& part : split(is_row(text) ? text.substr(1, text.size() - 2) : text, ',')) {
    const auto words = split(part, '*');
    numbers.insert(numbers.end(), words.size() == 1 ? 1 : std::stoul(words[1]), words[0]);
  }
  return numbers;
}

}  // namespace

std::vector<Edge> read_edges(const std::string& path) {
  std::vector<Edge> edges;
  std::ifstream file(path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!line.starts_with("| ") || line.starts_with("| operator") || line.starts_with("| ---")) continue;
    const auto cells = split(line, '|');
    if (cells.size() != 5) throw Error(cat(path, ":", number, ": a row has 5 cells, not ", cells.size()));
    const auto of = ops::dtype_named(cells[1]);
    if (!of) throw Error(cat(path, ":", number, ": unknown type '", cells[1], "'"));
    Edge edge{number, cells[0], *of, is_row(cells[2]), {}, numbers_of(cells[3]), cells[4]};
    if (edge.in_rows)
      edge.inputs.push_back(numbers_of(cells[2]));
    else
      for (const std::string& operand : numbers_of(cells[2])) edge.inputs.push_back({operand});
    edges.push_back(std::move(edge));
  }
  return edges;
}

}  // namespace twinloom::tests
