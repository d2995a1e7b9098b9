// Products of 8-bit integers that oneDNN computes, beside the interpreter: to the last bit, as sums of
// integers are exact. Skipped where it is not found, or where the processor does not multiply such integers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "backends/cpu/cpu.h"
#include "backends/cpu/onednn.h"
#include "core/base/text.h"
#include "core/library_calls/split.h"
#include "core/loops/epilogue.h"
#include "core/loops/interpret.h"

namespace twinloom::tests {
namespace {

const runtime::Backend& cpu() {
  static const std::unique_ptr<runtime::Backend> backend = cpu::make_cpu({.threads = 2});
  return *backend;
}

using Bytes = std::vector<std::byte>;

// Integers of all bits, reals below 1.
Bytes drawn(ops::DType dtype, std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> reals(-1, 1);
  const auto size = static_cast<std::size_t>(ops::size_of(dtype));
  Bytes bytes(static_cast<std::size_t>(count) * size);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const ops::Number number = ops::holds_real(dtype) ? ops::Number(reals(random))
                                                      : ops::Number(static_cast<std::int64_t>(random()));
    ops::store_number(dtype, ops::cast(number, dtype), bytes.data() + at);
  }
  return bytes;
}

using Change = std::function<void(std::vector<Bytes>& arrays)>;
void expect_same(const std::string& text, const Change& change = {}) {
  SCOPED_TRACE(text);
  const loops::Program nest = loops::parse(text);
  loops::verify(nest, loops::Stage::program);
  ASSERT_TRUE(cpu().has_library_for(nest));
  const auto kernel = cpu().build(nest).kernel;
  std::vector<Bytes> arrays;
  const auto memory = [&](std::vector<Bytes>& of) {
    std::vector<loops::Memory> all;
    for (std::size_t b = 0; b < of.size(); ++b)
      all.push_back(
          {of[b].data(), 0, static_cast<std::int64_t>(of[b].size()) / ops::size_of(nest.buffers[b].dtype)});
    return all;
  };
  for (unsigned b = 0; b < nest.buffers.size(); ++b)
    arrays.push_back(drawn(nest.buffers[b].dtype, *index::constant_of(nest.buffers[b].count), b + 1));
  if (change) change(arrays);
  std::vector<Bytes> expected = arrays;
  EXPECT_FALSE(loops::interpret(nest, memory(expected), {}));
  for (const int threads : {1, 2}) {
    std::vector<Bytes> got = arrays;
    runtime::RunSettings settings;
    settings.threads = threads;
    EXPECT_FALSE(kernel->run(memory(got), {}, settings));
    for (std::size_t b = 0; b < got.size(); ++b) EXPECT_EQ(got[b], expected[b]) << nest.buffers[b].name;
  }
}

class IntegerCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cpu::onednn_path()) GTEST_SKIP() << "oneDNN 3 is not found";
    if (!cpu().has_library_for(library_calls::sample_product(ops::DType::i8)))
      GTEST_SKIP() << "the processor has no products of 8-bit integers";
  }
};

// A product of 31 rows and 24 columns whose result is stored as said.
std::string product(const std::string& types, const std::string& left, const std::string& stored,
                    const std::string& right = "i32(b[24*k + j])") {
  return cat("program p(", types,
             ", s: f32[24], c: f32[24]) library { for i < 31 { for j < 24 { start t0 : sum i32 "
             "for k < 40 { t0 += mul(",
             left, ", ", right, ") at k } y[24*i + j] = ", stored, " } } }");
}

TEST_F(IntegerCalls, ProductsOfBothTypesWithZeroPoints) {
  for (const char* type : {"u8", "i8"})
    for (const char* left :
         {"i32(a[40*i + k])", "sub(i32(a[40*i + k]), 114:i32)", "sub(i32(a[40*i + k]), 7:i32)"})
      for (const auto& [out, stored] : {std::pair{"i32", "t0"}, std::pair{"f32", "f32(t0)"}})
        expect_same(product(cat("a: ", type, "[1240], b: i8[960], y: written ", out, "[744]"), left, stored));
}

// Of the right factor, and of both.
TEST_F(IntegerCalls, ZeroPointsOfWeights) {
  for (const char* type : {"u8", "i8"})
    for (const char* left : {"i32(a[40*i + k])", "sub(i32(a[40*i + k]), 114:i32)"})
      for (const auto& [out, stored] : {std::pair{"i32", "t0"}, std::pair{"f32", "mul(f32(t0), s[j])"}})
        expect_same(product(cat("a: ", type, "[1240], b: i8[960], y: written ", out, "[744]"), left, stored,
                            "sub(i32(b[24*k + j]), -3:i32)"));
}

// As DynamicQuantizeLinear makes them.
TEST_F(IntegerCalls, ZeroPointsOfARun) {
  for (const char* type : {"u8", "i32"})
    expect_same(product(cat("a: u8[1240], b: i8[960], y: written i32[744], z: ", type, "[3]"),
                        std::string_view(type) == "u8" ? "sub(i32(a[40*i + k]), i32(z[1]))"
                                                       : "sub(i32(a[40*i + k]), z[2])",
                        "t0"),
                [](std::vector<Bytes>& arrays) {
                  for (std::size_t at = 1; at < 4; ++at) arrays[3][arrays[3].size() - at] = {};
                });
}

const char* const QUANTIZED =
    "minimum(maximum(add(round(div(relu(add(mul(f32(t0), s[j]), c[j])), 0x1p+4:f32)), 0x1.8p+1:f32), ";

TEST_F(IntegerCalls, WhatFollowsIsThatOfTheNest) {
  const std::string types = "a: u8[1240], b: i8[960], y: written ", left = "sub(i32(a[40*i + k]), 114:i32)";
  expect_same(product(types + "f32[744]", left, "relu(add(mul(f32(t0), s[j]), c[j]))"));
  expect_same(product(types + "u8[744]", left, cat("u8(", QUANTIZED, "0x0p+0:f32), 0x1.fep+7:f32))")));
  expect_same(product(types + "i8[744]", left, cat("i8(", QUANTIZED, "-0x1p+7:f32), 0x1.fcp+6:f32))")));
}

TEST_F(IntegerCalls, NaNsOfWhatFollowsAreKept) {
  const auto put = [](std::vector<Bytes>& arrays) {
    const float nan = std::nanf("");
    std::memcpy(arrays[4].data() + 5 * sizeof(float), &nan, sizeof(float));
  };
  const std::string types = "a: u8[1240], b: i8[960], y: written ", left = "i32(a[40*i + k])";
  expect_same(product(types + "f32[744]", left, "relu(add(mul(f32(t0), s[j]), c[j]))"), put);
  expect_same(product(types + "u8[744]", left, cat("u8(", QUANTIZED, "0x0p+0:f32), 0x1.fep+7:f32))")), put);
}

// 3 x 3 taps over images of 9 x 9 elements beside channels, 8 in and 16 out: what is read outside, and the
// zero point, where IN is what says that a place is inside.
std::string convolution(const std::string& type, const std::string& outside, const std::string& zero) {
  const std::string inside = "0 < u + p && u + p - 1 < 9 && 0 < v + q && v + q - 1 < 9";
  std::string text = cat(
      "program p(a: ", type,
      "[648], b: i8[1152], y: written f32[1296], s: f32[16], z: u8[1]) library { for u < 9 { for v < 9 { for "
      "o "
      "< 16 { start t0 : sum i32 for c < 8 { for p < 3 { for q < 3 { t0 += mul(sub(i32((a[72*u + 8*v + c + "
      "72*p + 8*q - 80] if IN else ",
      outside, ":", type, ")), ", zero,
      "), i32(b[72*o + 9*c + 3*p + q])) at 9*c + 3*p + q } } } y[144*u + 16*v + o] = mul(f32(t0), s[o]) } } "
      "} }");
  for (std::size_t at = 0; (at = text.find("IN", at)) != std::string::npos;) text.replace(at, 2, inside);
  return text;
}

TEST_F(IntegerCalls, ConvolutionsPadWithTheZeroPoint) {
  for (const auto& [type, zero] : {std::pair{"u8", "0"}, std::pair{"u8", "114"}, std::pair{"i8", "-5"}})
    expect_same(convolution(type, zero, cat(zero, ":i32")));
}

// What a run knows is 0 outside, as what is read is.
TEST_F(IntegerCalls, ConvolutionsPadWithTheZeroPointOfARun) {
  expect_same(convolution("u8", "0", "i32((z[0] if IN else 0:u8))"));
  for (const auto& [outside, zero] :
       {std::pair{"0", "i32(z[0])"}, std::pair{"1", "i32((z[0] if IN else 0:u8))"},
        std::pair{"0", "i32((z[0] if IN else 1:u8))"}, std::pair{"0", "i32((z[0] if 0 < u else 0:u8))"}})
    EXPECT_FALSE(loops::contraction_of(loops::parse(convolution("u8", outside, zero)))) << outside << zero;
}

TEST_F(IntegerCalls, NotWhatIsPaddedOtherwise) {
  const loops::Program nest = loops::parse(
      "program p(a: u8[9], b: i8[48], y: written i32[144]) { for v < 9 { for o < 16 { start t0 : sum i32 for "
      "q < 3 { "
      "t0 += mul(sub(i32((a[v + q - 1] if 0 < v + q && v + q - 1 < 9 else 0:u8)), 5:i32), i32(b[3*o + q])) "
      "at q } "
      "y[16*v + o] = t0 } } }");
  EXPECT_FALSE(loops::contraction_of(nest));
}

}  // namespace
}  // namespace twinloom::tests
