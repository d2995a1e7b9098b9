// Random graphs: every stage gives the evaluator's bits. A test is a range of seeds, so that they run
// side by side; TWINLOOM_GRAPHS asks for another number of graphs in all, TWINLOOM_SEED for other seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>

#include "core/base/error.h"
#include "tests/conformance/shrink.h"

namespace twinloom::tests {

namespace {

constexpr int ranges = 20;

std::int64_t number_from(const char* variable, std::int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}

std::uint64_t first_seed() { return static_cast<std::uint64_t>(number_from("TWINLOOM_SEED", 1)); }
std::int64_t graph_count() { return number_from("TWINLOOM_GRAPHS", TWINLOOM_DEFAULT_GRAPHS); }

Against side_of(std::uint64_t seed) { return seed % 2 == 0 ? Against::start : Against::end; }

struct Failure {
  std::size_t sizes;  // of Generated::sizes
  Difference difference;
};

std::optional<Failure> check(const Generated& generated, std::uint64_t seed) {
  Comparison comparison(generated.graph, seed);
  for (std::size_t at = 0; at < generated.sizes.size(); ++at) {
    const Arguments arguments(generated.graph, generated.inputs, generated.sizes[at], seed, side_of(seed));
    if (auto difference = comparison.first_difference(arguments)) return Failure{at, *difference};
  }
  return std::nullopt;
}

std::string words(const index::Values& sizes) {
  return join(sizes, ", ", [](const auto& size) { return cat(size.first.name(), " = ", size.second); });
}

// How `twinloom` runs what the stage runs; a program's interpreter has no switch, its JIT comes nearest.
std::string options_of(const std::string& stage) {
  constexpr std::string_view before_isa = " for ";
  const std::size_t at = stage.find(before_isa);
  return at == std::string::npos ? " --device reference"
                                 : cat(" --isa ", stage.substr(at + before_isa.size()));
}

// Halves sizes while it fails, then takes the graph apart; says where the result is.
std::string report(std::uint64_t seed, Generated generated, Failure failure) {
  std::string text = cat("seed ", seed, ", sizes {", words(generated.sizes[failure.sizes]),
                         "}: ", failure.difference.stage, ": ", failure.difference.words, "\n");
  for (int halved = 1; halved <= 6; ++halved) {
    Generated smaller = generate({seed, halved});
    const auto still = check(smaller, seed);
    if (!still || still->difference.stage != failure.difference.stage) continue;
    generated = std::move(smaller);
    failure = *still;
  }
  const Arguments arguments(generated.graph, generated.inputs, generated.sizes[failure.sizes], seed,
                            side_of(seed));
  const auto fails = [&](const Case& given) {
    const auto difference = Comparison(given.graph, seed, failure.difference.stage)
                                .first_difference(Arguments(given.inputs, side_of(seed)));
    return difference && difference->stage == failure.difference.stage;
  };
  Case small{generated.graph, arguments.given(), seed};
  Case row_major = small;
  for (Given& input : row_major.inputs) input.strides.clear();
  if (fails(row_major))
    small = std::move(row_major);
  else
    text += "with row-major inputs all stages agree: the layout of an input matters\n";
  small = shrink(std::move(small), fails);
  const auto now = Comparison(small.graph, seed, failure.difference.stage)
                       .first_difference(Arguments(small.inputs, side_of(seed)));
  if (now) text += cat("shrunk: ", now->stage, ": ", now->words, "\n");
  text += cat("run: twinloom ", write_case(small, TWINLOOM_FAILURES, cat("seed_", seed)),
              options_of(failure.difference.stage), "\n");
  return text + graph::print(small.graph).substr(0, 4000);
}

class RandomGraphs : public testing::TestWithParam<int> {};

TEST_P(RandomGraphs, AllStagesAgree) {
  const std::int64_t each = (graph_count() + ranges - 1) / ranges;
  const std::uint64_t first =
      first_seed() + static_cast<std::uint64_t>(GetParam()) * static_cast<std::uint64_t>(each);
  std::cout << "seeds " << first << " to " << first + static_cast<std::uint64_t>(each) - 1 << "\n";
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(each); ++seed) {
    const Generated generated = generate({seed, 0});
    const auto failure = check(generated, seed);
    if (failure) ADD_FAILURE() << report(seed, generated, *failure);
  }
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

// What a failure prints runs as it is printed: every layout, type and size comes back from the files.
TEST(RandomGraphsHold, PrintedLinesRun) {
  for (const std::uint64_t seed : std::array<std::uint64_t, 6>{2, 5, 9, 12, 21, 33}) {
    const Generated generated = generate({seed, 0});
    const Arguments arguments(generated.graph, generated.inputs, generated.sizes.back(), seed, side_of(seed));
    const std::string line =
        write_case({generated.graph, arguments.given(), seed}, TWINLOOM_FAILURES, cat("passing_", seed));
    for (const char* device : {" --device reference", " --device cpu"}) {
      const std::string command = cat(TWINLOOM_PROGRAM, " ", line, device, " --no-cache > /dev/null");
      EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
  }
}

}  // namespace

}  // namespace twinloom::tests
