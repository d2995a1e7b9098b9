// Goldens of generated text: short enough to be checked by eye.
#include "core/emit/emit.h"

#include <gtest/gtest.h>

#include "backends/cpu/dialect.h"
#include "core/base/error.h"

namespace twinloom::tests {

namespace {

std::string text_of(std::string_view program) { return emit::emit(loops::parse(program), cpu::CpuDialect()); }

TEST(Emit, TheOutermostBlockLoopsAreTheTasks) {
  const loops::Program program = loops::parse(R"(program p(x: written f32[n*m]; n in 0.., m in 0..) {
    for i < n block { for j < 4 block { for k < m { x[m*i + j + k] = 0x0p+0: f32 } } } })");
  EXPECT_EQ(index::print(emit::task_count(program)), "4*n");
  EXPECT_EQ(emit::emit(program, cpu::CpuDialect()), R"(namespace twinloom::device {
extern "C" void kernel(const Arguments* arguments, i64 begin, i64 end) {
  f32* const a0 = static_cast<f32*>(arguments->buffers[0]);
  const i64 n1 = arguments->sizes[0];
  const i64 n2 = arguments->sizes[1];
  for (i64 task = begin; task < end; ++task) {
    const i64 k3 = floor_mod(task, 4);
    const i64 n4 = floor_div(task, 4);
    const auto p6 = a0 + n2 * n4 + k3;
    for (i64 k5 = 0; k5 < n2; ++k5) {
      const auto p7 = p6 + k5;
      *p7 = 0x0p+0f;
    }
  }
}
}  // namespace twinloom::device
)");
}

// n - m may be negative, and k has no bound.
TEST(Emit, QuotientsAreShortWhere31BitsAreProven) {
  const std::string text = text_of(R"(program p(x: written f32[64*m]; n in 0..1000, m in 1..) {
    for i < 64 block { for j < 8 block { for k < m {
      x[k + floor_div(8*i + j, 3)] = 0x0p+0: f32
      x[k + floor_mod(n + i, n + 1)] = 0x0p+0: f32
      x[k + floor_div(n - m, 4)] = 0x0p+0: f32
      x[k + floor_mod(k, 5)] = 0x0p+0: f32
    } } } })");
  for (const char* const quotient : {"short_mod(task, 8)", "short_div(task, 8)", "short_div(2 * n4 + k3, 3)",
                                     "short_mod(n1 + n4, n8)", "floor_div(-n2 + n1, 4)", "floor_mod(k5, 5)"})
    EXPECT_NE(text.find(quotient), std::string::npos) << quotient << " in\n" << text;
}

TEST(Emit, ALoopOfOneIterationAtMostIsACondition) {
  const std::string text = text_of(R"(program p(x: written f32[n]; n in 0..) {
    for k < least(1, n) { x[k] = 0x0p+0: f32 } for j < least(2, n) { x[j] = 0x1p+0: f32 } })");
  EXPECT_NE(text.find(" > 0) {"), std::string::npos) << text;
  EXPECT_EQ(text.find("for ("), text.rfind("for (")) << "only that of two\n" << text;
}

TEST(Emit, AVectorLoopIsNoLoop) {
  EXPECT_EQ(text_of(R"(program add(x: f32[n], y: f32[8], z: written f32[n]; n in 0..) {
    for i < floor_div(n + 15, 16) block { for j < 2 unroll { for l < 8 vector {
      z[16*i + 8*j + l] = mul((x[16*i + 8*j + l] if 16*i + 8*j + l < n else 0x1p+0: f32), y[j])
          if 16*i + 8*j + l < n
    } } } })"),
            R"(namespace twinloom::device {
extern "C" void kernel(const Arguments* arguments, i64 begin, i64 end) {
  const f32* const a0 = static_cast<const f32*>(arguments->buffers[0]);
  const f32* const a1 = static_cast<const f32*>(arguments->buffers[1]);
  f32* const a2 = static_cast<f32*>(arguments->buffers[2]);
  const i64 n1 = arguments->sizes[0];
  const i64 n3 = floor_div(n1 + 15, 16);
  const f32 v7 = *a1;
  const f32 v12 = *(a1 + 1);
  for (i64 k2 = begin; k2 < end; ++k2) {
    const i64 n4 = n1 - 16 * k2;
    const auto p5 = a0 + 16 * k2;
    const Vector<f32, 8> v6 = load_first<8>(p5, n4, 0x1p+0f);
    const Vector<f32, 8> v8 = v6 * Vector<f32, 8>(v7);
    const auto p9 = a2 + 16 * k2;
    store_first(p9, n4, v8);
    const i64 n10 = n1 - 16 * k2 - 8;
    const Vector<f32, 8> v11 = load_first<8>(p5 + 8, n10, 0x1p+0f);
    const Vector<f32, 8> v13 = v11 * Vector<f32, 8>(v12);
    store_first(p9 + 8, n10, v13);
  }
}
}  // namespace twinloom::device
)");
}

TEST(Emit, APointerForEachLoopThatMovesIt) {
  EXPECT_EQ(text_of(R"(program p(x: f32[n*m], y: written f32[n*m]; n in 0.., m in 0..) {
    for i < n block { for k < m { y[m*i + k] = neg(x[m*i + m - 1 - k]) } } })"),
            R"(namespace twinloom::device {
extern "C" void kernel(const Arguments* arguments, i64 begin, i64 end) {
  const f32* const a0 = static_cast<const f32*>(arguments->buffers[0]);
  f32* const a1 = static_cast<f32*>(arguments->buffers[1]);
  const i64 n1 = arguments->sizes[0];
  const i64 n2 = arguments->sizes[1];
  const auto p5 = a0 + n2;
  for (i64 k3 = begin; k3 < end; ++k3) {
    const auto p6 = p5 + n2 * k3;
    const auto p10 = a1 + n2 * k3;
    for (i64 k4 = 0; k4 < n2; ++k4) {
      const auto p7 = p6 - k4;
      const f32 v8 = *(p7 - 1);
      const f32 v9 = neg(v8);
      const auto p11 = p10 + k4;
      *p11 = v9;
    }
  }
}
}  // namespace twinloom::device
)");
}

TEST(Emit, ATotalInRegistersIsCombinedByHalves) {
  EXPECT_EQ(text_of(R"(program total(x: f32[16*n], y: written f32[1]; n in 0..) {
    start t0 : sum f32 copies (g, l)
    for c < n { for g < 2 unroll { for l < 4 vector { merge t0 (x[16*c + 4*g + l]) } } }
    combine t0 across g halves
    combine t0 across l halves
    y[0] = t0
  })"),
            R"(namespace twinloom::device {
extern "C" void kernel(const Arguments* arguments, i64 begin, i64 end) {
  const f32* const a0 = static_cast<const f32*>(arguments->buffers[0]);
  f32* const a1 = static_cast<f32*>(arguments->buffers[1]);
  const i64 n1 = arguments->sizes[0];
  alignas(64) alignas(Vector<f32, 4>) Vector<f32, 4> t2[2];
  t2[0] = Vector<f32, 4>(-0x0p+0f);
  t2[1] = Vector<f32, 4>(-0x0p+0f);
  for (i64 k3 = 0; k3 < n1; ++k3) {
    const auto p4 = a0 + 16 * k3;
    const Vector<f32, 4> v5 = load<4>(p4);
    t2[0] = t2[0] + v5;
    const Vector<f32, 4> v6 = load<4>(p4 + 4);
    t2[1] = t2[1] + v6;
  }
  t2[0] = t2[0] + t2[1];
  f32 t7;
  const Vector<f32, 2> t8 = low(t2[0]) + high(t2[0]);
  const f32 t9 = low(t8) + high(t8);
  t7 = t9;
  const f32 v10 = t7;
  *a1 = v10;
}
}  // namespace twinloom::device
)");
}

// The loops of a square whose parts may be exchanged for others.
std::string square(std::string_view store, std::string_view value, std::string_view rows = "8") {
  return text_of(cat("program p(x: f32[64*n], y: written f32[64*n]; n in 1..) { for i < n { for r < ", rows,
                     " unroll { for l < 8 vector { y[", store, "] = ", value, " } } } }"));
}

TEST(Emit, ASquareIsTurnedOverInOneGo) {
  EXPECT_EQ(square("64*i + 8*r + l", "x[8*i + 8*n*l + r]"), R"(namespace twinloom::device {
extern "C" void kernel(const Arguments* arguments, i64 begin, i64 end) {
  const f32* const a0 = static_cast<const f32*>(arguments->buffers[0]);
  f32* const a1 = static_cast<f32*>(arguments->buffers[1]);
  const i64 n1 = arguments->sizes[0];
  const i64 n5 = 8 * n1;
  for (i64 k2 = 0; k2 < n1; ++k2) {
    const auto p3 = a1 + 64 * k2;
    const auto p4 = a0 + 8 * k2;
    transpose<8>(p3, 8, p4, n5);
  }
}
}  // namespace twinloom::device
)");
}

TEST(Emit, WhatIsNoSquareIsNotTurnedOver) {
  const std::vector<std::string> others = {
      square("64*i + 8*r + l", "x[8*i + 8*n*l + r]", "4"),       // half of one
      square("64*i + 8*l + r", "x[8*i + 8*n*l + r]"),            // nothing to turn over
      square("64*i + 8*r + l", "x[8*i + 8*n*l + 2*r]"),          // no neighbours
      square("64*i + 8*r + l", "neg(x[8*i + 8*n*l + r])"),       // something is computed
      square("64*i + 8*r + l", "x[8*i + 8*n*l + r] if l < n"),   // not all of it is stored
      square("64*i + 8*r + l", "y[8*i + 8*n*l + r]"),            // its own memory
      square("64*i + 8*r + l", "x[floor_mod(8*n*l + r, 64)]")};  // no stride
  for (const std::string& text : others) EXPECT_EQ(text.find("transpose"), std::string::npos) << text;
}

// Its pointer is not put in front of the loop whose turn declares it, where its offset is known already.
TEST(Emit, AnArrayIsPointedToInItsScope) {
  const std::string text =
      text_of(R"(program p(x: f32[8*n], y: written f32[8*n], s: local f32[16]; n in 1..) {
    for i < n { for j < 2 { scratch s[16] in registers {
      for l < 8 vector { s[8*floor_mod(i, 2) + l] = x[8*i + l] }
      for l < 8 vector { y[8*i + l] = s[8*floor_mod(i, 2) + l] } } } } })");
  const std::size_t declared = text.find(" a2[16];"), used = text.find("= a2 + ");
  ASSERT_NE(declared, std::string::npos) << text;
  ASSERT_NE(used, std::string::npos) << text;
  EXPECT_LT(declared, used) << text;
}

// Under the same name, which a scope may define once.
TEST(Emit, AnArrayIsDefinedInTheScopeOfAnIterationThatIsWrittenOut) {
  EXPECT_EQ(text_of(R"(program p(x: f32[16], y: written f32[16], s: local f32[8]) {
    for j < 2 unroll { scratch s[8] in registers {
      for l < 8 vector { s[l] = x[8*j + l] } for k < 8 { y[8*j + k] = s[k] } } } })"),
            R"(namespace twinloom::device {
extern "C" void kernel(const Arguments* arguments, i64 begin, i64 end) {
  const f32* const a0 = static_cast<const f32*>(arguments->buffers[0]);
  f32* const a1 = static_cast<f32*>(arguments->buffers[1]);
  const Vector<f32, 8> v1 = load<8>(a0);
  {
    alignas(64) alignas(f32) f32 a2[8];
    store(a2, v1);
    for (i64 k2 = 0; k2 < 8; ++k2) {
      const auto p3 = a2 + k2;
      const f32 v4 = *p3;
      const auto p5 = a1 + k2;
      *p5 = v4;
    }
  }
  const Vector<f32, 8> v6 = load<8>(a0 + 8);
  {
    alignas(64) alignas(f32) f32 a2[8];
    store(a2, v6);
    for (i64 k7 = 0; k7 < 8; ++k7) {
      const auto p8 = a2 + k7;
      const f32 v9 = *p8;
      const auto p10 = a1 + k7;
      *(p10 + 8) = v9;
    }
  }
}
}  // namespace twinloom::device
)");
}

// A pointer for each, put in front of all loops, would be alive in them.
TEST(Emit, CopiesThatLieSizesApartShareAPointer) {
  const std::string text = text_of(R"(program p(x: f32[4*n], y: written f32[4*n]; n in 1..) {
    for i < n { for j < 3 unroll { y[i + j*n] = x[i + j*n + 2] } } })");
  for (const std::string_view used : {" + n1 + 2", " + 2 * n1 + 2", " + 2 * n1)"})
    EXPECT_NE(text.find(used), std::string::npos) << used << "\n" << text;
  EXPECT_EQ(text.find("a0 + n1"), std::string::npos) << text;
}

// None reaches into the next, and each starts where the widest access may.
TEST(Emit, ArraysOfABlockLieBehindOneAnother) {
  const emit::ScratchLayout layout = emit::scratch_layout(loops::parse(
      R"(program p(x: f32[8], y: written f32[8], a: local f32[5], b: local u8[1], c: local f64[33], d: local f32[4]) {
  scratch a[5] in scratch { scratch b[1] in scratch { y[0] = x[0] } scratch d[4] in registers {
    scratch c[33] in scratch { y[1] = x[1] } } }
})"));
  EXPECT_EQ(layout.offsets, (std::map<loops::Buffer, std::int64_t>{
                                {loops::Buffer{2}, 0}, {loops::Buffer{3}, 32}, {loops::Buffer{4}, 48}}));
  EXPECT_EQ(layout.bytes, 48 + 272);
}

TEST(Emit, TheCommentIsEscapedAndEndsWithItsLine) {
  const loops::Program program = loops::parse("program p(x: written f32[1]) { x[0] = 0x0p+0: f32 }");
  const std::string text = emit::emit(program, cpu::CpuDialect(), "name \x01\nback\\");
  EXPECT_EQ(text.substr(0, text.find("namespace")), "// name \\x01\n// back\\\\.\n");
}

TEST(Emit, WhatIsNoProgramIsABug) {
  EXPECT_THROW(text_of(R"(program p(x: f32[8], y: written f32[1]) {
    start t0 : sum f32 for i < 8 { t0 += x[i] at i } y[0] = t0 })"),
               Bug);
  EXPECT_THROW(text_of(R"(program p(x: written f32[8]) {
    for i < 1 block { for j < 4 { x[j] = 0x0p+0: f32 } for j < 8 { x[j] = 0x0p+0: f32 } } })"),
               Bug);
}

}  // namespace

}  // namespace twinloom::tests
