// Rewriting changes what it is told to and gives the rest back as it was; and the memory for tests
// notices what it should.
#include <gtest/gtest.h>

#include "core/loops/nest.h"
#include "core/loops/rewrite.h"
#include "tests/loops/run.h"
#include "tests/support/thrown.h"

namespace twinloom::loops {
namespace {

const Program& copy_program() {
  static const Program program = parse(R"(program copy(x: f32[n], y: written f32[n]; n in 1..64 % 4) {
    for i < n {
      t0 = add(x[i], 1:f32)
      y[i] = mul(t0, t0)
    }
  })");
  return program;
}

std::string printed(const Ref<Stmt>& body) {
  Program program = copy_program();
  program.body = body;
  return print(program);
}

TEST(Rewrite, GivesBackWhatDidNotChange) {
  const Ref<Stmt>& body = copy_program().body;
  EXPECT_EQ(rewrite_values(body, [](const Ref<Value>& value) { return value; }), body);
  EXPECT_EQ(rewrite_stmts(body, [](const Ref<Stmt>& stmt) { return stmt; }), body);
  EXPECT_EQ(substitute(body, {{index::Symbol("other"), 3}}), body);
  EXPECT_EQ(rename(body, {}), body);
}

TEST(Rewrite, SeesInputsFirst) {
  const Ref<Stmt> after = rewrite_values(copy_program().body, [](const Ref<Value>& value) {
    const auto* apply = std::get_if<Apply>(&value->node);
    return apply != nullptr && apply->op == ops::Pointwise::add ? apply->inputs.front() : value;
  });
  EXPECT_NE(printed(after).find("t0 = x[i]\n"), std::string::npos) << printed(after);
}

TEST(Rewrite, RemovesStatements) {
  const Ref<Stmt> after = rewrite_stmts(copy_program().body, [](const Ref<Stmt>& stmt) {
    return std::holds_alternative<Store>(stmt->node) ? nullptr : stmt;
  });
  EXPECT_EQ(printed(after).find("y["), std::string::npos) << printed(after);
  EXPECT_NE(printed(after).find("t0 = add"), std::string::npos) << printed(after);
}

TEST(Rewrite, RenamesWhatIsBoundAndUsed) {
  Renaming renaming;
  renaming.symbols[Axis("i")] = Axis("k");
  renaming.temps[Temp{0}] = Temp{5};
  renaming.buffers[Buffer{0}] = Buffer{1};
  const std::string text = printed(rename(copy_program().body, renaming));
  EXPECT_NE(text.find("for k < n {\n    t5 = add(y[k], 0x1p+0:f32)\n    y[k] = mul(t5, t5)"),
            std::string::npos)
      << text;
}

TEST(Rewrite, LooksAtTypesSymbolsAndTemps) {
  const Program& program = copy_program();
  EXPECT_EQ(next_temp(program), Temp{1});
  EXPECT_EQ(Types(program).of(Temp{0}, 0), ops::DType::f32);
  const Ref<Value> value = load(Buffer{0}, index::parse("i + 4*m"), index::parse_condition("j < n"),
                                {ops::Number(0), ops::DType::f32});
  EXPECT_EQ(symbols_of(*value).size(), 4u);
  const Ref<Value> twin = load(Buffer{0}, index::parse("4*m + i"), index::parse_condition("j < n"),
                               {ops::Number(0.0), ops::DType::f32});
  EXPECT_TRUE(equal(*value, *twin));
  EXPECT_EQ(hash(*value), hash(*twin));
  EXPECT_FALSE(equal(*value, *convert(ops::DType::f16, value)));
  EXPECT_EQ(convert(ops::DType::f32, value), value);
}

TEST(Rewrite, FactsComeFromSizesLoopsAndIndices) {
  const index::Facts facts = facts_of(copy_program());
  EXPECT_TRUE(facts.proves_less(index::parse("i"), index::parse("n")));
  EXPECT_TRUE(facts.proves_less(index::parse("n"), index::parse("65")));
  EXPECT_EQ(facts.divisor(index::parse("n")), 4);
}

TEST(Support, CanariesShowWhatWasOverwritten) {
  tests::Elements x(ops::DType::f32, 3);
  x.check();
  x.data()[-1] = std::byte{0};
  EXPECT_NE(tests::words_of<Bug>([&] { x.check(); }).find("a byte -1 bytes from the start"),
            std::string::npos);
}

TEST(SupportDeathTest, TheByteBehindFaults) {
  tests::Elements x(ops::DType::f32, 3);
  EXPECT_DEATH(const_cast<volatile std::byte*>(x.data())[12] = std::byte{0}, "");
  tests::Elements y(ops::DType::f32, 3, tests::Against::start);
  EXPECT_DEATH(const_cast<volatile std::byte*>(y.data())[-1] = std::byte{0}, "");
}

TEST(Support, DifferencesAreOfBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const tests::Elements a(ops::DType::f32, {1, nan, 0.0}), b(ops::DType::f32, {1, nan, -0.0});
  EXPECT_FALSE(first_difference(a, a));
  EXPECT_EQ(first_difference(a, b), "element 2 is 0x0p+0, expected -0x0p+0; 1 of 3 differ");
}

}  // namespace
}  // namespace twinloom::loops
