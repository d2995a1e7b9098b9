// Scans in free order whose threads have neighbours: what they compute, why they may not be, and where they
// are.
#include <gtest/gtest.h>

#include "core/machine/gpu.h"
#include "core/schedule/schedule.h"
#include "tests/schedule/run.h"

namespace twinloom::tests {

namespace {

constexpr std::string_view NEIGHBOURS =
    "schedule split 0 k : 128, 4 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 "
    "vector";

std::string scan_of_rows(std::string_view start, std::string_view kind = "") {
  return cat(R"(program cumsum(x: i8[n*m], y: written f32[n*m]; n in 0.., m in 0..) {
  for i < m { start t0: )",
             start, " for k < n { scan t1 = t0 (f32(x[i*n + k])) at k ", kind, " y[i*n + k] = t1 } } }");
}

// Of whole numbers every order gives the same bits.
void expect_equal(const loops::Program& nest, std::string_view plan) {
  const schedule::Schedule schedule = schedule::parse(plan);
  ASSERT_EQ(schedule::why_illegal(nest, schedule).value_or("legal"), "legal") << plan;
  const auto programs = schedule::apply(nest, schedule);
  for (const auto& [n, m] :
       {std::pair<std::int64_t, std::int64_t>{128, 3}, {1, 1}, {3, 5}, {500, 2}, {0, 1}, {4, 9}}) {
    const Arguments arguments(nest, {{index::Symbol("n"), n}, {index::Symbol("m"), m}});
    EXPECT_EQ(arguments.run({nest}), arguments.run(programs)) << plan << ": " << m << " rows of " << n;
  }
}

TEST(LaneScan, ComputesWhatItsNestDoes) {
  for (const std::string_view kind : {"", "exclusive"}) {
    const loops::Program nest = loops::parse(scan_of_rows("sum f32 free", kind));
    expect_equal(nest, NEIGHBOURS);
    expect_equal(
        nest,
        "schedule split -1 i : 4 mask split 0 k : 64, 8 mask loop -1 i.0 block loop -1 i.1 thread loop 0 "
        "k.0 serial loop 0 k.1 thread loop 0 k.2 vector");
    expect_equal(nest, "schedule split 0 k : 16 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread");
  }
}

TEST(LaneScan, IsRefusedInWords) {
  const auto why = [](const std::string& nest, std::string_view plan) {
    return schedule::why_illegal(loops::parse(nest), schedule::parse(plan)).value_or("legal");
  };
  EXPECT_EQ(why(scan_of_rows("sum f32"), NEIGHBOURS),
            "axis k: threads have neighbours of a scan in free order alone");
  EXPECT_EQ(
      why(scan_of_rows("sum f32 free"),
          "schedule split 0 k : 128, 4 clip loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 "
          "vector"),
      "axis k: a scan by threads ends by mask or exact");
  EXPECT_EQ(
      why(scan_of_rows("sum f32 free"),
          "schedule split_scan k chunks 2 carries 2 split 0 k : 1024, 4 mask loop -1 i.0 block loop 0 k.0 "
          "serial loop 0 k.1 thread loop 0 k.2 vector"),
      "split_scan k: threads have neighbours, not chunks");
}

// Of rows that fill the machine, or that a block has at once.
TEST(LaneScan, IsChosenInFreeOrder) {
  const auto chosen = [](std::int64_t rows, std::int64_t size, std::string_view order) {
    const std::string count = cat(rows * size);
    return print(schedule::choose(
        loops::parse(cat("program cumsum(x: f32[", count, "], y: written f32[", count, "]) { for i < ", rows,
                         " { start t0: sum f32 ", order, " for k < ", size, " { scan t1 = t0 (x[", size,
                         "*i + k]) at k y[", size, "*i + k] = t1 } } }")),
        machine::h200()));
  };
  EXPECT_NE(chosen(1 << 20, 64, "free").find("split 0 k : 4 exact\n"), std::string::npos);
  EXPECT_NE(chosen(16384, 4096, "free").find("split 0 k : 1024, 4 exact\n"), std::string::npos);
  EXPECT_NE(chosen(16, 1000, "free").find("split 0 k : 4 mask\n"), std::string::npos);
  EXPECT_NE(chosen(1, 1 << 25, "free").find("split_scan"), std::string::npos);
  EXPECT_EQ(chosen(1 << 20, 64, "").find("split 0 k : 4 exact\n"), std::string::npos);
}

}  // namespace

}  // namespace twinloom::tests
