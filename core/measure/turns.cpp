// See turns.h.
#include "core/measure/turns.h"

#include <exception>
#include <optional>

#include "core/measure/measure.h"

namespace twinloom::measure {

namespace {

class Rounds {
 public:
  Rounds(std::vector<Runner> runners, const Turns& turns)
      : runners_(std::move(runners)), turns_(turns), seconds_(runners_.size()), taken_(runners_.size()) {}

  std::vector<Taken> run() {
    for (std::size_t k = 0; k < runners_.size(); ++k) warm_up(k);
    for (int round = 0; round < turns_.rounds; ++round)
      for (std::size_t k = 0; k < runners_.size(); ++k)
        if (const auto seconds = run_once(k)) seconds_[k].push_back(*seconds);
    for (std::size_t k = 0; k < runners_.size(); ++k)
      if (!seconds_[k].empty() && taken_[k].failure.empty()) taken_[k].seconds = median(seconds_[k]);
    return std::move(taken_);
  }

 private:
  std::optional<double> run_once(std::size_t k) {
    if (!runners_[k]) return std::nullopt;
    try {
      return runners_[k]();
    } catch (const std::exception& error) {
      taken_[k].failure = error.what();
      runners_[k] = nullptr;
      return std::nullopt;
    }
  }

  void warm_up(std::size_t k) {
    const auto seconds = run_once(k);
    if (k == 0) first_ = seconds;
    if (!seconds || !first_ || *seconds <= turns_.slow_from * *first_) return;
    taken_[k].seconds = *seconds;
    runners_[k] = nullptr;
  }

  std::vector<Runner> runners_;
  const Turns& turns_;
  std::optional<double> first_;  // of the first runner's runs
  std::vector<std::vector<double>> seconds_;
  std::vector<Taken> taken_;
};

}  // namespace

std::vector<Taken> by_turns(std::vector<Runner> runners, const Turns& turns) {
  return Rounds(std::move(runners), turns).run();
}

std::size_t fastest_of(const std::vector<Taken>& taken) {
  constexpr double CLEARLY = 0.97;
  std::size_t fastest = 0;
  double least = taken.empty() ? 0 : CLEARLY * taken.front().seconds;
  for (std::size_t k = 1; k < taken.size(); ++k) {
    const double seconds = taken[k].seconds;
    if (seconds <= 0 || (least > 0 && seconds >= least)) continue;
    fastest = k;
    least = seconds;
  }
  return fastest;
}

}  // namespace twinloom::measure
