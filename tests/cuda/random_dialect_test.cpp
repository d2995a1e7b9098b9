// Random numbers of a thread's neighbours, of which four share a counter.
#include <gtest/gtest.h>

#include "backends/cuda/device_text.h"
#include "backends/cuda/dialect.h"
#include "core/base/text.h"
#include "core/emit/emit.h"
#include "tests/cuda/compiler.h"

namespace twinloom::cuda {

namespace {

std::string drawn(int lanes, int first) {
  const std::string program =
      cat("program drawn(y: written f32[4096]; seed in 0..) { for i < 8 block { for j < ", lanes,
          " vector { y[", lanes, "*i + j] = random_uniform(count(", lanes, "*i + j + ", first,
          "), count(seed), count(5), 2:i64) } } }");
  return emit::emit(loops::parse(program), CudaDialect(Handed::usual));
}

TEST(Dialect, NeighboursAreDrawnTogetherWhereTheyShareCounters) {
  EXPECT_NE(drawn(8, 0).find("random_uniform_beside<7, 4>("), std::string::npos) << drawn(8, 0);
  EXPECT_NE(drawn(4, 8).find("random_uniform_beside<3, 4>("), std::string::npos) << drawn(4, 8);
  EXPECT_NE(drawn(2, 2).find("random_uniform_beside<1, 2>("), std::string::npos) << drawn(2, 2);
  EXPECT_EQ(drawn(4, 2).find("_beside"), std::string::npos) << "two of each of two counters";
  EXPECT_EQ(drawn(2, 1).find("_beside"), std::string::npos) << "which a pair may lie between";
}

// Ten rounds of two products for each of two counters; of some only 32 bits are needed, which is a product of
// its own.
TEST(Dialect, ACounterIsComputedOnceForItsNumbers) {
  TWINLOOM_NEEDS_NVRTC();
  const std::string text = drawn(8, 0), needed = needed_headers(text);
  const std::string ptx = nvrtc().compile(text, "drawn", {{ENTRY_HEADER, needed}}, {"compute_90", {}}).bytes;
  std::size_t products = 0;
  for (const char* factor : {" 3528531795", " 3449720151", " -766435501", " -845247145"})
    for (std::size_t at = 0; (at = ptx.find(factor, at)) != std::string::npos; ++at) ++products;
  EXPECT_GE(products, 36U) << ptx;
  EXPECT_LE(products, 48U) << ptx;
}

}  // namespace

}  // namespace twinloom::cuda
