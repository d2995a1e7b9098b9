// On a GPU: products that cuBLASLt computes, beside the same products summed up in f64.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <thread>

#include "backends/cuda/cublas.h"
#include "tests/streams/gpu_test.h"

namespace twinloom::tests {

namespace {

// Row-major [batch, rows, columns] of numbers that 16 bits hold too.
struct Matrices {
  std::int64_t batch, rows, columns;
  std::vector<float> elements;
  double at(std::int64_t b, std::int64_t i, std::int64_t j) const {
    return elements[static_cast<std::size_t>((b * rows + i) * columns + j)];
  }
};
Matrices drawn(std::int64_t batch, std::int64_t rows, std::int64_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> values(-64, 64);
  Matrices made{batch, rows, columns, {}};
  for (std::int64_t at = 0; at < batch * rows * columns; ++at)
    made.elements.push_back(static_cast<float>(values(random)) / 64);
  return made;
}

class Products : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && !cuda::has_cublas()) GTEST_SKIP() << "cuBLASLt is not found";
  }

  // As elements of the type, uploaded.
  Tensor uploaded(const Matrices& given, DType dtype, std::vector<std::int64_t> sizes) const {
    const auto bytes = static_cast<std::size_t>(ops::size_of(dtype));
    auto memory = std::make_shared<std::vector<std::byte>>(given.elements.size() * bytes);
    for (std::size_t at = 0; at < given.elements.size(); ++at)
      ops::store_number(dtype, ops::Number(double{given.elements[at]}), memory->data() + at * bytes);
    const Tensor here{memory->data(), dtype, sizes, runtime::contiguous_strides(sizes), memory};
    return device().upload(here);
  }

  static bool has_library_call(const Executable& executable, const std::vector<Argument>& arguments) {
    const auto variant = executable.variant(arguments);
    return std::ranges::any_of(variant->steps,
                               [](const runtime::Step& step) { return step.program.library; });
  }

  // The first result of the graph, which a call of the library has its part in.
  Tensor run(const Graph& graph, const std::vector<Argument>& arguments, bool has_call = true) const {
    const Executable executable = compile(graph, device());
    EXPECT_EQ(has_library_call(executable, arguments), has_call);
    return std::get<Tensor>(executable.run(arguments)[0]);
  }

  // Sums of n terms below 1: within n u sum |x| of f32, and a step of what is stored.
  void expect_near(const Tensor& given, const std::vector<double>& expected, std::int64_t terms) const {
    const Tensor here = contiguous(device().download(given));
    const auto n = static_cast<double>(terms);
    const double step = here.dtype == DType::f32 ? 0 : here.dtype == DType::f16 ? 0x1p-11 : 0x1p-8;
    const auto* bytes = static_cast<const std::byte*>(here.data);
    ASSERT_EQ(runtime::element_count(here), std::ssize(expected));
    for (std::size_t at = 0; at < expected.size(); ++at) {
      const double value = ops::real_of(
          ops::load_number(here.dtype, bytes + at * static_cast<std::size_t>(ops::size_of(here.dtype))),
          here.dtype);
      ASSERT_NEAR(value, expected[at], n * n * 0x1p-24 + step * std::abs(expected[at])) << "element " << at;
    }
  }
};

std::vector<double> product_of(const Matrices& a, const Matrices& b) {
  std::vector<double> made;
  for (std::int64_t g = 0; g < a.batch; ++g)
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j < b.columns; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < a.columns; ++k) sum += a.at(g, i, k) * b.at(g, k, j);
        made.push_back(sum);
      }
  return made;
}

// Odd sizes too, which 16 bits have other kernels for.
TEST_F(Products, OfEveryType) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
    for (const auto& [n, k, m] :
         {std::array<std::int64_t, 3>{256, 512, 384}, {257, 301, 333}, {1, 4096, 4100}}) {
      const Matrices a = drawn(1, n, k, 1), b = drawn(1, k, m, 2);
      Builder builder;
      const Value left = builder.input("a", dtype, {n, k}), right = builder.input("b", dtype, {k, m});
      builder.output(graph::matrix_product(left, right));
      const Tensor result =
          run(builder.take(), {uploaded(a, dtype, {n, k}), uploaded(b, dtype, {k, m})}, n > 1);
      expect_near(result, product_of(a, b), k);
    }
}

TEST_F(Products, ABiasWhatIsAddedAndWhatFollows) {
  constexpr std::int64_t N = 256, K = 320, M = 512;
  const Matrices a = drawn(1, N, K, 1), b = drawn(1, K, M, 2), c = drawn(1, 1, M, 3), x = drawn(1, N, M, 4);
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const bool has_relu : {false, true}) {
      Builder builder;
      const Value left = builder.input("a", dtype, {N, K}), right = builder.input("b", dtype, {K, M});
      const Value bias = builder.input("c", dtype, {M}), residual = builder.input("x", dtype, {N, M});
      const Value sum = graph::matrix_product(left, right) + bias + residual;
      builder.output(has_relu ? graph::relu(sum) : sum);
      std::vector<double> expected = product_of(a, b);
      for (std::size_t at = 0; at < expected.size(); ++at) {
        expected[at] += c.elements[at % M] + x.elements[at];
        if (has_relu) expected[at] = std::max(expected[at], 0.0);
      }
      expect_near(run(builder.take(), {uploaded(a, dtype, {N, K}), uploaded(b, dtype, {K, M}),
                                       uploaded(c, dtype, {M}), uploaded(x, dtype, {N, M})}),
                  expected, K);
    }
}

// [2, 64, 4 * 32] read as 2 x 4 matrices: no one step leads from each to the next.
TEST_F(Products, HeadsBetweenTheRowsOfSequences) {
  constexpr std::int64_t S = 3, L = 512, H = 4, D = 32;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Matrices q = drawn(S, L, H * D, 1), k = drawn(S, L, H * D, 2);
    Builder builder;
    const auto heads = [&](const char* name) {
      const Value x = builder.input(name, dtype, {S, L, H * D});
      return graph::reshape(graph::permute(graph::reshape(x, {S, L, H, D}), {0, 2, 1, 3}), {S * H, L, D});
    };
    const Value queries = heads("q"), keys = heads("k");
    builder.output(graph::matrix_product(queries, graph::transpose(keys, 1, 2)));
    std::vector<double> expected;
    for (std::int64_t s = 0; s < S; ++s)
      for (std::int64_t h = 0; h < H; ++h)
        for (std::int64_t i = 0; i < L; ++i)
          for (std::int64_t j = 0; j < L; ++j) {
            double sum = 0;
            for (std::int64_t d = 0; d < D; ++d) sum += q.at(s, i, h * D + d) * k.at(s, j, h * D + d);
            expected.push_back(sum);
          }
    expect_near(run(builder.take(), {uploaded(q, dtype, {S, L, H * D}), uploaded(k, dtype, {S, L, H * D})}),
                expected, D);
  }
}

TEST_F(Products, SizesOfARunWithNoneAmongThem) {
  constexpr std::int64_t K = 1024, M = 1024;
  const Symbol n("n");
  Builder builder;
  builder.size_parameter("n", n);
  const Value left = builder.input("a", DType::bf16, {index::Expr(n), K}),
              right = builder.input("b", DType::bf16, {K, M});
  builder.output(graph::matrix_product(left, right));
  const Executable executable = compile(builder.take(), device());
  const Matrices b = drawn(1, K, M, 2);
  const Tensor there = uploaded(b, DType::bf16, {K, M});
  for (const std::int64_t rows : {0, 1, 7, 300}) {
    const Matrices a = drawn(1, rows, K, 1);
    const std::vector<Argument> arguments = {rows, uploaded(a, DType::bf16, {rows, K}), there};
    // Of few products the estimates decide.
    EXPECT_TRUE(rows < 300 || has_library_call(executable, arguments));
    const Tensor result = std::get<Tensor>(executable.run(arguments)[0]);
    expect_near(result, product_of(a, b), K);
  }
}

// Of a caller's tensor that begins between multiples of 16 bytes.
TEST_F(Products, MemoryThatBeginsAnywhere) {
  constexpr std::int64_t N = 256, K = 513, M = 256;
  const Matrices a = drawn(1, N, K, 1), b = drawn(1, K, M, 2);
  Builder builder;
  const Value left = builder.input("a", DType::bf16, {N, K - 1}),
              right = builder.input("b", DType::bf16, {K - 1, M});
  builder.output(graph::matrix_product(left, right));
  Tensor shifted = uploaded(a, DType::bf16, {N, K});
  shifted.data = static_cast<std::byte*>(shifted.data) + ops::size_of(DType::bf16);
  shifted.sizes = {N, K - 1};
  std::vector<double> expected;
  for (std::int64_t i = 0; i < N; ++i)
    for (std::int64_t j = 0; j < M; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k + 1 < K; ++k) sum += a.at(0, i, k + 1) * b.at(0, k, j);
      expected.push_back(sum);
    }
  Tensor rows = uploaded(b, DType::bf16, {K, M});
  rows.sizes = {K - 1, M};
  expect_near(run(builder.take(), {shifted, rows}), expected, K);
}

TEST_F(Products, ANaNGoesThrough) {
  constexpr std::int64_t N = 256;
  Matrices a = drawn(1, N, N, 1), b = drawn(1, N, N, 2);
  a.elements[5 * N + 3] = std::nanf("");
  Builder builder;
  const Value left = builder.input("a", DType::f32, {N, N}), right = builder.input("b", DType::f32, {N, N});
  builder.output(graph::relu(graph::matrix_product(left, right)));
  const std::vector<float> result = numbers(
      run(builder.take(), {uploaded(a, DType::f32, {N, N}), uploaded(b, DType::f32, {N, N})}), device());
  for (std::int64_t i = 0; i < N; ++i)
    for (std::int64_t j = 0; j < N; ++j)
      ASSERT_EQ(std::isnan(result[static_cast<std::size_t>(i * N + j)]), i == 5) << i << " " << j;
}

TEST_F(Products, ManyThreadsOnStreamsOfTheirOwn) {
  constexpr std::int64_t N = 512;
  const Matrices a = drawn(1, N, N, 1), b = drawn(1, N, N, 2);
  Builder builder;
  const Value left = builder.input("a", DType::f32, {N, N}), right = builder.input("b", DType::f32, {N, N});
  builder.output(graph::matrix_product(left, right));
  const Executable executable = compile(builder.take(), device());
  const std::vector<Argument> arguments = {uploaded(a, DType::f32, {N, N}), uploaded(b, DType::f32, {N, N})};
  const std::vector<float> expected = numbers(std::get<Tensor>(executable.run(arguments)[0]), device());
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> found(6);
  for (std::vector<float>& one : found)
    threads.emplace_back([&] {
      const CallersStream stream;
      for (int time = 0; time < 20; ++time)
        one = numbers(std::get<Tensor>(executable.run(arguments, stream.options())[0]), device());
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& one : found) EXPECT_EQ(one, expected);
}

}  // namespace
}  // namespace twinloom::tests
