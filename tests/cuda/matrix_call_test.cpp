// What cuBLASLt is asked for in place of a nest: walked by hand, it is what the interpreter makes of the
// nest.
#include "backends/cuda/matrix_call.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "backends/cuda/cublas.h"
#include "core/base/text.h"
#include "core/loops/interpret.h"
#include "tests/support/thrown.h"

namespace twinloom::cuda {
namespace {

using Arrays = std::vector<std::vector<float>>;

std::optional<MatrixCall> call_of(const std::string& text) {
  const loops::Program nest = loops::parse(text);
  const loops::ContractionCall call = loops::call_in(nest);
  return matrix_call_of(call, loops::types_in(nest, call.contraction));
}

std::int64_t offset_in(const ColumnMatrix& matrix, std::int64_t row, std::int64_t column) {
  if (matrix.transposed) std::swap(row, column);
  return row + column * matrix.column_step;
}

// D = op(A) op(B) + C + bias for each of the batch, as the library's manual has it.
void walk(const MatrixCall& call, const loops::Contraction& of, Arrays& arrays,
          MatrixCall::Four<std::int64_t> begins) {
  const auto factor = [&](MatrixCall::Which which) -> std::vector<float>& {
    const bool is_left = (which == MatrixCall::A) == call.swapped;
    return arrays[is_left ? of.left.index : of.right.index];
  };
  for (std::int64_t b = 0; b < call.batch; ++b) {
    const auto at = [&](MatrixCall::Which which, std::int64_t row, std::int64_t column) {
      const ColumnMatrix& matrix = call.matrices[which];
      return static_cast<std::size_t>(begins[which] + matrix.begin + b * matrix.batch_step +
                                      offset_in(matrix, row, column));
    };
    for (std::int64_t c = 0; c < call.matrices[MatrixCall::D].columns; ++c)
      for (std::int64_t r = 0; r < call.matrices[MatrixCall::D].rows; ++r) {
        double sum = 0;
        for (std::int64_t k = 0; k < call.depth; ++k)
          sum += double{factor(MatrixCall::A).at(at(MatrixCall::A, r, k))} *
                 factor(MatrixCall::B).at(at(MatrixCall::B, k, c));
        if (call.added) sum += arrays[of.operands[*call.added].buffer.index].at(at(MatrixCall::C, r, c));
        if (call.bias)
          sum +=
              arrays[of.operands[*call.bias].buffer.index].at(static_cast<std::size_t>(call.bias_begin + r));
        arrays[of.out.index].at(at(MatrixCall::D, r, c)) = static_cast<float>(sum);
      }
  }
}

void walk_outer(const MatrixCall& call, const loops::Contraction& of, Arrays& arrays, std::size_t outer,
                const MatrixCall::Four<std::int64_t>& begins) {
  if (outer == call.outer.size()) return walk(call, of, arrays, begins);
  for (std::int64_t at = 0; at < call.outer[outer].extent; ++at) {
    auto moved = begins;
    for (std::size_t which = 0; which < moved.size(); ++which)
      moved[which] += at * call.outer[outer].steps[which];
    walk_outer(call, of, arrays, outer + 1, moved);
  }
}

void expect_same(const std::string& text) {
  SCOPED_TRACE(text);
  const loops::Program nest = loops::parse(text);
  const auto call = call_of(text);
  ASSERT_TRUE(call);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> values(-1, 1);
  Arrays arrays;
  for (const loops::BufferInfo& buffer : nest.buffers) {
    arrays.emplace_back(static_cast<std::size_t>(*index::constant_of(buffer.count)));
    for (float& value : arrays.back()) value = values(random);
  }
  Arrays expected = arrays;
  std::vector<loops::Memory> memory;
  for (std::vector<float>& array : expected)
    memory.push_back({array.data(), 0, static_cast<std::int64_t>(array.size())});
  ASSERT_FALSE(loops::interpret(nest, memory, {}));
  walk_outer(*call, loops::call_in(nest).contraction, arrays, 0, {});
  for (std::size_t buffer = 0; buffer < arrays.size(); ++buffer)
    for (std::size_t at = 0; at < arrays[buffer].size(); ++at)
      ASSERT_NEAR(arrays[buffer][at], expected[buffer][at], 1e-4) << nest.buffers[buffer].name << " " << at;
}

TEST(MatrixCall, EveryLayoutOfFactorsAndResults) {
  for (const char* a : {"40*i + k", "31*k + i", "80*i + k + 7"})
    for (const char* b : {"23*k + j", "40*j + k", "50*k + j + 3"})
      for (const char* y : {"23*i + j", "31*j + i", "46*i + j + 5"})
        expect_same(
            cat("program p(a: f32[2500], b: f32[2000], y: written f32[1500]) library { for i < 31 { for j "
                "< 23 { start t0 : sum f32 free for k < 40 { t0 += mul(a[",
                a, "], b[", b, "]) at k } y[", y, "] = t0 } } }"));
}

TEST(MatrixCall, ARowAColumnAndAScalar) {
  for (const auto& [rows, columns] : {std::pair(1, 23), std::pair(31, 1), std::pair(1, 1)})
    expect_same(
        cat("program p(a: f32[1240], b: f32[920], y: written f32[713]) library { for i < ", rows,
            " { for j < ", columns,
            " { start t0 : sum f32 free for k < 40 { t0 += mul(a[40*i + k], b[23*k + j]) at k } y[23*i + "
            "j] = t0 } } }"));
}

// Heads between the rows of a sequence: no one step leads from matrix to matrix.
TEST(MatrixCall, ABatchOfTwoAxes) {
  const std::string text =
      "program p(a: f32[2400], b: f32[2400], y: written f32[2400]) library { for g < 3 { for h < 4 { for i < "
      "10 "
      "{ for j < 10 { start t0 : sum f32 free for k < 20 { t0 += mul(a[800*g + 20*h + 80*i + k], b[800*g + "
      "20*h "
      "+ 80*j + k]) at k } y[400*g + 100*h + 10*i + j] = t0 } } } } }";
  expect_same(text);
  EXPECT_EQ(call_of(text)->batch, 4);
  EXPECT_EQ(call_of(text)->outer.size(), 1U);
}

TEST(MatrixCall, ABatchWithAFactorThatStays) {
  for (const char* b : {"460*g + 23*k + j", "23*k + j"})
    expect_same(
        cat("program p(a: f32[2480], b: f32[1840], y: written f32[2852]) library { for g < 4 { for i < 31 "
            "{ for j < 23 { start t0 : sum f32 free for k < 20 { t0 += mul(a[620*g + 20*i + k], b[",
            b, "]) at k } y[713*g + 23*i + j] = t0 } } } }"));
}

std::string with_epilogue(const std::string& steps, const std::string& stored = "24*i + j") {
  return cat(
      "program p(a: f32[1240], b: f32[960], c: f32[31], x: f32[1488], y: written f32[1488]) library { for i "
      "< 31 { "
      "for j < 24 { start t0 : sum f32 free for k < 40 { t0 += mul(a[40*i + k], b[24*k + j]) at k } y[",
      stored, "] = ", steps, " } } }");
}

TEST(MatrixCall, ABiasAndAMatrixThatAreAdded) {
  for (const char* steps : {"add(t0, c[j])", "add(t0, x[24*i + j])", "add(add(t0, c[j]), x[48*i + j])",
                            "add(add(x[24*i + j], t0), c[j])"})
    expect_same(with_epilogue(steps));
  expect_same(with_epilogue("add(t0, c[i])", "31*j + i"));
}

TEST(MatrixCall, OtherStepsAreNone) {
  for (const char* steps :
       {"relu(t0)", "relu(add(t0, c[j]))", "mul(t0, c[j])", "add(t0, 0x1p-1:f32)", "add(t0, x[31*j + i])",
        "add(add(t0, c[j]), c[j + 7])", "add(add(t0, x[24*i + j]), x[24*i + j + 1])"})
    EXPECT_FALSE(call_of(with_epilogue(steps))) << steps;
}

TEST(MatrixCall, TypesThatItHasNot) {
  const auto product = [](const char* left, const char* right, const char* out) {
    const auto f32 = [](const char* type, const std::string& element) {
      return std::string(type) == "f32" ? element : cat("f32(", element, ")");
    };
    return cat("program p(a: ", left, "[1240], b: ", right, "[920], y: written ", out,
               "[713]) library { for i < 31 { for j < 23 { start t0 : sum f32 free for k < 40 { t0 += mul(",
               f32(left, "a[40*i + k]"), ", ", f32(right, "b[23*k + j]"),
               ") at k } y[23*i + j] = ", std::string(out) == "f32" ? "t0" : cat(out, "(t0)"), " } } }");
  };
  EXPECT_TRUE(call_of(product("bf16", "bf16", "bf16")));
  EXPECT_TRUE(call_of(product("f16", "f16", "f32")));
  EXPECT_FALSE(call_of(product("f16", "bf16", "f32")));
  EXPECT_FALSE(call_of(product("f32", "bf16", "f32")));
  EXPECT_FALSE(call_of(product("f16", "f16", "bf16")));
}

TEST(MatrixCall, ABiasOf16BitsGoesWithResultsOf16Bits) {
  const auto text = [](const char* operand, const char* out) {
    return cat("program p(a: bf16[1240], b: bf16[960], c: ", operand, "[24], y: written ", out,
               "[744]) library { for i < 31 { for j < 24 { start t0 : sum f32 free for k < 40 { t0 += "
               "mul(f32(a[40*i + k]), f32(b[24*k + j])) at k } y[24*i + j] = ",
               out, "(add(t0, ", std::string(operand) == "f32" ? "c[j]" : "f32(c[j])", ")) } } }");
  };
  const auto call = call_of(text("bf16", "bf16"));
  ASSERT_TRUE(call);
  EXPECT_EQ(call->bias, 0U);
  EXPECT_FALSE(call->added);
  EXPECT_FALSE(call_of(text("f32", "bf16")));
  EXPECT_FALSE(call_of(text("f16", "bf16")));
}

// Of odd steps, so that no two axes are one batch.
TEST(MatrixCall, ManySmallCallsAreNone) {
  const auto text = [](int outer) {
    return cat(
        "program p(a: f32[600000], b: f32[600000], y: written f32[600000]) library { for g < ", outer,
        " { for h < 70 { for i < 4 { for j < 4 { start t0 : sum f32 free for k < 4 { t0 += mul(a[1500*g + "
        "20*h + 4*i + k], b[1501*g + 20*h + 4*j + k]) at k } y[1520*g + 20*h + 4*i + j] = t0 } } } } }");
  };
  EXPECT_TRUE(call_of(text(60)));
  EXPECT_FALSE(call_of(text(65)));
}

TEST(Cublas, AMissingOneIsSaidWithTheVariableThatLeavesItOut) {
  const std::string words = tests::words_of<Error>([] { open_cublas({{"libabsent.so.13"}, {"/first"}}); });
  EXPECT_NE(words.find("TWINLOOM_CUBLAS=0 leaves it out"), std::string::npos) << words;
  EXPECT_NE(words.find("/first/libabsent.so.13"), std::string::npos) << words;
}

TEST(Cublas, TheVariableNamesAFileOrAFolderAndNothingElseIsTaken) {
  const char* const before = std::getenv("TWINLOOM_CUBLAS");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TWINLOOM_CUBLAS", "/nowhere/libcublasLt.so.13", 1);
  EXPECT_EQ(cublas_places().names, std::vector<std::string>{"/nowhere/libcublasLt.so.13"});
  EXPECT_TRUE(cublas_places().directories.empty());
  setenv("TWINLOOM_CUBLAS", "/", 1);
  EXPECT_EQ(cublas_places().names, (std::vector<std::string>{"/libcublasLt.so.13", "/libcublasLt.so.12"}));
  setenv("TWINLOOM_CUBLAS", "0", 1);
  EXPECT_TRUE(cublas_places().names.empty());
  before == nullptr ? unsetenv("TWINLOOM_CUBLAS") : setenv("TWINLOOM_CUBLAS", kept.c_str(), 1);
}

TEST(Cublas, HasEveryFunction) {
  if (!has_cublas()) GTEST_SKIP() << "cuBLASLt is not found";
  EXPECT_NE(cublas::functions().Matmul, nullptr);
  EXPECT_GE(cublas::functions().GetVersion(), 120000U);
}

}  // namespace
}  // namespace twinloom::cuda
