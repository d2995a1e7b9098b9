// Which buffer may be written into the memory of one that is read, and that a program gives the same elements
// then.
#include "core/loops/in_place.h"

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/loops/interpret.h"

namespace twinloom::loops {
namespace {

constexpr std::size_t COUNT = 12;
using Numbers = std::vector<float>;

// x is read and y written, the first two buffers.
constexpr InPlace X_TO_Y{Buffer{0}, Buffer{1}};
Program program(const std::string& body, const std::string& types = "x: f32[12], y: written f32[12]") {
  return parse("program p(" + types + ") { " + body + " }");
}
bool is_in_place(const std::string& body) { return is_in_place(program(body), X_TO_Y); }

Numbers run(const std::string& body, bool in_place) {
  Numbers x(COUNT), y(COUNT);
  for (std::size_t i = 0; i < COUNT; ++i) x[i] = static_cast<float>(i * i);
  Numbers& into = in_place ? x : y;
  const std::vector<Memory> memory = {{x.data(), 0, COUNT}, {into.data(), 0, COUNT}};
  EXPECT_FALSE(interpret(program(body), memory, {}));
  return into;
}

TEST(InPlace, WhereEachElementIsReadByTheIterationThatWritesIt) {
  for (const std::string body : {
           "for i < 12 { y[i] = add(x[i], x[i]) }",
           "for i < 3 block { for j < 4 vector { t0 = x[4*i + j] y[4*i + j] = mul(t0, t0) } }",
           "for i < 2 { for j < 8 vector { y[8*i + j] = (x[8*i + j] if 8*i + j < 12 else 0x0p+0:f32) if "
           "8*i + j < 12 } }",
           "for i < 8 { y[i] = x[i] } for j < 4 { y[j + 8] = sqrt(x[j + 8]) }",
           "for i < 4 block { for j < 3 thread { y[3*i + j] = exp(x[3*i + j]) } }",
       }) {
    EXPECT_TRUE(is_in_place(body)) << body;
    EXPECT_EQ(run(body, true), run(body, false)) << body;
  }
}

TEST(InPlace, WhereAllIsReadFirst) {
  const std::string fill = "for i < 12 { x_row[i] = x[i] } ";
  const std::string types = "x: f32[12], y: written f32[12], x_row: local written f32[12]";
  const auto staged = [&](const std::string& body) {
    return is_in_place(program("scratch x_row[12] in registers { " + body + " }", types), X_TO_Y);
  };
  EXPECT_TRUE(staged(fill + "for j < 12 { y[j] = x_row[11 - j] }"));
  EXPECT_FALSE(staged("for k < 2 { " + fill + "for j < 12 { y[j] = x_row[11 - j] } }"));
  EXPECT_FALSE(staged("for j < 12 { y[j] = 0x0p+0:f32 } " + fill));
  EXPECT_FALSE(staged(fill + "for j < 12 block { y[j] = x_row[11 - j] }"));
}

TEST(InPlace, NotWhereAnotherIterationReadsWhatIsWritten) {
  for (const std::string body : {
           "for i < 12 { y[i] = x[11 - i] }",
           "for i < 12 { y[i] = add(x[i], x[0]) }",
           "for i < 12 { t0 = x[i] for j < 1 { y[i + j] = t0 } }",
           // What another iteration writes may be read where this one writes nothing.
           "for i < 12 { y[i] = x[i] if i < 6 }",
       })
    EXPECT_FALSE(is_in_place(body)) << body;
  // The second load stands behind the store.
  const std::string two = "for i < 12 { y[i] = x[i] z[i] = x[i] }";
  const Program both = program(two, "x: f32[12], y: written f32[12], z: written f32[12]");
  EXPECT_FALSE(is_in_place(both, X_TO_Y));
  EXPECT_TRUE(is_in_place(both, {Buffer{0}, Buffer{2}}));
}

// All threads of a block load what stands outside of its loops of threads, and one of them stores.
TEST(InPlace, NotWhereOtherThreadsLoadForNothing) {
  EXPECT_FALSE(
      is_in_place("for i < 6 block { y[i] = x[i] for j < 4 thread { y[i + 6] = 0x0p+0:f32 if j < 1 } }"));
}

// A library stores partial sums before it reads what it adds to them.
TEST(InPlace, NotOfALibrary) {
  const std::string body =
      "{ for i < 4 { for j < 3 { start t0 : sum f32 free for k < 5 { t0 += mul(a[5*i + k], b[3*k + j]) at k "
      "} y[3*i "
      "+ j] = add(t0, x[3*i + j]) } } }";
  const std::string head = "program p(x: f32[12], y: written f32[12], a: f32[20], b: f32[15]) ";
  EXPECT_TRUE(is_in_place(parse(cat(head, body)), X_TO_Y));
  EXPECT_FALSE(is_in_place(parse(cat(head, "library ", body)), X_TO_Y));
}

TEST(InPlace, NotOfAnotherTypeOrTheSameRole) {
  const Program cast = program("for i < 12 { y[i] = i32(x[i]) }", "x: f32[12], y: written i32[12]");
  EXPECT_FALSE(is_in_place(cast, X_TO_Y));
  const Program plain = program("for i < 12 { y[i] = x[i] }");
  EXPECT_FALSE(is_in_place(plain, {Buffer{1}, Buffer{0}}));
  EXPECT_FALSE(is_in_place(plain, {Buffer{0}, Buffer{0}}));
}

}  // namespace
}  // namespace twinloom::loops
