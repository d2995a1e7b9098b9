// Medians, quantiles and repeated runs. See measure.h.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/error.h"
#include "core/measure/measure.h"

namespace twinloom::measure {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

std::vector<double> repeat(const Enough& enough, const std::function<void()>& work) {
  for (int run = 0; run < enough.warm_up; ++run) work();
  std::vector<double> durations;
  const auto start = Clock::now();
  const auto goes_on = [&] {
    const auto runs = static_cast<int>(durations.size());
    return runs < enough.least || (runs < enough.most && seconds_since(start) < enough.seconds);
  };
  while (goes_on()) {
    const auto begin = Clock::now();
    work();
    durations.push_back(seconds_since(begin));
  }
  return durations;
}

double quantile(std::vector<double> numbers, double q) {
  CHECK(!numbers.empty() && q >= 0 && q <= 1, "quantile ", q, " of ", numbers.size(), " numbers");
  std::ranges::sort(numbers);
  const double at = q * static_cast<double>(numbers.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, numbers.size() - 1);
  const double share = at - std::floor(at);
  return numbers[below] * (1 - share) + numbers[above] * share;
}

double median(std::vector<double> numbers) { return quantile(std::move(numbers), 0.5); }

double least(const std::vector<double>& numbers) {
  CHECK(!numbers.empty(), "the least of no numbers");
  return *std::ranges::min_element(numbers);
}

}  // namespace twinloom::measure
