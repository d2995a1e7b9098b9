// Inside of the component: the sizes that a model says its inputs have.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/index/expr.h"
#include "frontends/onnx/format.h"

namespace twinloom::onnx {

// Elements that a tensor may have: more is taken for a mistake.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 40;

class Dimensions {
 public:
  // A number; a symbol, which is one for each dim_param and for each dimension without one. `what` names the
  // input in messages.
  index::Expr size_of(const format::DimensionProto& dimension, const std::string& what);

 private:
  index::Symbol symbol_of(std::string_view parameter);
  index::Symbol new_symbol(std::string_view wanted);

  std::map<std::string, index::Symbol, std::less<>> parameters_;  // by dim_param
  std::set<std::string> symbols_;
};

}  // namespace twinloom::onnx
