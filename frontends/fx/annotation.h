// The types that FX prints beside names: "f32[96, s27]", "b8[]", "Sym(s77)", "f32[2*s77][s27]cuda:0".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/graph/graph.h"
#include "frontends/fx/syntax.h"

namespace twinloom::fx {

struct Annotation {
  std::optional<ops::DType> dtype;  // of a tensor
  graph::Shape shape;
  std::optional<graph::Shape> strides;  // in elements, where the text prints them
  std::optional<index::Expr> size;      // of Sym(...)
};

// Nothing for an empty text. Error "line L: ..." where the text is no type.
std::optional<Annotation> parse_annotation(std::string_view text, int line);

// The size that an expression stands for; names are looked up. Error where it is no integer arithmetic.
index::Expr size_of_expression(const Expression& expression, int line,
                               const std::function<index::Expr(const std::string& name)>& look_up);

}  // namespace twinloom::fx
