// Random graphs: every stage gives the evaluator's bits. A test is a range of seeds, so that they run
// side by side; TWINLOOM_GRAPHS asks for another number of graphs in all, TWINLOOM_SEED for other seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>

#include "core/base/error.h"
#include "tests/conformance/check.h"
#include "tests/conformance/shrink.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {

namespace {

constexpr int ranges = 20;

std::int64_t number_from(const char* variable, std::int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}

std::uint64_t first_seed() { return static_cast<std::uint64_t>(number_from("TWINLOOM_SEED", 1)); }
std::int64_t graph_count() { return number_from("TWINLOOM_GRAPHS", TWINLOOM_DEFAULT_GRAPHS); }

class RandomGraphs : public testing::TestWithParam<int> {};

TEST_P(RandomGraphs, AllStagesAgree) {
  const std::int64_t each = (graph_count() + ranges - 1) / ranges;
  const std::uint64_t first =
      first_seed() + static_cast<std::uint64_t>(GetParam()) * static_cast<std::uint64_t>(each);
  std::cout << "seeds " << first << " to " << first + static_cast<std::uint64_t>(each) - 1 << "\n";
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(each); ++seed) {
    if (const auto report = report_of({seed})) ADD_FAILURE() << *report;
  }
  EXPECT_NO_THROW(check_what_stages_kept());
}

INSTANTIATE_TEST_SUITE_P(Range, RandomGraphs, testing::Range(0, ranges));

TEST(RandomGraphsHold, EveryFeatureOften) {
  constexpr int graphs = 500;
  std::array<int, feature_count> having{};
  std::vector<int> nodes;
  Counts all;
  int framed = 0, symbolic = 0, empty = 0, attempts = 0, skipped = 0;
  for (std::uint64_t seed = first_seed(); nodes.size() < graphs; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    Generated generated;
    EXPECT_NO_THROW(generated = generate({seed, 0}));
    for (std::size_t at = 0; at < feature_count; ++at) having[at] += generated.features.test(at) ? 1 : 0;
    const Counts counts = count(generated);
    nodes.push_back(counts.nodes);
    all.lengths += counts.lengths;
    all.near_borders += counts.near_borders;
    all.above_2_17 += counts.above_2_17;
    framed += counts.framed ? 1 : 0;
    symbolic += counts.symbolic ? 1 : 0;
    attempts += generated.attempts;
    skipped += generated.skipped;
    empty += generated.graph.results().empty() ? 1 : 0;
  }
  std::ranges::sort(nodes);
  for (std::size_t at = 0; at < feature_count; ++at)
    EXPECT_GE(having[at], graphs / 20) << name(static_cast<Feature>(at));
  EXPECT_GE(nodes[graphs / 2], 12);
  EXPECT_GE(all.near_borders * 4, all.lengths) << all.near_borders << " of " << all.lengths;
  EXPECT_GE(all.above_2_17 * 20, all.lengths) << all.above_2_17 << " of " << all.lengths;
  EXPECT_GE(framed * 10, graphs * 3);
  EXPECT_GE(symbolic * 5, graphs);
  EXPECT_EQ(empty, 0);
  EXPECT_LE(skipped * 5, attempts) << skipped << " of " << attempts << " recipes found nothing to work on";
  std::cout << "median of nodes " << nodes[graphs / 2] << ", totals " << all.lengths << ", near borders "
            << all.near_borders << ", above 2^17 " << all.above_2_17 << ", framed " << framed << ", symbolic "
            << symbolic << ", recipes " << attempts << ", of these skipped " << skipped << "\n";
}

TEST(RandomGraphsHold, TheSameGraphForASeed) {
  for (const std::uint64_t seed : std::array<std::uint64_t, 3>{3, 17, 40}) {
    EXPECT_EQ(graph::print(generate({seed, 0}).graph), graph::print(generate({seed, 0}).graph));
    const std::string text = graph::print(generate({seed, 0}).graph);
    EXPECT_EQ(graph::print(graph::parse(text)), text);
  }
}

// Where ptxas 13.0 read a bound before it was written: see held() of backends/cuda/device/routines.h.
TEST(RandomGraphsHold, SeedsThatOnceDifferedOnAGpu) {
  for (const std::uint64_t seed : std::array<std::uint64_t, 4>{80001, 80061, 88071, 88121})
    EXPECT_EQ(report_of({.seed = seed, .networks = false}).value_or(""), "");
}

// A view over nothing that n = 2 leaves of x; estimates for sizes of which a slice leaves nothing.
TEST(RandomGraphsHold, SeedsThatOnceDividedByZero) {
  for (const std::uint64_t seed : std::array<std::uint64_t, 4>{30455, 1681, 1684, 1685})
    EXPECT_EQ(report_of({.seed = seed, .networks = false}).value_or(""), "");
}

// Large rows, whose values are looked up without their Lets one by one.
TEST(RandomGraphsHold, SeedsThatOnceLostASharedValue) {
  EXPECT_EQ(report_of({.seed = 801223, .networks = false}).value_or(""), "");
}

TEST(RandomGraphsHold, AStageThatIsNotThereIsAnErrorThatNamesThoseThatAre) {
  for (const std::string& name : stage_names()) EXPECT_NO_THROW(expect_stage(name)) << name;
  const std::string words = words_of<Error>([] { expect_stage("JIT for cuda:99"); });
  EXPECT_TRUE(
      words.starts_with("there is no stage 'JIT for cuda:99' here; stages are "
                        "'interpreter of unfused nests', 'interpreter of fused nests', "))
      << words;
}

// What a failure prints runs as it is printed: every layout, type and size comes back from the files.
TEST(RandomGraphsHold, PrintedLinesRun) {
  for (const std::uint64_t seed : std::array<std::uint64_t, 6>{2, 5, 9, 12, 21, 33}) {
    const Generated generated = generate({seed, 0});
    const Arguments arguments(generated.graph, generated.inputs, generated.sizes.back(), seed, side_of(seed));
    const std::string line = write_case({generated.graph, arguments.given(), seed}, cat("passing_", seed));
    for (const char* device : {" --device reference", " --device cpu"}) {
      const std::string command = cat(TWINLOOM_PROGRAM, " ", line, device, " --no-cache > /dev/null");
      EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
  }
}

}  // namespace

}  // namespace twinloom::tests
