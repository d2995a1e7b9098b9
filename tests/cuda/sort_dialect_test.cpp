// The text of a kernel that sorts, and how it is launched.
#include <gtest/gtest.h>

#include "backends/cuda/dialect.h"
#include "backends/cuda/launch.h"
#include "backends/cuda/launch_bounds.h"
#include "core/base/text.h"
#include "core/emit/emit.h"

namespace twinloom::cuda {

namespace {

// Blocks of a sort have whole iterations of 4,096 elements, and there are never more than run at once.
TEST(SortDialect, ASortIsLaunchedWithBlocksOfItsOwn) {
  const loops::Program program =
      loops::parse(R"(program sort(key: i32[n], order: written i64[n], starts: written i64[9]; n in 0..) {
    call stable_sort (order, starts) sizes (n, 8) { slot t0 at (p) { t0 = i64(key[p]) } } })");
  EXPECT_NE(emit::emit(program, CudaDialect(Handed::usual)).find("__launch_bounds__(512)"),
            std::string::npos);
  EXPECT_EQ(block_threads(program), 512);
  const index::Expr blocks = block_count(program, 132);
  const auto of = [&](std::int64_t n) { return index::evaluate(blocks, {{program.sizes[0].symbol, n}}); };
  EXPECT_EQ(of(0), 1);
  EXPECT_EQ(of(4096), 1);
  EXPECT_EQ(of(4097), 2);
  EXPECT_EQ(of(10'000'000), 264);
}

TEST(SortDialect, ASortWhoseOrderIsAllHasNoStarts) {
  const loops::Program program = loops::parse(R"(program sort(key: u32[n], order: written i64[n]; n in 0..) {
    call stable_sort (order) sizes (n, 4294967296) { slot t0 at (p) { t0 = i64(key[p]) } } })");
  EXPECT_NE(emit::emit(program, CudaDialect(Handed::usual)).find(", nullptr, "), std::string::npos);
}

// Its kernel has what its sizes may ask for, and words as wide as its keys ask for.
TEST(SortDialect, AnOrderIsFoundByBlocksOfItsOwn) {
  const auto has = [](std::string_view sizes, std::string_view words) {
    const loops::Program program =
        loops::parse(cat("program sort(key: u32[n], order: written i64[n]; n in 0..) {\n"
                         "call stable_sort (order) sizes (",
                         sizes, ") { slot t0 at (p) { t0 = i64(key[p]) } } }"));
    const std::string text = emit::emit(program, CudaDialect(Handed::usual));
    EXPECT_NE(text.find(words), std::string::npos) << words << " is not in\n" << text;
    EXPECT_NE(text.find("__launch_bounds__(256, 4)"), std::string::npos) << text;
    EXPECT_EQ(block_threads(program), 256);
    EXPECT_TRUE(keeps_launch_bounds(program));
  };
  has("n, 4294967296", "StableOrder<32, OrderTasks::either> stable_sort");
  has("4096, 65536, 3", "StableOrder<16, OrderTasks::rows> stable_sort");
  has("4097, 5", "StableOrder<3, OrderTasks::passes> stable_sort");
  has("7, n", "StableOrder<32, OrderTasks::rows> stable_sort");
}

TEST(SortDialect, AnEpilogueIsToldThePositionAndTheElement) {
  const loops::Program program = loops::parse(
      R"(program sort(x: f32[n*r], order: written i64[n*r], y: written f32[n*r]; n in 0.., r in 0..) {
    call stable_sort (order) sizes (n, 9, r) {
      slot t0 at (p) { t0 = i64(x[p]) }
      slot t1 at (j, q) { y[n*j + q] = f32(t1) }
    } })");
  const std::string text = emit::emit(program, CudaDialect(Handed::usual));
  EXPECT_NE(text.find("(i64 k8, i64 k9, i64 v10, auto failure) {"), std::string::npos) << text;
  EXPECT_NE(text.find("convert<f32>(v10)"), std::string::npos) << text;
}

}  // namespace

}  // namespace twinloom::cuda
