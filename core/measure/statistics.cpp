// Medians, quantiles and repeated runs. See measure.h.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/measure/measure.h"

namespace twinloom::measure {

std::vector<double> repeat(const Enough& enough, const std::function<void()>& work) {
  for (int run = 0; run < enough.warm_up; ++run) work();
  std::vector<double> durations;
  double spent = 0;
  const auto goes_on = [&] {
    const auto runs = static_cast<int>(durations.size());
    return runs < enough.least || (runs < enough.most && spent < enough.seconds);
  };
  Stopwatch stopwatch;
  while (goes_on()) {
    work();
    durations.push_back(stopwatch.lap());
    spent += durations.back();
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
