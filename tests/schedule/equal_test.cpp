// Every schedule gives the bits of its nest: schedules made by hand, chosen for several machines, and
// random ones that the law lets pass; for symbolic sizes, for those of a class and for the same sizes as
// constants; blocks and threads in two orders.
#include <gtest/gtest.h>

#include <numeric>

#include "core/loops/nest.h"
#include "tests/schedule/nests.h"
#include "tests/schedule/run.h"
#include "tests/support/schedules/random_schedule.h"

namespace twinloom::tests {

namespace {

class Equal : public testing::TestWithParam<NestCase> {
 protected:
  loops::Program nest_ = loops::parse(GetParam().text);

  Sizes sizes(const std::vector<std::int64_t>& values) const {
    Sizes result;
    for (std::size_t i = 0; i < values.size(); ++i) result.emplace(nest_.sizes[i].symbol, values[i]);
    return result;
  }

  static void expect_equal(const loops::Program& nest, const schedule::Schedule& plan,
                           const Arguments& arguments, const std::vector<std::vector<std::byte>>& expected) {
    const std::vector<loops::Program> programs = schedule::apply(nest, plan);
    std::string text = print(plan);
    for (const loops::Program& program : programs) {
      text += print(program);
      ASSERT_NO_THROW(loops::verify(program, loops::Stage::program)) << text;
    }
    for (const bool reversed : {false, true}) {
      bool equal = false;
      ASSERT_NO_THROW(equal = arguments.run(programs, {reversed, reversed}) == expected)
          << loops::print(nest) << text;
      EXPECT_TRUE(equal) << loops::print(nest) << text;
    }
  }
};

TEST_P(Equal, SchedulesMadeByHand) {
  for (const auto& values : GetParam().sizes) {
    const Arguments arguments(nest_, sizes(values));
    const auto expected = arguments.run({nest_});
    for (const std::string_view text : GetParam().schedules) {
      const schedule::Schedule plan = schedule::parse(text);
      for (const loops::Program& nest : {nest_, with_constants(nest_, sizes(values))}) {
        if (schedule::why_illegal(nest, plan)) continue;
        expect_equal(nest, plan, arguments, expected);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// A schedule made by hand that fits no size would test nothing.
TEST_P(Equal, SchedulesMadeByHandFitSomeSize) {
  for (const std::string_view text : GetParam().schedules) {
    const schedule::Schedule plan = schedule::parse(text);
    std::optional<std::string> reason = schedule::why_illegal(nest_, plan);
    for (const auto& values : GetParam().sizes) {
      if (reason) reason = schedule::why_illegal(with_constants(nest_, sizes(values)), plan);
    }
    EXPECT_FALSE(reason) << text << "\n" << *reason;
  }
}

TEST_P(Equal, ChosenSchedules) {
  for (const auto& values : GetParam().sizes) {
    const Arguments arguments(nest_, sizes(values));
    const auto expected = arguments.run({nest_});
    for (const machine::Machine& machine : machines()) {
      const loops::Program of_class =
          loops::narrowed(nest_, schedule::size_questions(nest_, machine), sizes(values));
      for (const loops::Program& nest : {nest_, with_constants(nest_, sizes(values)), of_class}) {
        const schedule::Schedule plan = schedule::choose(nest, machine);
        const auto reason = schedule::why_illegal(nest, plan);
        ASSERT_FALSE(reason) << *reason << "\n" << loops::print(nest) << print(plan);
        expect_equal(nest, plan, arguments, expected);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST_P(Equal, RandomSchedules) {
  const std::uint64_t seed = 20;
  SCOPED_TRACE(cat("seed ", seed));
  std::mt19937_64 random(seed);
  for (const auto& values : GetParam().sizes) {
    const Arguments arguments(nest_, sizes(values));
    const auto expected = arguments.run({nest_});
    const loops::Program constant = with_constants(nest_, sizes(values));
    // The interpreter is slow: few tries for large tensors.
    const bool large = std::reduce(values.begin(), values.end(), std::int64_t{1}, std::multiplies<>()) > 700;
    for (int tries = large ? 15 : 0; tries < 18; ++tries) {
      const loops::Program& nest = random() % 2 == 0 ? nest_ : constant;
      const schedule::Schedule plan = random_schedule(nest, random);
      if (schedule::why_illegal(nest, plan)) continue;
      expect_equal(nest, plan, arguments, expected);
      if (testing::Test::HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Nests, Equal, testing::ValuesIn(nest_cases().begin(), nest_cases().end()),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace

}  // namespace twinloom::tests
