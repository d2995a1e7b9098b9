// See names.h.
#include "core/emit/names.h"

#include <algorithm>

namespace twinloom::emit {

namespace {

constexpr std::string_view digits = "0123456789";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || digits.find(c) != std::string_view::npos;
}

}  // namespace

std::string_view without_number(std::string_view kernel) {
  if (!kernel.starts_with('k')) return kernel;
  const std::size_t end = kernel.find_first_not_of(digits, 1);
  if (end == 1 || end == std::string_view::npos || kernel[end] != '_' || end + 1 == kernel.size())
    return kernel;
  return kernel.substr(end + 1);
}

std::string function_name(std::string_view kernel) {
  constexpr std::size_t most = 64;
  std::string name = "twinloom_";
  name += without_number(kernel);
  std::ranges::replace_if(
      name, [](char c) { return !is_word(c); }, '_');
  return name.substr(0, most);
}

}  // namespace twinloom::emit
