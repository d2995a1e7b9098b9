// See sweep.h.
#include "tests/ops/exhaustive/sweep.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <mutex>
#include <thread>

#include "tests/ops/vector/usable.h"

namespace twinloom::ops::testing {

namespace {

constexpr std::size_t block = 1 << 12;
constexpr std::int64_t blocks = (std::int64_t{1} << 32) / block;
constexpr std::int64_t checked_block = 16;  // one element of such a block goes to MPFR

// An error in ulp that is too large rather than too small, without branches; NaN where that takes more
// thought.
double rough_ulps(float got, double want) {
  constexpr double nearer = 1 - 0x1p-44;  // as judge.h says of powers of two
  const std::uint64_t exponent = (std::bit_cast<std::uint64_t>(want * nearer) >> 52) & 0x7ff;
  const std::uint64_t place = std::max<std::uint64_t>(exponent, 1023 - 126);
  const double inverse = std::bit_cast<double>((2 * 1023 + 23 - place) << 52);
  const double error = std::fabs(double{got} - want) * inverse;
  const bool agree = (std::isnan(got) && std::isnan(want)) || double{got} == want;
  return agree ? 0 : error;
}

class Walker {
 public:
  explicit Walker(Pointwise op)
      : narrow_(loop_of(best_table(), op, DType::f32, 16)),
        wide_(loop_of(best_table(), reference_of(op).full.value_or(op), DType::f64, 16)),
        judge_(op, DType::f32, DType::f32, ulp_bound(op, DType::f32)) {}

  void walk(std::int64_t number) {
    for (std::size_t i = 0; i < block; ++i) {
      inputs_[i] = std::bit_cast<float>(static_cast<std::uint32_t>(number * std::int64_t{block}) +
                                        static_cast<std::uint32_t>(i));
      wide_inputs_[i] = double{inputs_[i]};
    }
    const void* pointer = inputs_.data();
    narrow_(&pointer, results_.data(), block);
    pointer = wide_inputs_.data();
    wide_(&pointer, filter_.data(), block);
    for (std::size_t i = 0; i < block; ++i) errors_[i] = rough_ulps(results_[i], filter_[i]);
    judge_suspects();
    if (number % checked_block == 0) add(static_cast<std::size_t>(number / checked_block) % block, true);
  }
  const Judge& judge() const { return judge_; }

 private:
  // What is worse than all before, or might be beyond the bound.
  void judge_suspects() {
    const auto limit = [&] { return std::min(judge_.verdict().worst.ulps, judge_.certain()); };
    double known = limit();
    bool any = false;
    for (const double error : errors_) any |= !(error <= known);
    for (std::size_t i = 0; any && i < block; ++i) {
      if (errors_[i] <= known) continue;
      add(i, false);
      known = limit();
    }
  }
  void add(std::size_t i, bool checked) {
    judge_.add({wide_inputs_[i], 0, double{results_[i]}}, filter_[i], checked);
  }

  VectorLoop narrow_, wide_;
  Judge judge_;
  std::array<float, block> inputs_, results_;
  std::array<double, block> wide_inputs_, filter_, errors_;
};

void merge(Sweep& all, const Judge& judge) {
  const Verdict& part = judge.verdict();
  if (!(part.worst.ulps <= all.verdict.worst.ulps)) all.verdict.worst = part.worst;
  all.verdict.filter_error = std::max(all.verdict.filter_error, part.filter_error);
  all.verdict.by_mpfr += part.by_mpfr;
  all.verdict.checked += part.checked;
  if (!all.complaint) all.complaint = judge.complaint();
}

}  // namespace

Sweep sweep(Pointwise op, int part, int threads) {
  Sweep all;
  std::atomic<std::int64_t> next = 0;
  std::mutex mutex;
  const auto work = [&] {
    Walker walker(op);
    std::int64_t walked = 0;
    for (std::int64_t number; (number = next.fetch_add(part)) < blocks; ++walked) walker.walk(number);
    const std::lock_guard lock(mutex);
    merge(all, walker.judge());
    all.inputs += walked * std::int64_t{block};
  };
  std::vector<std::jthread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back(work);
  workers.clear();
  return all;
}

}  // namespace twinloom::ops::testing
