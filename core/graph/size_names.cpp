// See size_names.h.
#include "core/graph/size_names.h"

#include <algorithm>
#include <cctype>

#include "core/base/text.h"

namespace twinloom::graph {

namespace {

constexpr std::string_view negative = ".neg";

}  // namespace

bool is_reserved(std::string_view name) {
  if (name.ends_with(negative)) name.remove_suffix(negative.size());
  if (name == "seed" || name == "offset" || name.find('.') != std::string_view::npos) return true;
  if (name.size() < 2 || (name[0] != 'i' && name[0] != 'f')) return false;
  return std::ranges::all_of(name.substr(1), [](unsigned char c) { return std::isdigit(c) != 0; });
}

index::Symbol negative_part(index::Symbol symbol) { return index::Symbol(cat(symbol, negative)); }

}  // namespace twinloom::graph
