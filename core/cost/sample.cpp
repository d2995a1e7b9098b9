// See sample.h.
#include "core/cost/sample.h"

#include <algorithm>
#include <functional>
#include <random>

#include "core/cost/constants.h"
#include "core/index/divisors.h"

namespace twinloom::cost {

namespace {

// What the expression mentions: 0 for the axes of the box, and for what nothing is known of.
template <class Expression>
index::Values values_at_start(const Expression& expression, const std::vector<Side>& box,
                              const index::Values& known) {
  index::Values values;
  for (const index::Symbol& symbol : index::symbols_of(expression)) {
    const auto found =
        std::ranges::find(box, symbol, &Side::axis) == box.end() ? known.find(symbol) : known.end();
    values.emplace_hint(values.end(), symbol, found == known.end() ? 0 : found->second);
  }
  return values;
}

// An offset along one axis, at multiples of a step.
class Along {
 public:
  Along(const index::Expr& offset, const index::Symbol& axis, index::Values& values)
      : offset_(offset), axis_(axis), values_(values) {}
  ~Along() { values_[axis_] = 0; }

  std::vector<Digit> digits(std::int64_t extent) {
    std::vector<Digit> digits;
    const std::int64_t start = at(0);
    for (std::int64_t step = 1; step < extent && digits.size() < constants::MOST_DIGITS;) {
      const std::int64_t rounds = (extent + step - 1) / step, stride = at(step) - start;
      const std::int64_t straight = straight_rounds(step, rounds, start, stride);
      if (stride != 0) digits.push_back({static_cast<double>(straight), static_cast<double>(stride)});
      step *= straight;
    }
    return digits;
  }

 private:
  std::int64_t at(std::int64_t place) {
    values_[axis_] = place;
    return index::evaluate(offset_, values_);
  }
  // As many rounds as the offset goes on as it began: at least 2.
  std::int64_t straight_rounds(std::int64_t step, std::int64_t rounds, std::int64_t start,
                               std::int64_t stride) {
    const auto is_straight = [&](std::int64_t round) { return at(round * step) == start + round * stride; };
    std::int64_t good = 1, bad = 2;
    while (bad < rounds && is_straight(bad)) good = bad, bad *= 2;
    bad = std::min(bad, rounds);
    while (bad - good > 1) {
      const std::int64_t middle = good + (bad - good) / 2;
      (is_straight(middle) ? good : bad) = middle;
    }
    return good + 1;
  }

  const index::Expr& offset_;
  const index::Symbol& axis_;
  index::Values& values_;
};

// The same for every sample; after so many they begin again.
std::uint64_t drawn(std::size_t number) {
  static const std::vector<std::uint64_t> all = [] {
    constexpr std::size_t MOST = 4096;
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> made(MOST);
    std::ranges::generate(made, std::ref(random));
    return made;
  }();
  return all[number % all.size()];
}

// An axis that a condition mentions, and which of a sample's numbers it is drawn by.
struct Drawn {
  index::Symbol axis;
  std::int64_t* value;
  std::uint64_t extent;
  std::size_t number;
};

// b - a of a < b.
struct Gap {
  std::int64_t start;
  std::vector<std::int64_t> scales;  // by axis
  std::int64_t at(const std::vector<Drawn>& axes) const {
    std::int64_t value = start;
    for (std::size_t k = 0; k < axes.size(); ++k) value += scales[k] * *axes[k].value;
    return value;
  }
};

// Nothing where one is not linear.
std::optional<std::vector<Gap>> gaps_of(const index::Condition& condition, const index::Values& start,
                                        const std::vector<Drawn>& axes) {
  std::vector<Gap> gaps;
  for (const index::Less& less : condition.all) {
    const index::Expr gap = less.b - less.a;
    gaps.push_back({index::evaluate(gap, start), {}});
    for (const Drawn& drawn : axes) {
      const auto scale = index::constant_scale_in(gap, drawn.axis);
      if (!scale) return std::nullopt;
      gaps.back().scales.push_back(*scale);
    }
  }
  return gaps;
}

}  // namespace

Motion motion_of(const index::Expr& offset, const std::vector<Side>& box, const index::Values& known) {
  index::Values values = values_at_start(offset, box, known);
  if (index::bad_divisor(offset, values)) return {0, std::vector<std::vector<Digit>>(box.size())};
  Motion motion{index::evaluate(offset, values), {}};
  for (const Side& side : box) {
    if (!values.contains(side.axis) || side.extent < 2) {
      motion.along.emplace_back();
    } else if (const auto scale = index::constant_scale_in(offset, side.axis)) {
      motion.along.push_back({{static_cast<double>(side.extent), static_cast<double>(*scale)}});
    } else {
      motion.along.push_back(Along(offset, side.axis, values).digits(side.extent));
    }
  }
  return motion;
}

double share_of(const index::Condition& condition, const std::vector<Side>& box, const index::Values& known) {
  constexpr double LEAST = 1.0 / constants::SAMPLE;
  if (condition.all.empty()) return 1;
  index::Values values = values_at_start(condition, box, known);
  if (index::bad_divisor(condition, values)) return LEAST;
  std::vector<Drawn> moving;
  std::size_t draws = 0;  // of a sample
  for (const Side& side : box) {
    if (side.extent <= 0) continue;
    if (const auto found = values.find(side.axis); found != values.end())
      moving.push_back({side.axis, &found->second, static_cast<std::uint64_t>(side.extent), draws});
    ++draws;
  }
  const auto gaps = gaps_of(condition, values, moving);
  const auto holds = [&] {
    return gaps ? std::ranges::all_of(*gaps, [&](const Gap& gap) { return gap.at(moving) > 0; })
                : index::evaluate(condition, values);
  };
  int held = 0;
  for (std::size_t sample = 0; sample < constants::SAMPLE; ++sample) {
    for (const Drawn& side : moving)
      *side.value = static_cast<std::int64_t>(drawn(sample * draws + side.number) % side.extent);
    held += holds() ? 1 : 0;
  }
  return std::max(held * LEAST, LEAST);
}

}  // namespace twinloom::cost
