// See size_class.h.
#include "core/loops/size_class.h"

#include <algorithm>
#include <numeric>

#include "core/base/integers.h"
#include "core/loops/rewrite.h"

namespace twinloom::loops {

namespace {

// Powers of two, which many rows have and all threads and vectors divide, are classes of their own. Others
// lie between two of them, from 8192 on with 15 steps between: shared memory has no room to waste for longer
// rows.
index::Range range_of_extent(std::int64_t value, std::int64_t most) {
  constexpr std::int64_t LEAST = 32, FINE = 8192;
  if (value > most) return {most + 1, {}};
  if (value <= LEAST) return {0, std::min(LEAST, most)};
  const std::int64_t power = next_power_of_two(value);
  if (power == value) return {value, value};
  if (power <= FINE) return {power / 2 + 1, std::min(power - 1, most)};
  const std::int64_t step = power / 32, high = ceil_div(value, step) * step;
  return {high - step + 1, std::min({high, power - 1, most})};
}

index::Range range_of_amount(std::int64_t value) {
  constexpr std::int64_t RATIO = 8, LARGEST = std::int64_t{1} << 60;
  std::int64_t high = RATIO;
  while (high < value && high < LARGEST) high *= RATIO;
  return {high == RATIO ? 0 : high / RATIO + 1, high};
}

// Rounded, so that the same kernels come of sizes that are nearly the same.
std::int64_t usual_of(std::int64_t size) {
  constexpr std::int64_t PARTS = 8;  // of the power of two below
  const std::int64_t step =
      std::max<std::int64_t>(next_power_of_two(std::max<std::int64_t>(size, 1)) / 2 / PARTS, 1);
  return std::max<std::int64_t>((size + step / 2) / step * step, 1);
}

index::Range both(const index::Range& a, const index::Range& b) {
  index::Range range = a;
  if (b.low) range.low = std::max(*b.low, a.low.value_or(*b.low));
  if (b.high) range.high = std::min(*b.high, a.high.value_or(*b.high));
  return range;
}

// Numbers in place of sizes that can have no other value.
Program with_only_values(Program nest) {
  index::Substitution known;
  for (const SizeInfo& size : nest.sizes)
    if (size.range.low && size.range.low == size.range.high) known.emplace(size.symbol, *size.range.low);
  if (known.empty()) return nest;
  nest.body = substitute(nest.body, known);
  for (BufferInfo& buffer : nest.buffers) buffer.count = index::substitute(buffer.count, known);
  return nest;
}

}  // namespace

SizeAnswer answer(const SizeQuestion& question, const index::Values& sizes) {
  const std::int64_t value = index::evaluate(question.what, sizes);
  switch (question.kind) {
    case SizeQuestion::Kind::extent:
      return {range_of_extent(value, question.most), 1};
    case SizeQuestion::Kind::amount:
      return {range_of_amount(value), 1};
    case SizeQuestion::Kind::divisor:
      return {{}, std::gcd(value, question.most)};
    case SizeQuestion::Kind::whole:
      return {{}, value % question.most == 0 ? question.most : 1};
  }
  return {};
}

bool SizeClass::holds(const index::Values& sizes) const {
  for (std::size_t at = 0; at < questions.size(); ++at)
    if (answer(questions[at], sizes) != answers[at]) return false;
  return true;
}

void SizeClass::add(const std::vector<SizeQuestion>& asked, const index::Values& sizes) {
  for (const SizeQuestion& question : asked) {
    if (std::ranges::find(questions, question) != questions.end()) continue;
    questions.push_back(question);
    answers.push_back(answer(question, sizes));
  }
}

Program narrowed(const Program& nest, const std::vector<SizeQuestion>& questions,
                 const index::Values& sizes) {
  Program result = nest;
  for (SizeInfo& size : result.sizes) {
    for (const SizeQuestion& question : questions) {
      if (!index::mentions(question.what, size.symbol)) continue;
      const SizeAnswer known = answer(question, sizes);
      size.usual = usual_of(sizes.at(size.symbol));
      // Of a product only the whole is known.
      if (question.what != index::Expr(size.symbol)) continue;
      size.range = both(size.range, known.range);
      size.divisor = std::lcm(size.divisor, known.divisor);
    }
    for (const SizeQuestion& question : questions) {
      // No more divisible than sizes of the class are.
      if (question.kind != SizeQuestion::Kind::divisor || question.what != index::Expr(size.symbol)) continue;
      size.usual =
          *size.usual - *size.usual % question.most + answer(question, sizes).divisor % question.most;
    }
  }
  return with_only_values(std::move(result));
}

}  // namespace twinloom::loops
