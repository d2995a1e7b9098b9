// How operators and totals are written in a kernel, with $0, $1, ... for the inputs: as calls of the device
// header's functions, but for the arithmetic of floats, which every language spells alike and no compiler then
// has to find and to inline.
#pragma once

#include <string>
#include <string_view>

#include "core/base/text.h"
#include "core/ops/monoid.h"
#include "core/ops/pointwise.h"

namespace twinloom::emit {

// For elements of the type that is computed in.
std::string_view spelling(ops::Pointwise op, ops::DType element);
std::string_view spelling(ops::Monoid monoid, ops::DType element);

// The head of a loop over 0 <= counter < bound.
std::string counted(std::string_view counter, std::string_view bound);

// The lines of a text as comments.
void comment_lines(Writer& writer, std::string_view comment);

}  // namespace twinloom::emit
