// Operators whose results have as many elements as their inputs' elements say: these must be known, and the
// results are constants.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "core/graph/indexing.h"
#include "core/graph/views.h"
#include "frontends/onnx/constants.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using ops::DType;
using ops::Number;

std::vector<Number> elements_of(const graph::Array& array) {
  const auto size = static_cast<std::size_t>(ops::size_of(array.dtype));
  const auto bytes = array.bytes.read();
  std::vector<Number> elements;
  for (std::size_t e = 0; e < bytes.size(); e += size)
    elements.push_back(ops::load_number(array.dtype, bytes.data() + e));
  return elements;
}

// [axes, count]: the positions of what is not zero, row by row.
Values non_zero(const Call& call) {
  const graph::Array x = call.array(0);
  const std::vector<Number> elements = elements_of(x);
  std::vector<Integers> positions(x.sizes.size());
  for (std::size_t e = 0; e < elements.size(); ++e) {
    if (elements[e].real() == 0) continue;
    auto rest = static_cast<std::int64_t>(e);
    for (std::size_t d = x.sizes.size(); d-- > 0;) {
      positions[d].push_back(rest % x.sizes[d]);
      rest /= x.sizes[d];
    }
  }
  Integers all;
  for (const Integers& each : positions) all.insert(all.end(), each.begin(), each.end());
  const auto axes = static_cast<std::int64_t>(x.sizes.size());
  const std::int64_t count = axes == 0 ? 0 : static_cast<std::int64_t>(all.size()) / axes;
  return {constant_of(call.builder(), all, DType::i64, {axes, count})};
}

// Keys that are ordered as elements are, NaN last, both zeros alike.
std::int64_t key_of(const Number& number, DType dtype) {
  if (!ops::is_floating(dtype)) {
    const std::int64_t bits = number.integer();
    return dtype == DType::u64 ? bits ^ INT64_MIN : bits;
  }
  const double real = number.real();
  if (real != real) return INT64_MAX;
  const auto bits = std::bit_cast<std::int64_t>(real == 0 ? 0.0 : real);
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

// The rows of a tensor along its first axis, as keys.
std::vector<Integers> rows_of(const graph::Array& array) {
  const std::vector<Number> elements = elements_of(array);
  const std::size_t rows = array.sizes.empty() ? 1 : static_cast<std::size_t>(array.sizes[0]);
  std::vector<Integers> result(rows);
  for (std::size_t e = 0; e < elements.size(); ++e)
    result[e / (elements.size() / rows)].push_back(key_of(elements[e], array.dtype));
  return result;
}

// Of different rows the first places, by their values or by place; of each row which of these it is.
struct Different {
  Integers first, inverse, counts;
};
Different different(const std::vector<Integers>& rows, bool sorted) {
  std::map<Integers, std::int64_t> firsts;
  for (std::size_t r = 0; r < rows.size(); ++r) firsts.try_emplace(rows[r], static_cast<std::int64_t>(r));
  Different result;
  for (const auto& [row, first] : firsts) result.first.push_back(first);
  if (!sorted) std::ranges::sort(result.first);
  std::map<std::int64_t, std::int64_t> number;
  for (const std::int64_t first : result.first)
    number.emplace(first, static_cast<std::int64_t>(number.size()));
  result.counts.resize(result.first.size());
  for (const Integers& row : rows) {
    result.inverse.push_back(number.at(firsts.at(row)));
    ++result.counts[static_cast<std::size_t>(result.inverse.back())];
  }
  return result;
}

Values unique(const Call& call) {
  const auto [x, axis] = call.tensor_along_axis();
  const auto [first, inverse, counts] =
      different(rows_of(call.array(graph::transpose(x, 0, axis), "the input")), call.truth("sorted", true));
  graph::Builder& builder = call.builder();
  const auto list = [&](const Integers& numbers) { return constant_of(builder, numbers, DType::i64); };
  return {graph::take(x, axis, list(first)), list(first), list(inverse), list(counts)};
}

// A box by two opposite corners, or by its middle and its sizes.
struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};
Box box_of(const std::vector<Number>& numbers, std::size_t at, bool by_middle) {
  const double a = numbers[at].real(), b = numbers[at + 1].real(), c = numbers[at + 2].real(),
               d = numbers[at + 3].real();
  if (by_middle) return {b - d / 2, a - c / 2, b + d / 2, a + c / 2};
  return {std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d)};
}
// The part of what two boxes cover that both do.
double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top),
               width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  return height * width / (a.area() + b.area() - height * width);
}

struct Suppression {
  std::int64_t most;
  double overlap;
  double score;  // those of no higher score are left out
};
// The boxes that stay, by falling score: those that no better one that stays overlaps too much.
Integers kept(const std::vector<Box>& boxes, const std::vector<double>& scores, const Suppression& limits) {
  Integers order(boxes.size()), result;
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](std::int64_t box) { return scores[static_cast<std::size_t>(box)]; };
  std::ranges::stable_sort(order, std::greater(), score);
  for (const std::int64_t box : order) {
    if (std::cmp_greater_equal(result.size(), limits.most)) break;
    if (!(score(box) > limits.score)) continue;
    const bool is_covered = std::ranges::any_of(result, [&](std::int64_t better) {
      return overlap(boxes[static_cast<std::size_t>(better)], boxes[static_cast<std::size_t>(box)]) >
             limits.overlap;
    });
    if (!is_covered) result.push_back(box);
  }
  return result;
}

// Boxes [batch, count, 4], scores [batch, classes, count] -> rows of batch, class and box.
Values non_max_suppression(const Call& call) {
  const graph::Array boxes = call.array(0), scores = call.array(1);
  const bool is_good = boxes.sizes.size() == 3 && scores.sizes.size() == 3 && boxes.sizes[2] == 4 &&
                       scores.sizes[0] == boxes.sizes[0] && scores.sizes[2] == boxes.sizes[1];
  if (!is_good)
    call.fail("needs boxes of shape [batch, count, 4] and scores of shape [batch, classes, count]");
  const auto one = [&](std::size_t input) {
    const auto given = call.reals(input);
    if (given.size() != 1) call.fail("input ", input, " must be one number");
    return given[0];
  };
  const Suppression limits{call.has(2) ? call.integer(2) : 0, call.has(3) ? one(3) : 0,
                           call.has(4) ? one(4) : -std::numeric_limits<double>::infinity()};
  const std::vector<Number> corners = elements_of(boxes), numbers = elements_of(scores);
  const auto count = static_cast<std::size_t>(boxes.sizes[1]);
  const bool by_middle = call.truth("center_point_box", false);
  Integers result;
  for (std::int64_t batch = 0; batch < boxes.sizes[0]; ++batch) {
    std::vector<Box> of_batch;
    for (std::size_t box = 0; box < count; ++box)
      of_batch.push_back(box_of(corners, (static_cast<std::size_t>(batch) * count + box) * 4, by_middle));
    for (std::int64_t kind = 0; kind < scores.sizes[1]; ++kind) {
      const auto first = static_cast<std::size_t>(batch * scores.sizes[1] + kind) * count;
      std::vector<double> of_class;
      for (std::size_t box = 0; box < count; ++box) of_class.push_back(numbers[first + box].real());
      for (const std::int64_t box : kept(of_batch, of_class, limits))
        result.insert(result.end(), {batch, kind, box});
    }
  }
  const auto found = static_cast<std::int64_t>(result.size()) / 3;
  return {constant_of(call.builder(), result, DType::i64, {found, 3})};
}

constexpr std::array rows = {
    Row{"NonMaxSuppression", non_max_suppression},
    Row{"NonZero", non_zero},
    Row{"Unique", unique},
};

}  // namespace

std::span<const Row> data_rows() { return rows; }

}  // namespace twinloom::onnx
