// See dimensions.h.
#include "frontends/onnx/dimensions.h"

#include <cctype>

#include "core/base/error.h"
#include "core/graph/size_names.h"

namespace twinloom::onnx {

using index::Expr;

// A symbol that no other size has: of the wanted name where a size may have it, else of one that is made of
// it.
index::Symbol Dimensions::new_symbol(std::string_view wanted) {
  constexpr std::size_t longest = 12;  // of 23 characters, for what is added
  std::string name;
  for (const char c : wanted.substr(0, longest))
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  const bool is_word = name == "floor_div" || name == "floor_mod" || name == "least" || name == "greatest";
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 || is_word ||
      graph::is_reserved(name))
    name = "d_" + name;
  std::string free = name;
  for (std::size_t number = symbols_.size(); !symbols_.insert(free).second; ++number)
    free = cat(name, "_", number);
  return index::Symbol(free);
}

index::Symbol Dimensions::symbol_of(std::string_view parameter) {
  const auto found = parameters_.find(parameter);
  if (found != parameters_.end()) return found->second;
  return parameters_.emplace(parameter, new_symbol(parameter)).first->second;
}

Expr Dimensions::size_of(const format::DimensionProto& dimension, const std::string& what) {
  if (!dimension.dim_param.empty()) return symbol_of(dimension.dim_param);
  if (!dimension.dim_value) return new_symbol("size");
  const std::int64_t size = *dimension.dim_value;
  if (size < 0 || size > most_elements)
    throw Error(cat(what, ": a dimension is ", size, "; it must lie in 0 to ", most_elements));
  return size;
}

}  // namespace twinloom::onnx
