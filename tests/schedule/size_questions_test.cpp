// What of its sizes the schedule of a nest depends on.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/machine/gpu.h"
#include "tests/schedule/run.h"

namespace twinloom::tests {

namespace {

std::string words(const loops::Program& nest, const machine::Machine& machine) {
  using Kind = loops::SizeQuestion::Kind;
  return join(schedule::size_questions(nest, machine), ", ", [](const loops::SizeQuestion& question) {
    const char* kind = question.kind == Kind::extent   ? "extent "
                       : question.kind == Kind::amount ? "amount "
                       : question.kind == Kind::whole  ? "whole "
                                                       : "divisor ";
    return question.most == 0 ? cat(kind, question.what) : cat(kind, question.what, " to ", question.most);
  });
}

struct Asked {
  std::string_view nest, by_threads, by_vectors;
};

TEST(SizeQuestions, AreThoseThatTheScheduleDependsOn) {
  const std::vector<Asked> rows = {
      {"program add(x: f32[m*n], y: written f32[m*n]; m in 1.., n in 1..) { for i < m { for j < n { y[i*n + "
       "j] = "
       "neg(x[i*n + j]) } } }",
       "", ""},
      {"program bias(x: f32[m*n], b: f32[n], y: written f32[m*n]; m in 1.., n in 1..) { for i < m { for j < "
       "n { "
       "y[i*n + j] = add(x[i*n + j], b[j]) } } }",
       "extent m to 256, extent n to 256, divisor n to 4", "extent m to 256, extent n to 256"},
      {"program halves(x: f32[m*n], y: written f32[2*m*n]; m in 1.., n in 1..) { for i < m { for j < 2*n { "
       "y[2*i*n + "
       "j] = where(lt(count(j), count(n)), neg((x[i*n + j] if j < n else 0x0p+0:f32)), (x[i*n + j - n] if n "
       "- 1 < j "
       "else 0x0p+0:f32)) } } }",
       "extent m to 256, extent n to 256, divisor n to 4",
       "extent m to 256, extent n to 256, divisor n to 8"},
      {"program full(x: f32[m*n], y: written f32[1]; m in 1.., n in 1..) { start t0: sum f32 for i < m { for "
       "k < n { "
       "t0 += x[i*n + k] at i*n + k } } y[0] = t0 }",
       "amount m*n", "amount m*n"},
      {"program sums(x: f32[m*4096], y: written f32[m]; m in 1..) { for i < m { start t0: sum f32 for k < "
       "4096 { t0 "
       "+= x[4096*i + k] at k } y[i] = t0 } }",
       "amount m", "amount m"},
      {"program columns(x: bf16[m*n], y: written f32[n]; m in 1.., n in 1..) { for j < n { start t0: sum f32 "
       "for k < "
       "m { t0 += f32(x[k*n + j]) at k } y[j] = t0 } }",
       "extent m to 1024, amount m, whole m to 1024, amount n, extent n to 256, whole n to 1024, divisor n "
       "to 2",
       "extent m to 1024, amount m, amount n, extent n to 256, whole n to 1024"},
      {"program norm(x: f32[m*n], y: written f32[m*n]; m in 1.., n in 1..) { for i < m { start t0: max f32 "
       "for k < n "
       "{ t0 += x[i*n + k] at k } for k1 < n { y[i*n + k1] = sub(x[i*n + k1], t0) } } }",
       "extent n to 58112, amount n, whole n to 1024, amount m, divisor n to 4",
       "extent n to 8192, amount n, amount m"},
      {"program segments(x: f32[m], at: i64[n + 1], y: written f32[n]; m in 0.., n in 0..) { for i < n { "
       "index a = "
       "at[i] below m + 1 index b = at[i + 1] below m + 1 start t0: max f32 for k < b - a { t0 += x[a + k] "
       "at k } "
       "y[i] = t0 } }",
       "amount n", "amount n"},
  };
  machine::Machine cpu = machines().front();
  for (const Asked& asked : rows) {
    const loops::Program nest = loops::parse(asked.nest);
    EXPECT_EQ(words(nest, machine::h200()), asked.by_threads) << asked.nest;
    EXPECT_EQ(words(nest, cpu), asked.by_vectors) << asked.nest;
  }
}

// What is asked of the nest that is narrowed to the answers is what was asked before: a run is looked up by
// it.
TEST(SizeQuestions, NestsOfOneClassHaveOneSchedule) {
  const loops::Program nest = loops::parse(
      R"(program norm(x: f32[m*n], y: written f32[m*n]; m in 1.., n in 1..) {
  for i < m { start t0: max f32 for k < n { t0 += x[i*n + k] at k }
    for k1 < n { y[i*n + k1] = sub(x[i*n + k1], t0) } } })");
  const machine::Machine machine = machine::h200();
  const auto questions = schedule::size_questions(nest, machine);
  const auto schedule_for = [&](std::int64_t m, std::int64_t n) {
    const index::Values sizes = {{index::Symbol("m"), m}, {index::Symbol("n"), n}};
    return print(schedule::choose(loops::narrowed(nest, questions, sizes), machine));
  };
  EXPECT_EQ(schedule_for(8192, 4060), schedule_for(8000, 4092));
  EXPECT_NE(schedule_for(8192, 4096), schedule_for(8192, 4092));
  EXPECT_NE(schedule_for(8192, 4096), schedule_for(8192, 4095));
  EXPECT_NE(schedule_for(8192, 4096), schedule_for(8192, 60));
  EXPECT_NE(schedule_for(8192, 1 << 22), schedule_for(1, 1 << 22));
  EXPECT_NE(schedule_for(8192, 4096).find("stage x inside i.0 registers"), std::string::npos);
  EXPECT_NE(schedule_for(8192, 20000).find("stage x inside i.0 scratch"), std::string::npos);
}

}  // namespace

}  // namespace twinloom::tests
