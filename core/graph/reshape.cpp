// reshape and as_strided. A reshape is matched in groups of neighbouring axes with equal products:
//   [a, 6] -> [a, 2, 3]    from [i0, 3*i1 + i2]    (groups a = a and 6 = 2*3)
// so that quotients and remainders appear only inside a group.
#include <algorithm>

#include "core/base/error.h"
#include "core/graph/build_error.h"
#include "core/graph/infer.h"
#include "core/graph/views.h"
#include "core/index/simplify.h"

namespace twinloom::graph {

namespace {

using Positions = std::vector<std::size_t>;  // of axes

// Axes of the input and of the result that hold the same elements.
struct Group {
  Positions input, result;
};

Positions axes_longer_than_1(const Shape& shape) {
  Positions axes;
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (shape[k] != index::Expr(1)) axes.push_back(k);
  return axes;
}

// The smallest numbers of axes from (a, b) on whose products are equal; all the rest where none are.
std::pair<std::size_t, std::size_t> first_match(const Shape& input, const Shape& result,
                                                const Positions& from_input, const Positions& from_result,
                                                const index::Facts& facts) {
  const std::size_t most = from_input.size() + from_result.size();
  for (std::size_t together = 2; together <= most; ++together) {
    for (std::size_t a = 1; a < together; ++a) {
      const std::size_t b = together - a;
      if (a > from_input.size() || b > from_result.size()) continue;
      index::Expr left = 1;
      index::Expr right = 1;
      for (std::size_t k = 0; k < a; ++k) left = left * input[from_input[k]];
      for (std::size_t k = 0; k < b; ++k) right = right * result[from_result[k]];
      if (left == right || facts.proves_equal(left, right)) return {a, b};
    }
  }
  return {from_input.size(), from_result.size()};
}

std::vector<Group> groups_of(const Shape& input, const Shape& result, const index::Facts& facts) {
  Positions from_input = axes_longer_than_1(input);
  Positions from_result = axes_longer_than_1(result);
  std::vector<Group> groups;
  while (!from_input.empty() && !from_result.empty()) {
    const auto [a, b] = first_match(input, result, from_input, from_result, facts);
    const auto end_a = from_input.begin() + static_cast<std::ptrdiff_t>(a);
    const auto end_b = from_result.begin() + static_cast<std::ptrdiff_t>(b);
    groups.push_back({{from_input.begin(), end_a}, {from_result.begin(), end_b}});
    from_input.erase(from_input.begin(), end_a);
    from_result.erase(from_result.begin(), end_b);
  }
  if (groups.empty()) groups.emplace_back();
  // Left are sizes that are 1 whenever the counts agree.
  Group& last = groups.back();
  last.input.insert(last.input.end(), from_input.begin(), from_input.end());
  last.result.insert(last.result.end(), from_result.begin(), from_result.end());
  return groups;
}

// The row-major number of an element among the axes.
index::Expr linear(const std::vector<index::Symbol>& axes, const Shape& sizes, const Positions& of) {
  index::Expr number = 0;
  for (const std::size_t k : of) number = number * sizes[k] + axes[k];
  return number;
}

// The positions along the axes of the element with a row-major number, into `source`.
void unlinear(const index::Expr& number, const Shape& sizes, const Positions& of,
              std::vector<index::Expr>& source) {
  index::Expr stride = 1;
  for (std::size_t n = of.size(); n-- > 0;) {
    const index::Expr quotient = stride == index::Expr(1) ? number : index::floor_div(number, stride);
    source[of[n]] = n == 0 ? quotient : index::floor_mod(quotient, sizes[of[n]]);
    stride = stride * sizes[of[n]];
  }
}

View reshaping(const Shape& input, const Shape& result, const index::Facts& facts) {
  View map;
  map.sizes = result;
  map.source.assign(input.size(), 0);
  for (std::size_t k = 0; k < result.size(); ++k) map.axes.push_back(axis_symbol(static_cast<int>(k)));
  // Without elements there is nothing to find, and nothing to divide by.
  if (index::product(input) == index::Expr(0) || index::product(result) == index::Expr(0)) return map;
  for (const Group& group : groups_of(input, result, facts))
    unlinear(linear(map.axes, result, group.result), input, group.input, map.source);
  return map;
}

// whole / part where the division leaves nothing by form alone.
std::optional<index::Expr> exact_quotient(const index::Expr& whole, const index::Expr& part) {
  if (part == index::Expr(0)) return std::nullopt;
  const index::Expr quotient = index::floor_div(whole, part);
  if (quotient * part == whole) return quotient;
  return std::nullopt;
}

// The size that -1 stands for: sizes that both shapes have are taken away first, so that [0, n] to
// [-1, n] gives 0.
index::Expr missing_size(const Tensor& x, const Shape& sizes, std::size_t missing) {
  Shape left = x.shape();
  index::Expr others = 1;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (k == missing) continue;
    const auto same = std::ranges::find(left, sizes[k]);
    if (same != left.end()) {
      left.erase(same);
    } else {
      others = others * sizes[k];
    }
  }
  const index::Expr whole = index::product(left);
  const auto refuse = [&]() {
    fail(x.builder(), "reshape", print_shape(x.shape()), " has no shape ", print_shape(sizes));
  };
  if (others == index::Expr(0)) {
    refuse();
  }
  if (const auto quotient = exact_quotient(whole, others)) return *quotient;
  if (index::constant_of(whole) && index::constant_of(others)) refuse();
  require_sizes(x.builder(), at_most(1, others),
                cat(subject(x.builder(), "reshape"), ": -1 in ", print_shape(sizes), " is of no size where ",
                    others, " is 0"));
  const index::Expr quotient = index::simplify(index::floor_div(whole, others), x.builder().graph().facts());
  x.builder().graph().require_equal(
      quotient * others, whole,
      cat(subject(x.builder(), "reshape"), ": ", print_shape(x.shape()), " has no shape ", print_shape(sizes),
          ": ", whole, " must be a multiple of ", others));
  return quotient;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& sizes) {
  Builder& builder = x.builder();
  Shape result = sizes;
  std::optional<std::size_t> missing;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const auto size = index::constant_of(sizes[k]);
    if (!size || *size >= 0) continue;
    if (*size != -1) fail(builder, "reshape", "the size ", *size, " in ", print_shape(sizes), " is negative");
    if (missing) fail(builder, "reshape", "-1 appears twice in ", print_shape(sizes));
    missing = k;
  }
  if (missing) {
    result[*missing] = missing_size(x, sizes, *missing);
  } else {
    builder.graph().require_equal(
        index::product(x.shape()), index::product(sizes),
        cat(subject(builder, "reshape"), ": ", print_shape(x.shape()), " has ", index::product(x.shape()),
            " elements, ", print_shape(sizes), " has ", index::product(sizes)));
  }
  return view(x, reshaping(x.shape(), result, builder.graph().facts()));
}

Tensor as_strided(const Tensor& x, const Shape& sizes, const std::vector<index::Expr>& strides,
                  const index::Expr& offset) {
  Builder& builder = x.builder();
  if (sizes.size() != strides.size())
    fail(builder, "as_strided", sizes.size(), " sizes are given and ", strides.size(), " strides");
  View map;
  map.sizes = sizes;
  index::Expr first = offset;
  index::Expr last = offset;
  index::Expr place = offset;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    map.axes.push_back(axis_symbol(static_cast<int>(k)));
    place = place + strides[k] * index::Expr(map.axes[k]);
    const index::Expr reach = strides[k] * (sizes[k] - 1);
    first = first + index::least(reach, 0);
    last = last + index::greatest(reach, 0);
  }
  if (index::product(sizes) != index::Expr(0)) {
    const std::string words = cat(subject(builder, "as_strided"), ": sizes ", print_shape(sizes),
                                  ", strides ", print_shape(strides), " and offset ", offset,
                                  " reach outside the ", x.count(), " elements of the base");
    require_sizes(builder, at_most(0, first) && index::Condition{{{last, x.count()}}}, words);
  }
  map.source = {place};
  return view(reshape(x, {x.count()}), std::move(map));
}

}  // namespace twinloom::graph
