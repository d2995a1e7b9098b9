// See divisions.h.
#include "tests/kernels/divisions.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <sstream>

namespace twinloom::tests {

namespace {

struct Braces {
  bool loop = false, has_inner_loop = false;
  std::vector<std::string> divisions;
};

// The second argument of the call whose arguments start here.
std::string_view divisor(std::string_view arguments) {
  std::size_t depth = 1, comma = 0, at = 0;
  for (; at < arguments.size() && depth > 0; ++at) {
    if (arguments[at] == '(') ++depth;
    if (arguments[at] == ')') --depth;
    if (arguments[at] == ',' && depth == 1) comma = at;
  }
  return arguments.substr(comma + 2, at - 1 - (comma + 2));
}

bool divides(std::string_view line) {
  for (const std::string_view call : {"floor_div(", "floor_mod("}) {
    for (std::size_t at = line.find(call); at != line.npos; at = line.find(call, at + 1)) {
      const std::string by(divisor(line.substr(at + call.size())));
      const bool constant = !by.empty() && by.find_first_not_of("0123456789") == by.npos;
      if (!constant || !std::has_single_bit(std::stoull(by))) return true;
    }
  }
  return false;
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
