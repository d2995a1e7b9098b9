// Graphs that nobody checked end as a result, the same everywhere, or as an Error: no crash, no Bug, no read
// outside a tensor, no long wait. TWINLOOM_CASES asks for another number of texts and of calls, TWINLOOM_SEED
// for other ones.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>

#include "core/base/error.h"
#include "tests/fuzz/calls.h"
#include "tests/fuzz/run.h"
#include "tests/fuzz/texts.h"

namespace twinloom::tests {

namespace {

constexpr int ranges = 10;
constexpr double most_seconds = 20;  // of a processor for one case

std::int64_t number_from(const char* variable, std::int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}

// What a case is: the graph, or the Error that it ends in.
using Make = graph::Graph (*)(std::uint64_t seed);

graph::Graph by_calls(std::uint64_t seed) { return called(seed).graph; }

std::string text_of(std::uint64_t seed) {
  const std::string text = graph::print(by_calls(seed % 997));
  return damaged(text, seed % 5 == 0 ? 3 : 1, seed);
}
graph::Graph by_text(std::uint64_t seed) { return graph::parse(text_of(seed)); }

Outcome outcome_of(Make make, std::uint64_t seed) {
  try {
    return run_everywhere(make(seed), seed);
  } catch (const Error& error) {
    return {Fate::refused, error.what()};
  } catch (const std::exception& problem) {
    return {Fate::wrong, problem.what()};
  }
}

struct Kind {
  const char* name;
  Make make;
  std::string (*text)(std::uint64_t seed);
};
constexpr Kind kinds[] = {
    {"calls", by_calls, [](std::uint64_t seed) { return graph::print(by_calls(seed)); }},
    {"texts", by_text, text_of}};

class Fuzz : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Fuzz, EndsAsAResultOrAnError) {
  const auto [at, range] = GetParam();
  const Kind& kind = kinds[at];
  const std::int64_t each = (number_from("TWINLOOM_CASES", TWINLOOM_DEFAULT_CASES) + ranges - 1) / ranges;
  const auto first = static_cast<std::uint64_t>(number_from("TWINLOOM_SEED", 1) + range * each);
  std::map<Fate, int> count;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(each); ++seed) {
    const bool says = std::getenv("TWINLOOM_SAY") != nullptr;
    if (says) std::cout << kind.name << " " << seed << ":\n" << kind.text(seed) << std::flush;
    const std::clock_t start = std::clock();
    const Outcome outcome = outcome_of(kind.make, seed);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (says) std::cout << outcome.words << "\n";
    ++count[outcome.fate];
    EXPECT_LT(seconds, most_seconds) << kind.name << ", seed " << seed;
    EXPECT_FALSE(outcome.fate == Fate::refused && outcome.words.empty()) << kind.name << ", seed " << seed;
    if (outcome.fate != Fate::wrong) continue;
    ADD_FAILURE() << kind.name << ", seed " << seed << ": " << outcome.words << "\n"
                  << kind.text(seed).substr(0, 6000);
  }
  std::cout << kind.name << ", seeds " << first << " on: " << count[Fate::ran] << " ran, "
            << count[Fate::refused] << " refused, " << count[Fate::too_large] << " too large\n";
}

INSTANTIATE_TEST_SUITE_P(All, Fuzz, testing::Combine(testing::Range(0, 2), testing::Range(0, ranges)));

}  // namespace

}  // namespace twinloom::tests
