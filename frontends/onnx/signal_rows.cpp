// Fourier transforms, as products with the cosines and sines of their angles; counts of n-grams;
// determinants.
#include <algorithm>
#include <array>
#include <numbers>
#include <numeric>

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/constants.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::Shape;
using graph::widened;
using index::Expr;
using ops::DType;

// What a transform is to be: of so many elements, of which `bins` are wanted.
struct Transform {
  Expr size, bins;
  bool inverse = false;
};

// [..., n, parts] -> [..., bins, 2]: X[k] = sum of x[j] e^(-2 pi i j k / size), of the inverse with + and
// divided. Angles are those of j*k mod size, in f64.
Tensor transformed(const Tensor& x, const Transform& transform) {
  graph::Builder& builder = x.builder();
  const Shape shape = {transform.bins, x.size(-2)};
  const Tensor size = builder.size(transform.size);
  const Tensor turns = graph::remainder(builder.iota(shape, 0) * builder.iota(shape, 1), size);
  const Tensor angle =
      graph::cast(turns, DType::f64) * (2 * std::numbers::pi) / graph::cast(size, DType::f64);
  const Tensor cosine = graph::cast(graph::cos(angle), x.dtype()),
               sine = graph::cast(graph::sin(angle), x.dtype());
  const bool is_complex = x.size(-1) == Expr(2);
  const auto times = [&](int part, const Tensor& factors) {
    return graph::sum(graph::unsqueeze(graph::select(x, -1, part), -2) * factors, {-1});
  };
  const double sign = transform.inverse ? -1 : 1;
  Tensor real = times(0, cosine), imaginary = times(0, sine) * -sign;
  if (is_complex) {
    real = real + times(1, sine) * sign;
    imaginary = imaginary + times(1, cosine);
  }
  const Tensor both = graph::stack({real, imaginary}, -1);
  return transform.inverse ? both / graph::cast(size, x.dtype()) : both;
}

void check_parts(const Call& call, const Tensor& x) {
  if (x.rank() < 2 || (x.size(-1) != Expr(1) && x.size(-1) != Expr(2)))
    call.fail("needs a last axis of 1, or of 2 for complex numbers");
}

// The axis is an attribute up to opset 19, then an input.
int transformed_axis(const Call& call, const Tensor& x) {
  check_parts(call, x);
  const std::int64_t given = call.version() < 20 ? call.integer("axis", 1)
                             : call.has(2)       ? call.integer(2)
                                                 : -2;
  const int axis = call.axis(given, x.rank());
  if (axis == x.rank() - 1) call.fail("the last axis holds the parts of complex numbers");
  return axis;
}

// The elements [..., n, parts] and zeros behind them, or the first of them.
Tensor with_length(const Tensor& x, const Expr& length) {
  std::vector<graph::Padding> padding(static_cast<std::size_t>(x.rank()), graph::Padding{0, 0});
  padding[padding.size() - 2].after = length - x.size(-2);
  return graph::pad(x, padding, 0.0);
}

// Of the transform of real numbers the other half: element size - k is the conjugate of element k.
Tensor both_sides(const Call& call, const Tensor& half, const Expr& size) {
  if (half.size(-1) != Expr(2)) call.fail("needs complex numbers to find real ones by a one-sided inverse");
  const Expr behind = size - half.size(-2);
  const Tensor mirrored = graph::flip(graph::slice_exact(half, -2, 1, behind), {-2});
  const Tensor real = graph::slice_exact(mirrored, -1, 0, 1),
               imaginary = graph::slice_exact(mirrored, -1, 1, 1);
  return graph::concat({half, graph::concat({real, -imaginary}, -1)}, -2);
}

Values dft(const Call& call) {
  const Tensor x = call.tensor(0);
  const int axis = transformed_axis(call, x);
  const bool onesided = call.truth("onesided", false), inverse = call.truth("inverse", false);
  Tensor wide = graph::transpose(widened(x), axis, x.rank() - 2);
  Expr size = onesided && inverse ? (wide.size(-2) - 1) * 2 : wide.size(-2);
  if (call.has(1)) size = call.integer(1);
  if (const auto known = index::constant_of(size); known && *known < 1)
    call.fail("transforms ", *known, " elements; there must be 1 at least");
  const Expr half = index::floor_div(size, Expr(2)) + 1;
  wide = with_length(wide, onesided && inverse ? half : size);
  if (onesided && inverse) wide = both_sides(call, wide, size);
  Tensor result = transformed(wide, {size, onesided && !inverse ? half : size, inverse});
  if (onesided && inverse) result = graph::slice_exact(result, -1, 0, 1);
  return {graph::cast(graph::transpose(result, axis, x.rank() - 2), x.dtype(), true)};
}

// [batch, length, parts] -> [batch, frames, bins, 2]
Values stft(const Call& call) {
  const Tensor x = call.tensor(0);
  check_parts(call, x);
  if (x.rank() != 3) call.fail("needs a signal of 3 axes, given one of ", x.rank());
  const std::int64_t step = call.integer(1);
  if (step < 1) call.fail("frames must be 1 apart at least, given ", step);
  if (!call.has(2) && !call.has(3)) call.fail("needs a window or a length of frames");
  const Expr size = call.has(3) ? Expr(call.integer(3)) : call.tensor(2).size(0);
  const bool onesided = call.truth("onesided", true);
  if (onesided && x.size(-1) == Expr(2)) call.unsupported("a one-sided transform of complex numbers");
  // [batch, frames, parts, size]
  Tensor frames = graph::unfold(widened(x), 1, size, step);
  if (call.has(2)) frames = frames * graph::cast(call.tensor(2), frames.dtype());
  const Expr bins = onesided ? index::floor_div(size, Expr(2)) + 1 : size;
  return {graph::cast(transformed(graph::transpose(frames, 2, 3), {size, bins, false}), x.dtype(), true)};
}

// How often each of the n-grams [count, n] stands in rows [rows, length], its elements `apart` from each
// other.
std::optional<Tensor> times_found(const Tensor& x, const Tensor& grams, std::int64_t apart) {
  const std::int64_t n = *index::constant_of(grams.size(1)), reach = (n - 1) * apart + 1;
  const auto length = index::constant_of(x.size(1));
  if (!length || *length < reach) return std::nullopt;
  Tensor found = x.builder().constant(true, DType::b8, {1});
  for (std::int64_t k = 0; k < n; ++k) {
    const Tensor part = graph::slice_exact(x, 1, k * apart, *length - reach + 1);
    found = graph::logical_and(found, graph::eq(graph::unsqueeze(part, -1), graph::select(grams, 1, k)));
  }
  return graph::sum(graph::cast(found, DType::f32), {1});
}

struct Grams {
  Integers pool, firsts,
      places;                   // all n-grams one after the other, where those of each n begin, their columns
  std::vector<double> weights;  // by n-gram
};
Grams grams_of(const Call& call) {
  if (!call.texts("pool_strings").empty()) call.unsupported("a pool of strings");
  const auto needed = [&](std::string_view attribute) {
    const auto given = call.integers(attribute);
    if (!given || given->empty()) call.fail("needs attribute '", attribute, "'");
    return *given;
  };
  Grams grams{needed("pool_int64s"), needed("ngram_counts"), needed("ngram_indexes"),
              call.reals("weights").value_or(std::vector<double>())};
  const auto size = static_cast<std::int64_t>(grams.pool.size());
  if (size > 1 << 16 || grams.firsts.size() > 64)
    call.unsupported("a pool of ", size, " elements for n-grams of up to ", grams.firsts.size());
  std::int64_t count = 0;
  for (std::size_t k = 0; k < grams.firsts.size(); ++k) {
    const std::int64_t end = k + 1 < grams.firsts.size() ? grams.firsts[k + 1] : size,
                       first = grams.firsts[k];
    const auto n = static_cast<std::int64_t>(k) + 1;
    if (first < 0 || end < first || end > size || (end - first) % n != 0)
      call.fail("attribute 'ngram_counts' does not fit the pool");
    count += (end - first) / n;
  }
  if (std::cmp_not_equal(grams.places.size(), count) ||
      (!grams.weights.empty() && std::cmp_not_equal(grams.weights.size(), count)))
    call.fail("the pool holds ", count, " n-grams, there are ", grams.places.size(), " indexes and ",
              grams.weights.size(), " weights");
  const auto [low, high] = std::ranges::minmax(grams.places);
  if (low < 0 || high > 1 << 24) call.fail("attribute 'ngram_indexes' reaches from ", low, " to ", high);
  return grams;
}

// [rows, n-grams]: the counts of those with `shortest` to `longest` elements, 0 of others.
Tensor counts_of(const Call& call, const Tensor& x, const Grams& grams) {
  const std::int64_t shortest = call.integer("min_gram_length", 1),
                     longest = call.integer("max_gram_length", 1), skips = call.integer("max_skip_count", 0);
  if (skips < 0 || skips > 1 << 6) call.fail("attribute 'max_skip_count' is ", skips);
  Values parts;
  for (std::size_t k = 0; k < grams.firsts.size(); ++k) {
    const auto n = static_cast<std::int64_t>(k) + 1;
    const std::int64_t first = grams.firsts[k], end = k + 1 < grams.firsts.size()
                                                          ? grams.firsts[k + 1]
                                                          : static_cast<std::int64_t>(grams.pool.size());
    const std::int64_t count = (end - first) / n;
    if (count == 0) continue;
    Tensor sum = call.builder().constant(0.0, DType::f32, {x.size(0), count});
    const Tensor pool =
        constant_of(call.builder(), Integers(grams.pool.begin() + first, grams.pool.begin() + end), x.dtype(),
                    {count, n});
    // Elements of one alone are never apart.
    for (std::int64_t skip = 0; skip <= (n == 1 ? 0 : skips) && n >= shortest && n <= longest; ++skip)
      if (const auto found = times_found(x, pool, skip + 1)) sum = sum + *found;
    parts.push_back(sum);
  }
  return graph::concat(parts, 1);
}

Values tf_idf(const Call& call) {
  const Tensor given = call.tensor(0);
  if (given.rank() != 1 && given.rank() != 2)
    call.fail("needs a tensor of 1 or 2 axes, given one of ", given.rank());
  if (!index::constant_of(given.size(-1))) call.unsupported("a symbolic number of elements in a row");
  const Grams grams = grams_of(call);
  const std::string mode = call.text("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    call.fail("attribute 'mode' must be TF, IDF or TFIDF, it is '", escaped(mode), "'");
  const Tensor x = given.rank() == 1 ? graph::unsqueeze(given, 0) : given;
  Tensor value = counts_of(call, x, grams);
  if (mode == "IDF") value = graph::cast(graph::gt(value, 0), DType::f32);
  if (mode != "TF" && !grams.weights.empty())
    value = value * constant_of(call.builder(), grams.weights, DType::f32);
  const Tensor zeros =
      call.builder().constant(0.0, DType::f32, {x.size(0), std::ranges::max(grams.places) + 1});
  const Tensor result = graph::index_update(zeros, 1, constant_of(call.builder(), grams.places, DType::i64),
                                            value, graph::Mode::add);
  return {given.rank() == 1 ? graph::squeeze(result, {0}) : result};
}

// By the first row, of few rows.
Tensor determinant(const Tensor& x, std::int64_t size) {
  if (size == 1) return graph::select(graph::select(x, -1, 0), -1, 0);
  std::optional<Tensor> sum;
  const Tensor below = graph::slice_exact(x, -2, 1, size - 1);
  for (std::int64_t column = 0; column < size; ++column) {
    const Tensor minor = graph::concat({graph::slice_exact(below, -1, 0, column),
                                        graph::slice_exact(below, -1, column + 1, size - 1 - column)},
                                       -1);
    const Tensor part = graph::select(graph::select(x, -2, 0), -1, column) * determinant(minor, size - 1);
    sum = !sum ? part : column % 2 == 0 ? *sum + part : *sum - part;
  }
  return *sum;
}
Values det(const Call& call) {
  const Tensor x = call.tensor(0);
  if (x.rank() < 2) call.fail("needs a tensor of 2 axes or more, given one of ", x.rank());
  const auto rows = index::constant_of(x.size(-2)), columns = index::constant_of(x.size(-1));
  constexpr std::int64_t most = 4;
  if (!rows || !columns || *rows < 1 || *rows > most)
    call.unsupported("a matrix of ", x.size(-2), " rows, in place of 1 to ", most, ",");
  if (*rows != *columns)
    call.fail("a matrix of ", *rows, " rows and ", *columns, " columns has no determinant");
  return {graph::cast(determinant(widened(x), *rows), x.dtype(), true)};
}

constexpr std::array rows = {
    Row{"DFT", dft},
    Row{"Det", det},
    Row{"STFT", stft},
    Row{"TfIdfVectorizer", tf_idf},
};

}  // namespace

std::span<const Row> signal_rows() { return rows; }

}  // namespace twinloom::onnx
