// See draw.h. Element e is a function of the seed and e alone, so blocks of elements are drawn side by side:
// the words of a block are SplitMix64's (Steele, Lea and Flood: Fast splittable pseudorandom number
// generators, 2014) from a start of its own. The distributions are written out, so that a seed does not
// depend on the standard library.
#include "tools/twinloom/draw.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "core/ops/convert.h"

namespace twinloom::tool {

namespace {

using ops::DType;

constexpr double most_integer = 0x1p53;  // up to here doubles hold every integer

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_whole(double x) { return x == std::floor(x) && std::abs(x) <= most_integer; }

constexpr std::uint64_t mix(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

// The random words of one block, by number.
class Words {
 public:
  Words(std::uint64_t seed, std::int64_t block)
      : start_(mix(mix(seed) + static_cast<std::uint64_t>(block) * STEP)) {}
  std::uint64_t operator[](std::int64_t number) const {
    return mix(start_ + static_cast<std::uint64_t>(number + 1) * STEP);
  }

 private:
  static constexpr std::uint64_t STEP = 0x9e3779b97f4a7c15;
  std::uint64_t start_;
};

// The x that a normal variable is above with the probability p, 0 < p <= 1/2; to nine digits (Acklam's
// rational functions).
double normal_above(double p) {
  constexpr std::array a = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                            1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr std::array b = {-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                            6.680131188771972e+01,  -1.328068155288572e+01, 1.0};
  constexpr std::array c = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                            -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr std::array d = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                            3.754408661907416e+00, 1.0};
  constexpr double TAIL = 0.02425;
  const auto at = [](const auto& coefficients, double x) {
    double value = 0;
    for (const double coefficient : coefficients) value = value * x + coefficient;
    return value;
  };
  if (p < TAIL) {
    const double q = std::sqrt(-2 * std::log(p));
    return -at(c, q) / at(d, q);
  }
  const double q = 0.5 - p, r = q * q;
  return at(a, r) * q / at(b, r);
}

// N(0, 1) from a sign, a cell of equal probability and a place in it, between whose ends the quantile is
// taken for a line; in the last cell it is computed.
class Normal {
 public:
  static const Normal& table() {
    static const Normal normal;
    return normal;
  }
  template <class Real>
  Real from(std::uint64_t sign_and_cell, double place) const {
    const std::size_t number = sign_and_cell % CELLS;
    const Cell& cell = cells_[number];
    const double size =
        number + 1 == CELLS ? normal_above((1 - place) / (2 * CELLS)) : cell.start + place * cell.width;
    // By arithmetic: a branch on a random sign is mispredicted half of the time.
    return static_cast<Real>(size * (1.0 - 2.0 * static_cast<double>(sign_and_cell >> (BITS - 1) & 1)));
  }
  static constexpr int BITS = 11;  // of the sign and the cell

 private:
  static constexpr std::size_t CELLS = std::size_t{1} << (BITS - 1);
  Normal() {
    for (std::size_t cell = 0; cell < CELLS; ++cell)
      cells_[cell].start = normal_above(0.5 - static_cast<double>(cell) / (2 * CELLS));
    for (std::size_t cell = 0; cell + 1 < CELLS; ++cell)
      cells_[cell].width = cells_[cell + 1].start - cells_[cell].start;
  }
  struct Cell {
    double start = 0, width = 0;
  };
  std::array<Cell, CELLS> cells_{};
};

constexpr std::int64_t BLOCK = 4096;  // elements that have one start

// Two elements a word of f32, one of f64: so many bits each.
template <class Real>
constexpr int DRAWN_BITS = sizeof(Real) == 4 ? 32 : 64;

// place(element, bits, a number evenly in [0, 1) from those bits that are not `used`) for each of `count`.
template <class Real, class Place>
void for_each_draw(const Words& words, std::int64_t count, int used, const Place& place) {
  constexpr int BITS = DRAWN_BITS<Real>;
  constexpr std::int64_t EACH = 64 / BITS;
  const int left = std::min(BITS - used, 53);
  const double step = std::ldexp(1.0, -left);
  const std::uint64_t mask = (std::uint64_t{1} << left) - 1;
  const auto draw = [&](std::int64_t e, std::uint64_t bits) {
    // Signed: processors have no conversion from unsigned ones.
    place(e, bits >> (BITS - std::max(used, 1)),
          static_cast<double>(static_cast<std::int64_t>(bits & mask)) * step);
  };
  const auto bits_of = [](std::uint64_t word, std::int64_t k) {
    return word >> (k * BITS) << (64 - BITS) >> (64 - BITS);
  };
  const std::int64_t whole = count / EACH;
  for (std::int64_t number = 0; number < whole; ++number) {
    const std::uint64_t word = words[number];
    for (std::int64_t k = 0; k < EACH; ++k) draw(number * EACH + k, bits_of(word, k));
  }
  for (std::int64_t e = whole * EACH; e < count; ++e) draw(e, bits_of(words[whole], e % EACH));
}

// The largest number of the type below `high`, as far as a rounding may reach it.
double below(double high, DType dtype) {
  double eps = 0x1p-24;
  if (dtype == DType::f64) eps = 0x1p-53;
  if (dtype == DType::f16) eps = 0x1p-11;
  if (dtype == DType::bf16) eps = 0x1p-8;
  return high * (1 - eps);
}

template <class Real>
void draw_real(const Specification& specification, DType dtype, const Words& words, std::int64_t count,
               Real* out) {
  if (specification.law == Law::normal) {
    const Normal& normal = Normal::table();
    return for_each_draw<Real>(
        words, count, Normal::BITS,
        [&](std::int64_t e, std::uint64_t cell, double place) { out[e] = normal.from<Real>(cell, place); });
  }
  const double low = specification.low, span = specification.high - low;
  if (span == 0) {
    std::fill_n(out, count, static_cast<Real>(low));
    return;
  }
  const double most = specification.open ? below(specification.high, dtype) : specification.high;
  for_each_draw<Real>(words, count, 0, [&](std::int64_t e, std::uint64_t, double place) {
    out[e] = static_cast<Real>(std::min(low + place * span, most));
  });
}

// Both ends included: the high half of the product of a word and how many there are.
void draw_whole(const Specification& specification, const Words& words, std::int64_t count,
                std::int64_t* out) {
  const auto low = static_cast<std::int64_t>(specification.low);
  const auto many = static_cast<std::uint64_t>(static_cast<std::int64_t>(specification.high) - low) + 1;
  __extension__ using Wide = unsigned __int128;
  for (std::int64_t e = 0; e < count; ++e)
    out[e] = low + static_cast<std::int64_t>(static_cast<std::uint64_t>(Wide{words[e]} * many >> 64));
}

// Elements in f64, f32 or i64, then in the tensor's type.
template <class Element, class Draw>
void draw_block(DType drawn, DType dtype, void* data, std::int64_t count, const Draw& draw) {
  if (drawn == dtype) return draw(static_cast<Element*>(data));
  std::array<Element, BLOCK> elements;
  draw(elements.data());
  ops::convert_spelled(drawn, dtype, elements.data(), data, count);
}

void draw_block(const Specification& specification, DType dtype, const Words& words, void* data,
                std::int64_t count) {
  if (!ops::is_floating(dtype)) {
    draw_block<std::int64_t>(DType::i64, dtype, data, count,
                             [&](std::int64_t* out) { draw_whole(specification, words, count, out); });
  } else if (dtype == DType::f64) {
    draw_real(specification, dtype, words, count, static_cast<double*>(data));
  } else {
    draw_block<float>(DType::f32, dtype, data, count,
                      [&](float* out) { draw_real(specification, dtype, words, count, out); });
  }
}

}  // namespace

void check_fits(DType dtype, const Specification& specification) {
  if (ops::is_floating(dtype)) return;
  if (specification.law == Law::normal || specification.open) {
    throw Error(
        cat("'normal' and 'uniform' are for floating types; for ", ops::name(dtype), " give LOW..HIGH"));
  }
  for (const double end : {specification.low, specification.high}) {
    if (!is_whole(end))
      throw Error(cat(end, " is not an integer that ", ops::name(dtype), " can be drawn from"));
    std::array<std::byte, 8> element{};
    double back = 0;
    ops::convert(DType::f64, dtype, &end, element.data(), 1);
    ops::convert(dtype, DType::f64, element.data(), &back, 1);
    if (back != end) throw Error(cat(end, " does not fit ", ops::name(dtype)));
  }
}

std::optional<Specification> parse_specification(const std::string& text) {
  if (text == "normal") return Specification{};
  if (text == "uniform") return Specification{Law::even, 0, 1, true};
  if (text == "zeros") return Specification{Law::even, 0, 0, false};
  if (text == "ones") return Specification{Law::even, 1, 1, false};
  const std::size_t dots = text.find("..");
  const auto low = parse_number(text.substr(0, dots));
  const auto high = dots == std::string::npos ? low : parse_number(text.substr(dots + 2));
  if (!low || !high) return std::nullopt;
  if (*low > *high) throw Error(cat("the range ", escaped(text), " has its ends the wrong way round"));
  return Specification{Law::even, *low, *high, false};
}

runtime::Tensor draw(DType dtype, std::vector<std::int64_t> sizes, const Specification& specification,
                     std::uint64_t seed) {
  check_fits(dtype, specification);
  runtime::Tensor tensor = runtime::allocate(dtype, std::move(sizes));
  const std::int64_t count = runtime::element_count(tensor);
  const std::int64_t blocks = (count + BLOCK - 1) / BLOCK;
  tbb::parallel_for(std::int64_t{0}, blocks, [&](std::int64_t block) {
    std::byte* const data = static_cast<std::byte*>(tensor.data) + block * BLOCK * ops::size_of(dtype);
    draw_block(specification, dtype, Words(seed, block), data, std::min(BLOCK, count - block * BLOCK));
  });
  return tensor;
}

}  // namespace twinloom::tool
