// Constants that kernels keep in an order, or in memory, of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "backends/cpu/cpu.h"
#include "backends/cpu/onednn.h"
#include "backends/cpu/packed_memory.h"
#include "core/base/files.h"
#include "core/base/mapped_file.h"
#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/pipeline/pipeline.h"
#include "tests/support/scratch_folder.h"

namespace twinloom::tests {
namespace {

constexpr std::int64_t TERMS = 192, COLUMNS = 320;

// y = x w, x of any number of rows and w a constant, its elements in the given bytes.
graph::Graph product(KeptBytes bytes) {
  graph::Builder builder;
  const graph::Tensor x = builder.input("x", ops::DType::f32, {index::Symbol("n"), TERMS});
  const graph::Tensor w = builder.constant(graph::Array{ops::DType::f32, {TERMS, COLUMNS}, std::move(bytes)});
  builder.output(matrix_product(x, w));
  return builder.take();
}

std::vector<float> ones_to(std::size_t count) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1.0F);
  return numbers;
}

KeptBytes as_bytes(const std::vector<float>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

void run(const runtime::Executable& executable, std::int64_t rows) {
  std::vector<float> x(static_cast<std::size_t>(rows * TERMS), 1.0F);
  const std::vector<runtime::Argument> arguments = {
      runtime::view_of(x.data(), ops::DType::f32, {rows, TERMS})};
  const auto results = executable.run(arguments);
  // The sum of a column of 1, 2, 3, ...
  const double expected = TERMS + COLUMNS * (TERMS * (TERMS - 1) / 2.0);
  const auto& y = std::get<runtime::Tensor>(results.at(0));
  EXPECT_NEAR(static_cast<const float*>(y.data)[(rows - 1) * COLUMNS], expected, expected * 1e-5);
}

TEST(Constants, ArePackedOnceForAllSizesAndExecutables) {
  if (!cpu::onednn_path()) GTEST_SKIP() << "oneDNN 3 is not found";
  const std::size_t before = cpu::packed_bytes(), bytes = TERMS * COLUMNS * sizeof(float);
  const graph::Graph graph = product(as_bytes(ones_to(TERMS * COLUMNS)));
  {
    const std::shared_ptr<const runtime::Backend> backend = cpu::make_cpu({.threads = 2});
    const runtime::Executable first = pipeline::compile(graph, backend, {}),
                              second = pipeline::compile(graph, backend, {});
    for (const std::int64_t rows : {512, 700, 1024, 2000}) run(first, rows);
    run(second, 512);
    EXPECT_GE(cpu::packed_bytes() - before, bytes);
    // Calls of many rows may want another order than those of few.
    EXPECT_LE(cpu::packed_bytes() - before, 2 * bytes + bytes / 4);
  }
  EXPECT_EQ(cpu::packed_bytes(), before);
}

// Neighbours in one huge page, of sizes that are no whole pages.
TEST(Constants, ThatEndGiveBackNoPageOfTheirNeighbours) {
  const std::size_t before = cpu::packed_bytes();
  const auto content = std::make_shared<const int>(0);
  std::vector<std::shared_ptr<std::byte>> kept;
  constexpr std::size_t COUNT = 8, BYTES = 100'003;
  for (std::size_t number = 0; number < COUNT; ++number)
    kept.push_back(
        cpu::packed_memory({content, reinterpret_cast<const void*>(number), BYTES}, [&](std::byte* memory) {
          std::ranges::fill(std::span(memory, BYTES), static_cast<std::byte>(number + 1));
        }));
  EXPECT_EQ(cpu::packed_bytes() - before, COUNT * BYTES);
  for (std::size_t number = 0; number < COUNT; number += 2) kept[number] = nullptr;
  for (std::size_t number = 1; number < COUNT; number += 2)
    EXPECT_TRUE(std::ranges::all_of(std::span(kept[number].get(), BYTES), [&](std::byte byte) {
      return byte == static_cast<std::byte>(number + 1);
    })) << number;
  EXPECT_EQ(cpu::packed_bytes() - before, COUNT / 2 * BYTES);
}

// A kernel's own, of one row, from a file: read as a whole it is copied, looked up it stays in the file.
TEST(Constants, OfMappedFilesAreCopiedWhereAKernelReadsAllOfThem) {
  const ScratchFolder folder;
  const std::vector<float> numbers = ones_to(TERMS * COLUMNS);
  write_whole(folder.file("w"),
              std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4));
  const auto mapped = std::make_shared<const MappedFile>(folder.file("w"));
  const KeptBytes bytes(std::as_bytes(std::span(mapped->bytes())), mapped);
  EXPECT_TRUE(lies_in_file(bytes.read()));
  EXPECT_FALSE(lies_in_file(std::as_bytes(std::span(numbers))));
  const std::shared_ptr<const runtime::Backend> backend = cpu::make_cpu({.threads = 2});
  const std::size_t before = cpu::packed_bytes();
  {
    const runtime::Executable whole = pipeline::compile(product(bytes), backend, {});
    run(whole, 1);
    run(whole, 2);
    EXPECT_EQ(cpu::packed_bytes() - before, bytes.size());
  }
  graph::Builder builder;
  const graph::Tensor w = builder.constant(graph::Array{ops::DType::f32, {TERMS, COLUMNS}, bytes});
  const graph::Tensor rows = builder.input("rows", ops::DType::i64, {2});
  builder.output(graph::take(w, 0, rows));
  const runtime::Executable looked_up = pipeline::compile(builder.take(), backend, {});
  std::vector<std::int64_t> numbers_of_rows = {5, TERMS - 1};
  const auto results = looked_up.run(
      std::vector<runtime::Argument>{runtime::view_of(numbers_of_rows.data(), ops::DType::i64, {2})});
  EXPECT_EQ(static_cast<const float*>(std::get<runtime::Tensor>(results.at(0)).data)[COLUMNS],
            (TERMS - 1) * COLUMNS + 1);
  EXPECT_EQ(cpu::packed_bytes(), before);
}

}  // namespace
}  // namespace twinloom::tests
