// See complex.h.
#include "frontends/fx/complex.h"

#include <algorithm>
#include <array>

#include "core/graph/views.h"
#include "frontends/fx/promote.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;
using ops::DType;
using ops::Pointwise;

const Tensor& real_of(const Item& item) { return *item.get<Tensor>(); }

Item complex_item(const Tensor& real, const Tensor& imaginary) {
  Item item{real};
  item.imaginary = imaginary;
  return item;
}

// The element type of the parts, of torch.complex64 and its relatives.
std::optional<DType> type_of_parts(const Item& item) {
  const auto* text = item.get<std::string>();
  if (text == nullptr) return std::nullopt;
  if (*text == "torch.complex64" || *text == "torch.cfloat") return DType::f32;
  if (*text == "torch.complex128" || *text == "torch.cdouble") return DType::f64;
  return std::nullopt;
}

template <class Holds>
bool any_of(const Item& item, const Holds& holds) {
  const auto* items = item.get<Items>();
  if (items == nullptr) return holds(item);
  return std::ranges::any_of(*items, [&](const Item& each) { return any_of(each, holds); });
}

bool is_complex(const Item& item) { return item.imaginary.has_value(); }

// The parts of an operand; a real one has an imaginary part of 0.
struct Parts {
  Tensor real, imaginary;
};
Parts parts_of(const Arguments& arguments, const Item& item, DType dtype) {
  const Tensor real = as_tensor(arguments, Item{item.value}, dtype);
  if (item.imaginary) return {real, graph::cast(*item.imaginary, dtype, true)};
  return {real, arguments.builder().constant(0, dtype, real.shape())};
}

DType common_type(const Arguments& arguments, const Item& a, const Item& b) {
  return floating(result_type(arguments, std::array{&a, &b}));
}

Item product(const Arguments& arguments) {
  const Item &left = arguments.item(0, "self"), &right = arguments.item(1, "other");
  const DType dtype = common_type(arguments, left, right);
  const Parts a = parts_of(arguments, left, dtype), b = parts_of(arguments, right, dtype);
  if (!is_complex(right)) return complex_item(a.real * b.real, a.imaginary * b.real);
  if (!is_complex(left)) return complex_item(a.real * b.real, a.real * b.imaginary);
  return complex_item(a.real * b.real - a.imaginary * b.imaginary,
                      a.real * b.imaginary + a.imaginary * b.real);
}

Item quotient(const Arguments& arguments) {
  const Item &left = arguments.item(0, "self"), &right = arguments.item(1, "other");
  if (is_complex(right)) arguments.fail("division by complex numbers is not known");
  const DType dtype = common_type(arguments, left, right);
  const Parts a = parts_of(arguments, left, dtype), b = parts_of(arguments, right, dtype);
  return complex_item(a.real / b.real, a.imaginary / b.real);
}

Item converted(const Arguments& arguments) {
  const Item& item = arguments.item(0, "self");
  const auto& positional = arguments.positional();
  const auto asks = [](const Item& given) { return type_of_parts(given).has_value(); };
  const Item* type = arguments.find(99, "dtype");
  const auto found = std::ranges::find_if(positional, asks);
  if (type == nullptr && found != positional.end()) type = &*found;
  const auto dtype = type == nullptr ? std::nullopt : type_of_parts(*type);
  if (type != nullptr && !dtype) arguments.fail("complex numbers have no value of a real type");
  const Parts parts = parts_of(arguments, item, dtype.value_or(real_of(item).dtype()));
  return complex_item(parts.real, parts.imaginary);
}

Item magnitude(const Arguments& arguments) {
  const Item& item = arguments.item(0, "self");
  return {graph::pointwise(Pointwise::hypot, {real_of(item), *item.imaginary})};
}
Item angle(const Arguments& arguments) {
  const Item& item = arguments.item(0, "self");
  return {graph::pointwise(Pointwise::atan2, {*item.imaginary, real_of(item)})};
}
Item conjugate(const Arguments& arguments) {
  const Item& item = arguments.item(0, "self");
  return complex_item(real_of(item), -*item.imaginary);
}
Item real_part(const Arguments& arguments) { return {real_of(arguments.item(0, "self"))}; }
Item imaginary_part(const Arguments& arguments) { return {*arguments.item(0, "self").imaginary}; }
Item as_pairs(const Arguments& arguments) { return {pairs_of(arguments.item(0, "self"))}; }

struct Special {
  std::string_view name;
  Item (*build)(const Arguments& arguments);
};
constexpr std::array specials = {
    Special{"mul", product},
    Special{"div", quotient},
    Special{"true_divide", quotient},
    Special{"_to_copy", converted},
    Special{"convert_element_type", converted},
    Special{"abs", magnitude},
    Special{"angle", angle},
    Special{"_conj", conjugate},
    Special{"_conj_physical", conjugate},
    Special{"conj_physical", conjugate},
    Special{"real", real_part},
    Special{"imag", imaginary_part},
    Special{"view_as_real", as_pairs},
};
// Besides the views: each part is what the operator gives of that part.
constexpr std::array<std::string_view, 19> of_parts = {
    "add",          "sub",    "neg",          "clone",  "sum",  "sum.default",     "mean",
    "mean.default", "cat",    "stack",        "flip",   "roll", "constant_pad_nd", "repeat",
    "index",        "gather", "index_select", "cumsum", "where"};

// The argument for one part: of a real tensor and of a number the imaginary part is 0.
Item part_of(const Arguments& arguments, const Item& item, bool imaginary) {
  if (const auto* items = item.get<Items>()) {
    const bool has_complex = any_of(item, is_complex);
    Items parts;
    for (const Item& each : *items) parts.push_back(has_complex ? part_of(arguments, each, imaginary) : each);
    return {std::move(parts)};
  }
  if (!imaginary) return {item.value};
  if (item.imaginary) return {*item.imaginary};
  const auto* tensor = item.get<Tensor>();
  if (tensor == nullptr || !ops::is_floating(tensor->dtype())) return item;
  return {arguments.builder().constant(0, tensor->dtype(), tensor->shape())};
}

Item by_parts(const Row& row, const Arguments& arguments) {
  const bool adds = row.name == "add" || row.name == "sub";
  std::array<Item, 2> results;
  for (const bool imaginary : {false, true}) {
    Items positional;
    for (const Item& item : arguments.positional()) {
      const bool is_addend = adds && positional.size() < 2;
      if (is_addend && imaginary && !is_complex(item) && item.get<Tensor>() == nullptr)
        positional.push_back({index::Expr(0)});
      else
        positional.push_back(part_of(arguments, item, imaginary));
    }
    results[imaginary ? 1 : 0] =
        row.build({arguments.context(), arguments.target(), std::move(positional), arguments.keywords()});
  }
  const auto joined = [](const auto& self, const Item& real, const Item& imaginary) -> Item {
    const auto* items = real.get<Items>();
    if (items == nullptr) return complex_item(real_of(real), real_of(imaginary));
    Items all;
    for (std::size_t k = 0; k < items->size(); ++k)
      all.push_back(self(self, (*items)[k], (*imaginary.get<Items>())[k]));
    return {std::move(all)};
  };
  return joined(joined, results[0], results[1]);
}

}  // namespace

Item complex_of(const Tensor& pairs) {
  return complex_item(graph::select(pairs, -1, 0), graph::select(pairs, -1, 1));
}

Tensor pairs_of(const Item& complex) {
  const Tensor& real = real_of(complex);
  const graph::Node& node = real.builder().graph()[real.id()];
  if (std::holds_alternative<graph::View>(node.node)) {
    const Tensor base(&real.builder(), node.inputs[0]);
    const auto two = base.rank() == real.rank() + 1 ? index::constant_of(base.size(-1)) : std::nullopt;
    if (two == 2) {
      const Item whole = complex_of(base);
      if (real_of(whole).id() == real.id() && whole.imaginary->id() == complex.imaginary->id()) return base;
    }
  }
  return graph::stack({real, *complex.imaginary}, -1);
}

Item computed(const Row& row, const Arguments& arguments) {
  const auto concerns = [](const Item& item) { return is_complex(item) || type_of_parts(item).has_value(); };
  const bool concerned =
      std::ranges::any_of(arguments.positional(), [&](const Item& item) { return any_of(item, concerns); }) ||
      std::ranges::any_of(arguments.keywords(),
                          [&](const auto& item) { return any_of(item.second, concerns); });
  if (!concerned) return row.build(arguments);
  const auto* special = std::ranges::find(specials, row.name, &Special::name);
  if (special != specials.end()) return special->build(arguments);
  const bool only_moves = row.lies != Lies::apart;
  if (only_moves || std::ranges::find(of_parts, row.name) != of_parts.end()) return by_parts(row, arguments);
  arguments.fail("is not known of complex numbers");
}

}  // namespace twinloom::fx
