// Numbers of Python as sizes, quotients of sizes, truths, and tensors without axes.
//
// A condition on sizes is an integer that is 0 or 1, written with what index expressions have:
//   a < b   is  least(greatest(b - a, 0), 1)
//   a == b  is  greatest(1 - greatest(a - b, b - a), 0)
//   not x   is  1 - x;   x and y  is  least(x, y);   x or y  is  greatest(x, y)
// so it can be a result, a number of a tensor's arithmetic and a requirement of the graph.
#pragma once

#include <optional>

#include "frontends/fx/items.h"

namespace twinloom::fx {

// Of a number; nothing for any other item.
std::optional<Number::Kind> kind_of(const Item& item);
// Of a number that is known while the graph is read.
std::optional<double> known_value(const Item& item);
// What it is worth as a quotient of sizes; a known real where it is a small multiple of a power of 2.
std::optional<Fraction> fraction_of(const Item& item);
// Whether f64 holds the quotient of all sizes below 2^53: its denominator is a power of 2.
bool is_exact(const Fraction& fraction);
// A tensor of the type without axes.
graph::Tensor tensor_of(graph::Builder& builder, const Item& item, ops::DType dtype);

// Known ones become bool, index::Expr or double.
Item truth_item(const index::Expr& value, index::Condition holds);
Item real_item(const Fraction& fraction);
// What the row gives for the operands, cast to `dtype`, for what the sizes do not tell.
Item computed_item(Number::Kind kind, ops::Pointwise row, Items operands, ops::DType dtype);

Item is_less(const index::Expr& a, const index::Expr& b);
Item is_equal(const index::Expr& a, const index::Expr& b);
Item negated(const Item& truth);

// The truth of a number, as bool(x) is; nothing where only the run tells.
std::optional<Item> truth_of(const Item& item);

}  // namespace twinloom::fx
