// TWINLOOM_LOG: what the program says of its work on the error stream.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/tool/program.h"

namespace twinloom::tests {
namespace {

class ToolLog : public testing::Test {
 protected:
  ToolLog() {
    place.write("softmax.fx", softmax_text);
    place.write("lookup.fx", lookup_text);
    place.write("apart.fx", R"(class Apart(torch.nn.Module):
    def forward(self, x: "f32[512, 16]"):
        total: "f32[]" = torch.ops.aten.sum.default(x)
        scaled: "f32[512, 16]" = torch.ops.aten.mul.Tensor(x, total)
        line: "f32[512, 16]" = torch.ops.aten.cumsum.default(scaled, 0)
        return (scaled, line)
)");
  }
  Outcome logged(std::string_view names, std::string_view arguments) const {
    return place.run_with(cat("TWINLOOM_LOG=", names), arguments);
  }
  Workplace place;
};

TEST_F(ToolLog, NothingIsSaidUnlessItIsAskedFor) {
  EXPECT_EQ(place.run("run softmax.fx").output.find("twinloom "), std::string::npos);
  EXPECT_EQ(logged("''", "run softmax.fx").output.find("twinloom "), std::string::npos);
}

TEST_F(ToolLog, FusionNamesTheOperatorsAndWhyPairsStayApart) {
  const Outcome done = logged("fusion", "run softmax.fx");
  EXPECT_CODE(done, 0);
  EXPECT_SAYS(done, "twinloom fusion: kernel k0_");
  EXPECT_SAYS(done, " computes 'mul', 'y'\n");
  const Outcome missed = logged("fusion", "run apart.fx");
  EXPECT_CODE(missed, 0);
  EXPECT_SAYS(missed, "twinloom fusion: missed: kernels k0_");
  // The reason is that of explain.
  const Outcome explained = place.run("explain apart.fx");
  const std::string head = "not fused: kernel 0 and kernel 1: ";
  const std::size_t at = explained.output.find(head);
  ASSERT_NE(at, std::string::npos) << explained.output;
  const std::size_t from = at + head.size();
  EXPECT_SAYS(missed, explained.output.substr(from, explained.output.find('\n', from) - from));
}

TEST_F(ToolLog, SchedulesHaveTheirEstimate) {
  const Outcome done = logged("schedule", "run softmax.fx --size s0=64");
  EXPECT_SAYS(done, "twinloom schedule: kernel k0_");
  EXPECT_SAYS(done, " us: split ");
  EXPECT_SAYS(done, "; loop -1 ");
  EXPECT_EQ(count_of(done.output, "twinloom "), 1U) << done.output;
}

TEST_F(ToolLog, GuardsThatFailAreSaid) {
  EXPECT_SAYS(logged("guards", "run softmax.fx"),
              "twinloom guards: the first variant is made: s0 = 16, row-major");
  place.write("square.fx", R"(class Square(torch.nn.Module):
    def forward(self, x: "f32[s0, s0]"):
        return (torch.ops.aten.neg.default(x),)
)");
  place.write("named.graph",
              "graph \"g\"\nparameter \"a\" = %0\n%0: f32 [4, 8] = input slot 0 name \"a\"\n"
              "%1: f32 [4, 8] = neg(%0)\nresult \"x\" = own %1\n");
  EXPECT_CODE(place.run("run named.graph --outputs four.npz"), 0);
  const Outcome failed = logged("guards", "run square.fx --inputs four.npz");
  EXPECT_CODE(failed, 2);
  EXPECT_SAYS(failed, "twinloom guards: failed: axis 1 of 'x' is 8, expected s0 = 4");
}

TEST_F(ToolLog, CodeIsTheSourceOfEachKernel) {
  const Outcome done = logged("code", "run softmax.fx");
  EXPECT_SAYS(done, "twinloom code: kernel k0_");
  EXPECT_SAYS(done, "compiled in ");
  EXPECT_SAYS(done, "\n  extern \"C\" ");
  EXPECT_SAYS(logged("code", "run softmax.fx"), "kept from before in ");
}

TEST_F(ToolLog, TheCacheSaysHitsMissesTheirFieldAndTrouble) {
  const Outcome first = logged("cache", "run softmax.fx --isa avx2");
  EXPECT_SAYS(first, " (cpu avx2): miss: there is no folder yet\n");
  EXPECT_SAYS(first, " (cpu avx2): stored, ");
  EXPECT_SAYS(logged("cache", "run softmax.fx --isa avx2"), " (cpu avx2): hit\n");
  EXPECT_SAYS(logged("cache", "run lookup.fx --isa avx2"),
              " (cpu avx2): miss: no entry is of a kernel of this name\n");
  // The same kernel for rows of another class of lengths.
  EXPECT_SAYS(logged("cache", "run softmax.fx --isa avx2 --size s0=4096"),
              " (cpu avx2): miss: source differs at line ");
  place.write("file", "");
  EXPECT_SAYS(logged("cache TWINLOOM_CACHE_DIR=file", "run softmax.fx"),
              "twinloom cache: trouble: compiled kernels are not kept on disk: ");
}

TEST_F(ToolLog, AnUnknownNameIsSaidAndTheOthersAreOn) {
  const Outcome done = logged("guards,fusoin", "run softmax.fx");
  EXPECT_CODE(done, 0);
  EXPECT_SAYS(
      done,
      "twinloom: TWINLOOM_LOG: there is no log 'fusoin'; logs are fusion, schedule, guards, code, cache "
      "and all; did you mean 'fusion'?\n");
  EXPECT_SAYS(done, "twinloom guards: ");
  EXPECT_EQ(done.output.find("twinloom fusion: "), std::string::npos) << done.output;
}

}  // namespace
}  // namespace twinloom::tests
