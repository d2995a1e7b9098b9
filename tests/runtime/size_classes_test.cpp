// Which runs share a variant: those of one class of sizes, and, of many classes, all that are left.
#include <gtest/gtest.h>

#include "api/twinloom.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {

namespace {

using Kind = loops::SizeQuestion::Kind;

// y = softmax of the rows of x.
Graph softmax_graph() {
  Builder builder("softmax");
  const Symbol n("n"), m("m");
  builder.output(graph::softmax(builder.input("x", DType::f32, {n, m}), 1), "y");
  return builder.take();
}

// Makes nothing that could run, of classes that tell extents of m apart.
class Makers {
 public:
  runtime::Executable executable() {
    return {softmax_graph(), [this](const runtime::Request& asked) {
              auto variant = std::make_shared<runtime::Variant>();
              const index::Values& sizes = asked.sizes;
              if (!sizes.empty()) variant->sizes.add({{Kind::extent, index::Symbol("m"), 4096}}, sizes);
              of_all += sizes.empty() ? 1 : 0;
              ++made;
              return variant;
            }};
  }
  int made = 0, of_all = 0;
};

std::vector<runtime::Argument> matrix(std::int64_t n, std::int64_t m) {
  return {view_of(nullptr, DType::f32, {n, m})};
}

TEST(SizeClasses, ShareAVariant) {
  Makers makers;
  const runtime::Executable executable = makers.executable();
  const auto wide = executable.variant(matrix(3, 4095));
  EXPECT_EQ(executable.variant(matrix(900, 2049)), wide);
  EXPECT_NE(executable.variant(matrix(3, 2048)), wide);
  EXPECT_EQ(executable.variant(matrix(7, 4000)), wide);
  EXPECT_NE(executable.variant(matrix(7, 4096)), wide);
  EXPECT_EQ(makers.made, 3);
  EXPECT_EQ(makers.of_all, 0);
}

TEST(SizeClasses, AreFewThenOneVariantServesAllSizes) {
  Makers makers;
  const runtime::Executable executable = makers.executable();
  std::vector<std::shared_ptr<const runtime::Variant>> own;
  for (const std::int64_t m : {30, 60, 120, 250}) own.push_back(executable.variant(matrix(2, m)));
  const auto rest = executable.variant(matrix(2, 500));
  EXPECT_EQ(executable.variant(matrix(2, 5000)), rest);
  EXPECT_EQ(executable.variant(matrix(2, 1000)), rest);
  EXPECT_EQ(executable.variant(matrix(2, 61)), own[1]);
  EXPECT_EQ(makers.made, 5);
  EXPECT_EQ(makers.of_all, 1);
  // Other layouts have classes of their own.
  const std::vector<runtime::Argument> transposed = {view_of(nullptr, DType::f32, {2, 500}, {1, 2})};
  EXPECT_NE(executable.variant(transposed), rest);
  EXPECT_EQ(makers.of_all, 1);
}

TEST(SizeClasses, AGraphWithoutSymbolsHasOne) {
  Builder builder("fixed");
  builder.output(builder.input("x", DType::f32, {3, 4}) * 2.0);
  int made = 0;
  const runtime::Executable executable(builder.take(), [&](const runtime::Request&) {
    ++made;
    return std::make_shared<runtime::Variant>();
  });
  const auto only = executable.variant(matrix(3, 4));
  EXPECT_EQ(executable.variant(matrix(3, 4)), only);
  EXPECT_EQ(made, 1);
}

// Lowering and fusion know nothing of the class.
TEST(SizeClasses, ShareWhatWasFused) {
  const Executable executable = compile(softmax_graph(), Device::cpu({.cache = false}));
  const auto first = executable.variant(matrix(3, 40)), second = executable.variant(matrix(3, 100));
  ASSERT_NE(first, second);
  EXPECT_TRUE(first->groups.at(0).nest.body == second->groups.at(0).nest.body);
  const std::vector<runtime::Argument> transposed = {view_of(nullptr, DType::f32, {3, 100}, {1, 3})};
  EXPECT_FALSE(executable.variant(transposed)->groups.at(0).nest.body == first->groups.at(0).nest.body);
}

// The programs of a class run with every size of it, and what they give does not depend on the class.
TEST(SizeClasses, GiveTheSameBits) {
  const Executable executable =
      compile(softmax_graph(), Device::cpu({.cache = false}), {.mode = Mode::strict});
  const Executable interpreted = compile(softmax_graph(), Device::reference(), {.mode = Mode::strict});
  for (const std::int64_t m : {1, 31, 32, 33, 64, 1023, 1024, 1025, 1500, 2047, 2048, 2049, 9000, 9001, 16}) {
    std::vector<float> x(static_cast<std::size_t>(3 * m));
    for (std::size_t at = 0; at < x.size(); ++at) x[at] = static_cast<float>(at * at % 97) * 0.03125f - 1.0f;
    const std::vector<runtime::Argument> given = {view_of(x.data(), DType::f32, {3, m})};
    const auto numbers = [&](const Executable& one) {
      const Tensor tensor = contiguous(std::get<Tensor>(one.run(given)[0]));
      const auto* data = static_cast<const float*>(tensor.data);
      return std::vector<float>(data, data + runtime::element_count(tensor));
    };
    EXPECT_EQ(numbers(executable), numbers(interpreted)) << m;
  }
}

}  // namespace

}  // namespace twinloom::tests
