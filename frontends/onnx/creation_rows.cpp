// Operators that make tensors of numbers, and those that say sizes.
#include <array>
#include <cmath>
#include <numbers>

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "frontends/onnx/constants.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::Shape;
using index::Expr;
using ops::DType;

AnyValues constant(const Call& call) {
  graph::Builder& builder = call.builder();
  if (auto array = call.array("value")) return {{builder.constant(*std::move(array)), call.narrow("value")}};
  if (call.has_attribute("value_float")) return {builder.constant(call.real("value_float", 0), DType::f32)};
  if (call.has_attribute("value_int")) return {builder.constant(call.integer("value_int", 0), DType::i64)};
  if (const auto reals = call.reals("value_floats")) return {constant_of(builder, *reals, DType::f32)};
  if (const auto integers = call.integers("value_ints")) return {constant_of(builder, *integers, DType::i64)};
  call.unsupported("a constant that is a text or sparse");
}

// The one number of an attribute, or 0 of f32.
struct Filling {
  ops::Number number = 0.0;
  DType dtype = DType::f32;
};
Filling filling(const Call& call) {
  const auto array = call.array("value");
  if (!array) return {};
  const auto bytes = array->bytes.read();
  if (bytes.size() != static_cast<std::size_t>(ops::size_of(array->dtype)))
    call.fail("attribute 'value' must have one element");
  return {ops::load_number(array->dtype, bytes.data()), array->dtype};
}

void check_sizes(const Call& call, const Shape& shape) {
  for (const Expr& size : shape)
    if (const auto known = index::constant_of(size); known && *known < 0) call.fail("a size is ", *known);
}

AnyValues constant_of_shape(const Call& call) {
  const auto [number, dtype] = filling(call);
  const Shape shape = call.sizes(0);
  check_sizes(call, shape);
  return {{call.builder().constant(number, dtype, shape), call.narrow("value")}};
}

// The sizes from `start` to `end`, clamped to the axes that there are.
Values shape(const Call& call) {
  const Tensor x = call.tensor(0);
  const std::int64_t rank = x.rank();
  const auto clamped = [&](std::int64_t given) {
    return std::clamp<std::int64_t>(given < 0 ? given + rank : given, 0, rank);
  };
  const std::int64_t start = clamped(call.integer("start", 0)), end = clamped(call.integer("end", rank));
  Values sizes;
  Integers known;
  for (std::int64_t d = start; d < end; ++d) {
    const Expr size = x.size(static_cast<int>(d));
    sizes.push_back(graph::reshape(call.builder().size(size), {1}));
    if (const auto number = index::constant_of(size)) known.push_back(*number);
  }
  if (known.size() == sizes.size()) return {constant_of(call.builder(), known, DType::i64)};
  return {graph::concat(sizes, 0)};
}
Values size(const Call& call) { return {call.builder().size(call.tensor(0).count())}; }

// start, start + delta, ... before limit: ceil((limit - start) / delta) of them, at least none.
Values range(const Call& call) {
  const DType dtype = call.tensor(0).dtype();
  if (ops::is_integer(dtype)) {
    const auto one = [&](std::size_t input) {
      const auto numbers = call.sizes(input);
      if (numbers.size() != 1) call.fail("input ", input, " must be one number");
      return numbers[0];
    };
    const Expr start = one(0), limit = one(1);
    const std::int64_t delta = call.integer(2);
    if (delta == 0 || delta == INT64_MIN) call.fail("delta must not be ", delta);
    const Expr span = delta > 0 ? limit - start : start - limit;
    const Expr count = index::greatest(index::ceil_div(span, Expr(std::abs(delta))), Expr(0));
    call.ignore({"stash_type"});
    const Tensor positions = call.builder().iota({count}, 0, DType::i64);
    return {graph::cast(positions * delta + call.builder().size(start), dtype)};
  }
  std::array<double, 3> numbers{};
  for (std::size_t input = 0; input < numbers.size(); ++input) {
    const auto given = call.reals(input);
    if (given.size() != 1) call.fail("input ", input, " must be one number");
    numbers[input] = given[0];
  }
  const auto [start, limit, delta] = numbers;
  const double count = std::ceil((limit - start) / delta);
  constexpr double most = 1LL << 40;
  if (!(count <= most)) call.fail("asks for ", count, " elements; there can be ", most);
  const auto elements = static_cast<std::int64_t>(std::max(count, 0.0));
  // Of 16 bits from opset 27 on.
  const DType stashed = call.dtype("stash_type", DType::f32),
              compute = ops::is_16_bit_float(dtype) ? stashed : dtype;
  const Tensor positions = graph::cast(call.builder().iota({elements}, 0, DType::i64), compute);
  return {graph::cast(positions * delta + start, dtype)};
}

Values eye_like(const Call& call) {
  const Tensor x = call.tensor(0);
  if (x.rank() != 2) call.fail("needs a tensor of 2 axes, given one of ", x.rank());
  graph::Builder& builder = call.builder();
  const Tensor row = builder.iota(x.shape(), 0), column = builder.iota(x.shape(), 1);
  return {graph::cast(graph::eq(column - row, call.integer("k", 0)), call.dtype("dtype", x.dtype()))};
}

// A sum of cosines of 2 pi n / N, where N is the size, or one less of a symmetric window.
template <const std::array<double, 3>& factors>
Values window(const Call& call) {
  const auto sizes = call.sizes(0);
  if (sizes.size() != 1) call.fail("the size must be one number");
  check_sizes(call, sizes);
  graph::Builder& builder = call.builder();
  const Tensor n = graph::cast(builder.iota({sizes[0]}, 0), DType::f64);
  const Expr last = call.truth("periodic", true) ? sizes[0] : sizes[0] - 1;
  const Tensor angle = n * (2 * std::numbers::pi) / graph::cast(builder.size(last), DType::f64);
  const Tensor value = graph::cos(angle) * -factors[1] + graph::cos(angle * 2.0) * factors[2] + factors[0];
  return {graph::cast(value, call.dtype("output_datatype", DType::f32))};
}
constexpr std::array<double, 3> hann = {0.5, 0.5, 0};
constexpr std::array<double, 3> hamming = {25.0 / 46, 1 - 25.0 / 46, 0};
constexpr std::array<double, 3> blackman = {0.42, 0.5, 0.08};

// The triangles of a bank of filters, equally far apart on the mel scale, over the bins of a spectrum.
Values mel_weight_matrix(const Call& call) {
  const std::int64_t bands = call.integer(0), length = call.integer(1), rate = call.integer(2);
  const auto low = call.reals(3), high = call.reals(4);
  const bool is_good = bands > 0 && length > 0 && rate > 0 && low.size() == 1 && high.size() == 1;
  if (!is_good || bands > 1 << 16 || length > 1 << 24) call.fail("needs numbers above 0 and two frequencies");
  const auto to_mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double first = to_mel(low[0]), step = (to_mel(high[0]) - first) / static_cast<double>(bands + 2);
  const std::int64_t bins = length / 2 + 1;
  if (bins > (1 << 24) / bands) call.unsupported("a matrix of ", bins, " rows and ", bands, " columns");
  std::vector<double> edges;
  for (std::int64_t k = 0; k < bands + 2; ++k) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(k) * step + first) / 2595) - 1);
    edges.push_back(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate)));
  }
  std::vector<double> weights(static_cast<std::size_t>(bins * bands));
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    for (std::int64_t band = 0; band < bands; ++band) {
      const auto at = static_cast<double>(bin);
      const double left = edges[static_cast<std::size_t>(band)],
                   middle = edges[static_cast<std::size_t>(band) + 1],
                   right = edges[static_cast<std::size_t>(band) + 2];
      double& weight = weights[static_cast<std::size_t>(bin * bands + band)];
      if (middle == left && at == middle) weight = 1;
      if (at >= left && at <= middle && middle > left) weight = (at - left) / (middle - left);
      if (at >= middle && at < right && right > middle) weight = (right - at) / (right - middle);
    }
  }
  return {constant_of(call.builder(), weights, call.dtype("output_datatype", DType::f32), {bins, bands})};
}

constexpr std::array rows = {
    Row{"BlackmanWindow", window<blackman>},       any_row("Constant", constant),
    any_row("ConstantOfShape", constant_of_shape), Row{"EyeLike", eye_like},
    Row{"HammingWindow", window<hamming>},         Row{"HannWindow", window<hann>},
    Row{"MelWeightMatrix", mel_weight_matrix},     Row{"Range", range},
    Row{"Shape", shape, 1, nullptr, Narrow::read}, Row{"Size", size, 1, nullptr, Narrow::read},
};

}  // namespace

std::span<const Row> creation_rows() { return rows; }

}  // namespace twinloom::onnx
