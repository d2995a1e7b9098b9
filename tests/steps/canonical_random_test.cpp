// Random lists of steps for sums of floats: each that is not refused keeps every bit.
#include <gtest/gtest.h>

#include <random>

#include "core/base/text.h"
#include "tests/steps/canonical_nests.h"
#include "tests/steps/lists.h"

namespace twinloom::tests {

namespace {

// Factors of random lengths in a random order, bound at random: what is not refused keeps every bit.
class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool one_of(std::uint64_t count) { return below(count) == 0; }

  steps::Split split(const std::string& axis) {
    steps::Split split{axis, {}, one_of(3) ? steps::Tail::remainder : steps::Tail::mask};
    std::int64_t factor = std::int64_t{16384} >> below(7);
    if (one_of(8)) split.factors.push_back(factor * 3);
    for (; factor > 1; factor >>= 1 + below(4)) {
      const bool crosses = (factor < 1024 && !split.factors.empty() && split.factors.back() > 1024) ||
                           (factor < 256 && !split.factors.empty() && split.factors.back() > 256);
      if (crosses && !one_of(20))
        split.factors.push_back(factor < 256 && split.factors.back() <= 1024 ? 256 : 1024);
      if (split.factors.empty() || factor < split.factors.back()) split.factors.push_back(factor);
    }
    return split;
  }

  std::vector<std::string> shuffled(std::vector<std::string> names, std::uint64_t swaps) {
    for (; swaps > 0; --swaps) std::swap(names[below(names.size())], names[below(names.size())]);
    return names;
  }

 private:
  std::mt19937_64 random_;
};

// Adds the step to the list unless the list would be refused then.
void try_to_add(const loops::Program& nest, std::vector<steps::Step>& list, steps::Step next) {
  list.push_back(std::move(next));
  if (!why_none(nest, list).empty()) list.pop_back();
}

std::vector<steps::Step> random_list(const loops::Program& nest, bool columns, Random& random) {
  const steps::Split split = random.split("k");
  std::vector<steps::Step> list = {{split}};
  std::vector<std::string> names;
  for (std::size_t number = 0; number <= split.factors.size(); ++number) names.push_back(cat("k.", number));
  if (columns) {
    list.push_back({steps::Split{"j", {4}, steps::Tail::mask}});
    names.push_back("j.1");
  }
  for (int tries = 0; tries < 4; ++tries) {
    std::vector<std::string> order = random.shuffled(names, 1 + random.below(4));
    if (columns) order.insert(order.begin(), "j.0");
    try_to_add(nest, list, {steps::Reorder{order}});
    if (list.size() > (columns ? 2u : 1u)) break;
  }
  constexpr loops::Bind BINDS[] = {loops::Bind::unroll, loops::Bind::vector, loops::Bind::thread};
  for (int tries = 0; tries < 5; ++tries)
    try_to_add(nest, list, {steps::BindLoop{names[random.below(names.size())], BINDS[random.below(3)]}});
  return list;
}

TEST(Canonical, RandomLists) {
  int applied = 0, long_ones = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const bool columns = random.one_of(3);
    const auto n = static_cast<std::int64_t>(1 + random.below(random.one_of(2) ? 5000 : 1100));
    const std::string_view text = columns ? COLUMN_SUMS : ROW_SUMS;
    const loops::Program nest = random.one_of(2) ? loops::parse(text) : with_length(text, n);
    const std::vector<steps::Step> list = random_list(nest, columns, random);
    if (!why_none(nest, list).empty()) continue;
    SCOPED_TRACE(cat("seed ", seed, ", n = ", n));
    expect_same_bits(nest, list, sizes_of(columns ? 6 : 2, n));
    if (HasFatalFailure()) return;
    ++applied;
    long_ones += list.size() > 4 ? 1 : 0;
  }
  EXPECT_GT(applied, 150);
  EXPECT_GT(long_ones, 60);
}

}  // namespace

}  // namespace twinloom::tests
