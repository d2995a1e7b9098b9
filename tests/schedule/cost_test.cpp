// Bytes and operations of nests and of their programs: tails, masks and staged rows are counted exactly.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/cost/cost.h"
#include "tests/schedule/nests.h"
#include "tests/schedule/run.h"

namespace twinloom::tests {

namespace {

using cost::Work;

index::Values sizes_of(std::int64_t m, std::int64_t n) {
  return {{index::Symbol("m"), m}, {index::Symbol("n"), n}};
}

TEST(Cost, CountsWhatANestExecutes) {
  const loops::Program nest = loops::parse(
      R"(program scaled(x: f32[m*n], s: f32[m], b: f32[n], y: written f16[m*n]; m in 0.., n in 0..) {
  for i < m { for j < n { y[i*n + j] = f16(add(mul(x[i*n + j], x[i*n + j]), mul(s[i], b[j]))) } }
})");
  // x once, s once a row, b in every turn.
  EXPECT_EQ(cost::work_of(nest, sizes_of(3, 5)), (Work{4 * 15 + 4 * 3 + 4 * 15, 2 * 15, 3 * 15}));
  EXPECT_EQ(cost::work_of(nest, sizes_of(3, 0)), (Work{0, 0, 0}));
}

TEST(Cost, CountsMasksExactly) {
  const loops::Program nest =
      loops::parse(R"(program padded(x: f32[n], y: written f32[m]; m in 0.., n in 0..) {
  for i < m { y[i] = (x[i - 2] if 1 < i && i < n + 2 else 0x0p+0:f32) }
})");
  EXPECT_EQ(cost::work_of(nest, sizes_of(20, 10)), (Work{4 * 10, 4 * 20, 0}));
}

TEST(Cost, ProgramsStoreWhatTheirNestsStore) {
  for (const NestCase& given : nest_cases()) {
    if (given.text.find("atomic_add") != std::string_view::npos) continue;  // that are added up before
    const loops::Program nest = loops::parse(given.text);
    for (const auto& values : given.sizes) {
      Sizes sizes;
      for (std::size_t i = 0; i < values.size(); ++i) sizes.emplace(nest.sizes[i].symbol, values[i]);
      for (const machine::Machine& machine : machines()) {
        const auto programs = schedule::apply(nest, schedule::choose(nest, machine));
        if (programs.size() != 1) continue;  // the parts are stored too
        EXPECT_EQ(cost::work_of(programs[0], sizes).stored, cost::work_of(nest, sizes).stored) << given.name;
      }
    }
  }
}

TEST(Cost, AStagedRowIsLoadedOnce) {
  const loops::Program nest =
      loops::parse(R"(program centred(x: bf16[m*1024], y: written f32[m*1024]; m in 0..) {
  for i < m {
    start t0: sum f32 for k < 1024 { t0 += f32(x[i*1024 + k]) at k }
    for k1 < 1024 { y[i*1024 + k1] = sub(f32(x[i*1024 + k1]), t0) }
  }
})");
  const Sizes sizes = {
      {index::Symbol("m"), 8}};  // as many as blocks hold: threads past the end load the last again
  EXPECT_EQ(cost::touched_bytes(nest, sizes), (2 + 2 + 4) * 8 * 1024);
  for (const machine::Machine& machine : machines()) {
    const schedule::Schedule plan = schedule::choose(nest, machine);
    ASSERT_EQ(plan.temps.size(), 1u) << print(plan);
    EXPECT_EQ(cost::touched_bytes(schedule::apply(nest, plan).front(), sizes), (2 + 4) * 8 * 1024)
        << machine.name;
  }
}

TEST(Cost, ARowThatOneLaterSiblingReadsAsItIsHasNoArray) {
  const loops::Program nest =
      loops::parse(R"(program centred(x: f32[m*100], y: written f32[m*100]; m in 0..) {
  for i < m {
    start t0: sum f32 for k < 100 { t0 += x[i*100 + k] at k }
    for k1 < 100 { y[i*100 + k1] = sub(x[i*100 + k1], t0) }
  }
})");
  for (const machine::Machine& machine : machines()) {
    const bool threads = machine.max_threads > 1;  // they have registers for it
    EXPECT_EQ(schedule::choose(nest, machine).temps.empty(), !threads) << machine.name;
  }
}

TEST(Cost, ARowOfATaskIsLoadedOnceATask) {
  const loops::Program nest = loops::parse(
      R"(program scaled(x: f32[m*100], w: bf16[100], y: written f32[m*100], z: written f32[m]; m in 0..) {
  for i < m {
    start t0: sum f32 for k < 100 { t0 += x[i*100 + k] at k }
    for k1 < 100 { y[i*100 + k1] = mul(x[i*100 + k1], f32(w[k1])) }
    z[i] = t0
  }
})");
  const Sizes sizes = {{index::Symbol("m"), 7}};
  const std::string plain =
      "schedule split 0 k : 32, 8 mask split 1 k1 : 8 mask loop -1 i.0 serial loop 0 k.0 serial "
      "loop 0 k.1 unroll loop 0 k.2 vector loop 1 k1.0 serial loop 1 k1.1 vector stage x inside i.0 "
      "registers pad 0 ";
  const auto loaded = [&](const std::string& schedule) {
    return cost::work_of(schedule::apply(nest, schedule::parse(schedule)).front(), sizes).loaded;
  };
  EXPECT_EQ(loaded(plain), 4 * 700 + 2 * 700);
  EXPECT_EQ(loaded(plain + "stage w inside task registers pad 0"), 4 * 700 + 2 * 100);
}

TEST(Cost, AKeptValueIsComputedOnce) {
  const loops::Program nest = loops::parse(R"(program twice(x: f32[m*100], y: written f32[m*100]; m in 0..) {
  for i < m { start t0: max f32 for k < 100 { t0 += exp(x[i*100 + k]) at k }
    for k1 < 100 { y[i*100 + k1] = sub(exp(x[i*100 + k1]), t0) } } })");
  const Sizes sizes = {{index::Symbol("m"), 7}};
  const machine::Machine machine = machines().front();
  const schedule::Schedule plan = schedule::choose(nest, machine);
  EXPECT_EQ(plan.kept_values, 1) << print(plan);
  const cost::Work work = cost::work_of(schedule::apply(nest, plan).front(), sizes);
  EXPECT_EQ(work.loaded, 4 * 700);
  EXPECT_EQ(work.stored, 4 * 700);
  EXPECT_LT(work.operations, cost::work_of(nest, sizes).operations);
}

TEST(Cost, AValueThatLoadsAsFastAsItIsComputedIsNotKept) {
  const auto kept = [](std::string_view type, std::string_view value, std::string_view value_again) {
    machine::Machine machine = machines()[1];
    machine.scratch_bytes = 1 << 15;
    const loops::Program nest = loops::parse(
        cat("program twice(x: ", type, "[99*800], z: ", type, "[99*800], m: b8[99*1600], ",
            "y: written f32[99*800]) { for i < 99 { start t0: max f32 for k < 800 { t0 += ", value,
            " at k } for j < 800 { y[i*800 + j] = sub(", value_again, ", t0) } } }"));
    return schedule::choose(nest, machine).kept_values;
  };
  EXPECT_EQ(kept("f32", "add(x[i*800 + k], z[i*800 + k])", "add(x[i*800 + j], z[i*800 + j])"), 0);
  EXPECT_EQ(kept("f32", "exp(x[i*800 + k])", "exp(x[i*800 + j])"), 1);
  // Loads that are widened, of flags, of elements that lie apart.
  EXPECT_EQ(
      kept("bf16", "add(f32(x[i*800 + k]), f32(z[i*800 + k]))", "add(f32(x[i*800 + j]), f32(z[i*800 + j]))"),
      1);
  EXPECT_EQ(kept("f32", "where(m[i*1600 + k], x[i*800 + k], 0x0p+0:f32)",
                 "where(m[i*1600 + j], x[i*800 + j], 0x0p+0:f32)"),
            1);
  EXPECT_EQ(kept("f32", "add(x[i*400 + 2*k], z[i*800 + k])", "add(x[i*400 + 2*j], z[i*800 + j])"), 1);
}

TEST(Cost, SeveralResultsAreFetchedWhereTheFirstCacheHoldsTheirRows) {
  const auto fetched = [](std::int64_t length) {
    machine::Machine machine = machines()[1];
    machine.scratch_bytes = 1 << 15;
    machine.memory = {{"L1", 48 << 10, 1e12}, {"L2", 2 << 20, 5e11}, {"memory", 0, 1e11}};
    const auto row = [&](std::string_view axis) { return cat("[i*", length, " + ", axis, "]"); };
    const loops::Program nest = loops::parse(
        cat("program twice(x: f32[", 99 * length, "], y: written f32[", 99 * length, "], z: written f32[",
            99 * length, "]) { for i < 99 { start t0: max f32 for k < ", length, " { t0 += x", row("k"),
            " at k } start t1: sum f32 for j < ", length, " { t2 = exp(sub(x", row("j"), ", t0)) y", row("j"),
            " = t2 t1 += t2 at j } for l < ", length, " { z", row("l"), " = div(x", row("l"), ", t1) } } }"));
    const auto prefetches = schedule::choose(nest, machine).prefetches;
    return std::ranges::any_of(prefetches, [](const auto& one) { return one.buffer == "z"; });
  };
  EXPECT_TRUE(fetched(512));
  EXPECT_FALSE(fetched(2048));
}

TEST(Cost, ADearValueOfALongRowIsKeptInTheSecondCache) {
  const auto kept = [](std::string_view value, std::string_view value_again, std::int64_t second_cache) {
    machine::Machine machine = machines()[1];
    machine.scratch_bytes = 1 << 15;
    machine.memory = {{"L1", 1 << 15, 1e12}, {"L2", second_cache, 5e11}, {"memory", 0, 1e11}};
    const loops::Program nest = loops::parse(
        cat("program twice(x: f32[99*12288], y: written f32[99*12288]) { for i < 99 { start t0: max f32 ",
            "for k < 12288 { t0 += ", value, " at k } for j < 12288 { y[i*12288 + j] = sub(", value_again,
            ", t0) } } }"));
    return schedule::choose(nest, machine).kept_values;
  };
  EXPECT_EQ(kept("exp(x[i*12288 + k])", "exp(x[i*12288 + j])", 1 << 21), 1);
  EXPECT_EQ(kept("exp(x[i*12288 + k])", "exp(x[i*12288 + j])", 1 << 17), 0);
  EXPECT_EQ(kept("sqrt(x[i*12288 + k])", "sqrt(x[i*12288 + j])", 1 << 21), 0);
}

TEST(Cost, MembersOfAVectorLoadTogetherWhatIsTheSameForAll) {
  const loops::Program nest =
      loops::parse(R"(program columns(x: f32[m*64], s: f32[m], y: written f32[64]; m in 0..) {
  for j < 64 { start t0: max f32 for k < m { t0 += mul(x[k*64 + j], s[k]) at k } y[j] = t0 }
})");
  const auto program = schedule::apply(
      nest, schedule::parse(
                "schedule split -1 j : 16 exact loop -1 j.0 serial loop -1 j.1 vector loop 0 k.0 serial"));
  // x once, s once for each of the 4 vectors.
  EXPECT_EQ(cost::work_of(program.front(), {{index::Symbol("m"), 9}}).loaded, 4 * 9 * 64 + 4 * 9 * 4);
}

}  // namespace

}  // namespace twinloom::tests
