// The types that FX prints beside names: "f32[96, s27]", "c64[2]", "b8[]", "Sym(s77)",
// "f32[2*s77][s27]cuda:0".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/fx/items.h"
#include "frontends/fx/sizes.h"

namespace twinloom::fx {

// A size or another number as it is printed, over the symbols that its names stand for.
struct PrintedNumber {
  std::string text;
  std::optional<Item> number;  // nothing where it is no arithmetic that is known
  // What must hold for it to have a value.
  std::vector<std::pair<index::Condition, std::string>> requirements;
};

struct Annotation {
  std::optional<ops::DType> dtype;  // of a tensor; of the parts of a complex one
  bool is_complex = false;          // c64, c128
  std::vector<PrintedNumber> shape;
  std::optional<std::vector<PrintedNumber>> strides;  // in elements, where the text prints them
  std::optional<PrintedNumber> number;                // of Sym(...)
};

struct NumberNames {
  std::function<Item(const std::string& name)> look_up;
  const index::Facts& facts;  // about what look_up gives
};

// Nothing for an empty text. Error "line L: ..." where the text is no type.
std::optional<Annotation> parse_annotation(std::string_view text, int line, const NumberNames& names);

}  // namespace twinloom::fx
