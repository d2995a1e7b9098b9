// Works by turns, with times that are made up, and what is drawn for them.
#include "core/measure/turns.h"

#include <gtest/gtest.h>

#include <array>

#include "core/base/error.h"
#include "core/measure/drawn.h"

namespace twinloom::measure {
namespace {

TEST(Turns, TakesMediansByTurns) {
  std::string order;
  std::vector<Runner> runners;
  for (const char name : {'a', 'b'})
    runners.push_back([&order, name, run = 0]() mutable {
      order += name;
      return ++run == 3 ? 100.0 : name - 'a' + 1.0;  // one run of each was disturbed
    });
  const auto taken = by_turns(std::move(runners), {.rounds = 3});
  EXPECT_EQ(order, "abababab");
  EXPECT_EQ(taken[0].seconds, 1);
  EXPECT_EQ(taken[1].seconds, 2);
}

TEST(Turns, LeavesOutWhatFailsAndWhatIsSlow) {
  int failing = 0, slow = 0;
  std::vector<Runner> runners = {[] { return 1.0; },
                                 [&]() -> double {
                                   if (++failing == 2) throw Error("no more");
                                   return 1;
                                 },
                                 {},
                                 [&] { return ++slow, 9.0; }};
  const auto taken = by_turns(std::move(runners), {.rounds = 5});
  EXPECT_EQ(taken[0].seconds, 1);
  EXPECT_EQ(taken[1].seconds, 0);
  EXPECT_EQ(taken[1].failure, "no more");
  EXPECT_EQ(failing, 2);
  EXPECT_EQ(taken[2].seconds, 0);
  EXPECT_EQ(taken[3].seconds, 9);
  EXPECT_EQ(slow, 1);
}

TEST(Turns, WithoutTheFirstNothingIsSlow) {
  std::vector<Runner> runners = {[]() -> double { throw Error("broken"); }, [] { return 9.0; }};
  const auto taken = by_turns(std::move(runners));
  EXPECT_EQ(taken[0].failure, "broken");
  EXPECT_EQ(taken[1].seconds, 9);
}

TEST(Turns, TheFirstStaysUnlessAnotherIsClearlyFaster) {
  const auto fastest = [](const std::vector<double>& seconds) {
    std::vector<Taken> taken;
    for (const double one : seconds) taken.push_back({one, one == 0 ? "failed" : ""});
    return fastest_of(taken);
  };
  EXPECT_EQ(fastest({100, 98, 99}), 0u);
  EXPECT_EQ(fastest({100, 96, 0, 95, 98}), 3u);
  EXPECT_EQ(fastest({0, 5, 4}), 2u);
  EXPECT_EQ(fastest({100}), 0u);
}

TEST(Drawn, IntegersAreBelowTheirBound) {
  const runtime::Tensor tensor = drawn(ops::DType::i32, {100, 300}, {-300, 1}, 5, nullptr);
  const runtime::Bytes bytes = runtime::bytes_of(tensor);
  std::array<int, 5> seen{};
  for (const auto* at = reinterpret_cast<const std::int32_t*>(bytes.first);
       at != reinterpret_cast<const std::int32_t*>(bytes.last); ++at) {
    ASSERT_TRUE(*at >= 0 && *at < 5) << *at;
    ++seen[static_cast<std::size_t>(*at)];
  }
  for (const int count : seen) EXPECT_GT(count, 5000);
  EXPECT_EQ(static_cast<const std::int32_t*>(drawn(ops::DType::i32, {1}, {1}, 1, nullptr).data)[0], 0);
}

TEST(Drawn, RisingOnesEndRowsOfEqualLength) {
  const runtime::Tensor tensor = rising(ops::DType::i64, {5}, {1}, 101, nullptr);
  const auto* ends = static_cast<const std::int64_t*>(tensor.data);
  EXPECT_EQ(std::vector<std::int64_t>(ends, ends + 5), (std::vector<std::int64_t>{0, 25, 50, 75, 100}));
  EXPECT_EQ(*static_cast<const std::int64_t*>(rising(ops::DType::i64, {1}, {1}, 7, nullptr).data), 0);
}

}  // namespace
}  // namespace twinloom::measure
