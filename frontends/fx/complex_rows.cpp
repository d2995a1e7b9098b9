// From real to complex tensors and back. What operators do to complex tensors stands in complex.cpp.
#include <array>
#include <numbers>

#include "core/graph/build_error.h"
#include "core/graph/views.h"
#include "frontends/fx/complex.h"
#include "frontends/fx/promote.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;

Item view_as_complex(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  if (x.rank() == 0 || index::constant_of(x.size(-1)) != 2)
    arguments.fail(cat("takes a tensor whose last axis is 2, given was ", describe({x})));
  return complex_of(x);
}
Item of_two(const Tensor& real, const Tensor& imaginary) {
  Item item{real};
  item.imaginary = imaginary;
  return item;
}
Item complex(const Arguments& arguments) {
  const auto parts = promoted_tensors(arguments, std::array<std::string_view, 2>{"real", "imag"});
  const auto shape = graph::broadcast_shape(arguments.builder().graph(), {parts[0].shape(), parts[1].shape()},
                                            graph::subject(arguments.builder(), "complex"));
  return of_two(graph::expand(parts[0], shape), graph::expand(parts[1], shape));
}
Tensor of_angle(ops::Pointwise function, const Tensor& angle) { return graph::pointwise(function, {angle}); }
Item polar(const Arguments& arguments) {
  const auto parts = promoted_tensors(arguments, std::array<std::string_view, 2>{"abs", "angle"});
  return of_two(parts[0] * of_angle(ops::Pointwise::cos, parts[1]),
                parts[0] * of_angle(ops::Pointwise::sin, parts[1]));
}

// Of real tensors.
Item same(const Arguments& arguments) { return {arguments.tensor(0, "self")}; }
Item angle(const Arguments& arguments) {
  const Item& item = arguments.item(0, "self");
  const Tensor x = as_tensor(arguments, item, floating(arguments.tensor(0, "self").dtype()));
  const Tensor turned = graph::where(graph::lt(x, 0), std::numbers::pi, 0.0, x.dtype());
  return {graph::where(graph::pointwise(ops::Pointwise::isnan, {x}), x, turned)};
}
Item needs_complex(const Arguments& arguments) { arguments.fail("takes complex numbers"); }

constexpr std::array rows = {
    Row{"view_as_complex", view_as_complex, Lies::view},
    Row{"view_as_real", needs_complex, Lies::view},
    Row{"complex", complex},
    Row{"polar", polar},
    Row{"angle", angle},
    Row{"real", same, Lies::view},
    Row{"imag", needs_complex, Lies::view},
    Row{"_conj", same, Lies::view},
    Row{"_conj_physical", same},
    Row{"conj_physical", same, Lies::whole_or_copy},
    Row{"resolve_conj", same, Lies::whole_or_copy},
};

}  // namespace

std::span<const Row> complex_rows() { return rows; }

}  // namespace twinloom::fx
