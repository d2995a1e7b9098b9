// Nests of several parts: the schedules that are chosen for them, and their bits.
#include <gtest/gtest.h>

#include "core/loops/parts.h"
#include "tests/schedule/run.h"

namespace twinloom::tests {

namespace {

// Sums up in the canonical order: every schedule gives the same bits.
constexpr std::string_view ROWS = R"(
program rows(x: f32[n*100], y: f32[n*4000], z: written f32[n*40], s: local f32[100]; n in 0..) {
  for b < n {
    for i < 40 {
      scratch s[100] in scratch {
        for j < 100 { s[j] = mul(x[100*b + j], y[4000*b + 100*i + j]) }
        start t0: max f32
        for r < 100 { t0 += s[r] at r }
        start t1: sum f32
        for u < 100 { t1 += exp(sub(s[u], t0)) at u }
        z[40*b + i] = div(t0, t1)
      }
    }
  }
})";

TEST(Parts, HaveChosenSchedulesWithTheBitsOfTheNest) {
  const loops::Program nest = loops::parse(ROWS);
  for (const std::int64_t n : {0, 1, 3}) {
    const Sizes sizes = {{nest.sizes.front().symbol, n}};
    const Arguments arguments(nest, sizes);
    const auto expected = arguments.run({nest});
    for (const machine::Machine& machine : machines()) {
      if (machine.max_threads > 1) continue;
      const schedule::Schedule plan = schedule::choose(nest, machine);
      const auto programs = schedule::apply(nest, plan);
      for (const loops::Program& program : programs) loops::verify(program, loops::Stage::program);
      for (const bool reversed : {false, true})
        EXPECT_EQ(arguments.run(programs, {reversed, reversed}), expected) << print(plan) << machine.name;
    }
  }
}

TEST(Parts, OfContractionsAreTiles) {
  const loops::Program nest = loops::parse(R"(
program layers(x: f32[8192], y: f32[8192], z: f32[8192], out: written f32[8192], s: local f32[128]) {
  for i < 128 {
    scratch s[128] in scratch {
      for j < 128 {
        start t0: sum f32 free
        for k < 64 { t0 += mul(x[64*i + k], y[128*k + j]) at k }
        s[j] = maximum(t0, 0x0p+0:f32)
      }
      for e < 64 {
        start t1: sum f32 free
        for m < 128 { t1 += mul(s[m], z[64*m + e]) at m }
        out[64*i + e] = t1
      }
    }
  }
})");
  for (const machine::Machine& machine : machines()) {
    if (machine.vector_bytes < 32 || machine.max_threads > 1) continue;
    const std::string text = schedule::print(schedule::choose(nest, machine));
    for (const char* line : {"store_at s at i.0 in scratch", "distribute i.1", "cache t0 at k.0 in registers",
                             "cache t1 at m.0 in registers", "bind i.0 block"})
      EXPECT_NE(text.find(line), std::string::npos) << text;
  }
}

}  // namespace

}  // namespace twinloom::tests
