// See divisions.h.
#include "tests/kernels/divisions.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <regex>
#include <sstream>

namespace twinloom::tests {

namespace {

struct Braces {
  bool loop = false, has_inner_loop = false;
  std::vector<std::string> divisions;
};

bool divides(const std::string& line) {
  static const std::regex call(R"(floor_(?:div|mod)\()"),
      by_constant(R"(floor_(?:div|mod)\([^()]*, (\d+)\))");
  const auto count = [&](const std::regex& sought) {
    return std::distance(std::sregex_iterator(line.begin(), line.end(), sought), std::sregex_iterator());
  };
  std::ptrdiff_t shifts = 0;
  for (std::sregex_iterator it(line.begin(), line.end(), by_constant), end; it != end; ++it)
    if (std::has_single_bit(std::stoull((*it)[1]))) ++shifts;
  return count(call) > shifts;
}

}  // namespace

std::vector<std::string> divisions_in_innermost_loops(std::string_view source) {
  std::vector<std::string> found;
  std::vector<Braces> open(1);
  std::istringstream lines{std::string(source)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start == std::string::npos || line.compare(start, 2, "//") == 0) continue;
    if (line[start] == '}' && open.size() > 1) {
      Braces closed = std::move(open.back());
      open.pop_back();
      if (!closed.loop) {  // its lines are those of what is around it
        open.back().has_inner_loop |= closed.has_inner_loop;
        std::ranges::move(closed.divisions, std::back_inserter(open.back().divisions));
      } else {
        open.back().has_inner_loop = true;
        if (!closed.has_inner_loop) std::ranges::move(closed.divisions, std::back_inserter(found));
      }
    }
    if (divides(line)) open.back().divisions.push_back(line.substr(start));
    if (line.back() == '{') open.push_back({line.compare(start, 5, "for (") == 0, false, {}});
  }
  return found;
}

}  // namespace twinloom::tests
