// What explain and bench say of estimates, and which kernels have one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>

#include "api/estimates.h"
#include "api/twinloom.h"
#include "core/base/text.h"
#include "core/machine/gpu.h"
#include "tests/tool/program.h"

namespace twinloom::tests {
namespace {

using Json = nlohmann::json;

// y = 2 * x of n numbers: nothing but its bytes takes time where they are many, and nothing at all where they
// are few.
std::string double_text(std::int64_t elements) {
  return cat("class M(torch.nn.Module):\n    def forward(self, x: \"f32[", elements,
             "]\"):\n        return (torch.ops.aten.mul.Tensor(x, 2),)\n");
}

class ToolEstimates : public testing::Test {
 protected:
  ToolEstimates() {
    place.write("large.fx", double_text(std::int64_t{1} << 26));
    place.write("tiny.fx", double_text(16));
    place.write("softmax.fx", softmax_text);
    place.write("scatters.fx", scatters_text);
  }
  Workplace place;
};

// The first roof of the line is the one that takes longest.
TEST_F(ToolEstimates, ExplainOnACpuNamesTheLimiterFirst) {
  const Outcome large = place.run("explain large.fx --threads 1");
  EXPECT_CODE(large, 0);
  // Which level limits is the machine's affair.
  std::smatch line;
  ASSERT_TRUE(
      std::regex_search(large.output, line, std::regex(R"(\n  estimate [0-9.]+ us: (.*launch 1\.0 us)\n)")))
      << large.output;
  const std::string roofs = line[1];
  EXPECT_TRUE(std::regex_search(roofs, std::regex(R"(memory [0-9]+\.[0-9] us \([0-9]+\.[0-9]+ MB\))")))
      << roofs;
  const std::regex microseconds(R"(([0-9.]+) us)");
  std::vector<double> seconds;
  for (std::sregex_iterator at(roofs.begin(), roofs.end(), microseconds), end; at != end; ++at)
    seconds.push_back(std::stod((*at)[1]));
  EXPECT_GT(seconds.size(), 2U) << roofs;
  EXPECT_TRUE(std::ranges::is_sorted(seconds, std::greater{})) << roofs;
  const Outcome tiny = place.run("explain tiny.fx");
  EXPECT_SAYS(tiny, "\n  estimate 1.0 us: launch 1.0 us\n");
  for (const Outcome& outcome : {large, tiny}) {
    EXPECT_EQ(outcome.output.find(" registers, "), std::string::npos) << outcome.output;
    EXPECT_EQ(outcome.output.find(" a multiprocessor"), std::string::npos) << outcome.output;
  }
}

#ifdef TWINLOOM_HAS_CUDA
TEST_F(ToolEstimates, ExplainOnAGpuAlsoSaysWhatAMultiprocessorHolds) {
  const Outcome large = place.run("explain large.fx --device h200");
  EXPECT_CODE(large, 0);
  EXPECT_TRUE(std::regex_search(
      large.output,
      std::regex(
          R"(\n  estimate [0-9]+\.[0-9] us: memory [0-9]+\.[0-9] us \(536\.87 MB\), .*L2 .*launch 3\.0 us)"
          R"(; [0-9]+ registers, [0-9]+ blocks a multiprocessor\n)")))
      << large.output;
  EXPECT_SAYS(place.run("explain tiny.fx --device h200"), ": launch 3.0 us, chain ");
}

TEST_F(ToolEstimates, AShortRowIsSortedByOneKernelOfAGpu) {
  place.write("sort.fx", R"(class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[16, 64][64, 1]"):
        sort = torch.ops.aten.sort.stable(arg0_1, stable = True);  arg0_1 = None
        getitem: "f32[16, 64][64, 1]" = sort[0]
        getitem_1: "i64[16, 64][64, 1]" = sort[1];  sort = None
        return (getitem, getitem_1)
)");
  EXPECT_SAYS(place.run("explain sort.fx --device h200"), "\n1 kernels, ");
  EXPECT_SAYS(place.run("explain sort.fx"), "\n2 kernels, ");
}
#endif

// Of the first estimate that stands on a line of its own, behind this margin, after the words.
double microseconds_after(const std::string& text, std::string_view words, std::string_view margin) {
  const std::string line = cat("\n", margin, "estimate ");
  const std::size_t at = text.find(line, text.find(words));
  return at == std::string::npos ? NAN : std::stod(text.substr(at + line.size()));
}

TEST_F(ToolEstimates, TheLastLineOfExplainIsTheSum) {
  place.write("two.fx", R"(class Two(torch.nn.Module):
    def forward(self, x: "f32[1024, 64]", z: "f32[100]"):
        return (torch.ops.aten.exp.default(x), torch.ops.aten.sin.default(z))
)");
  const Outcome explained = place.run("explain two.fx --source");
  EXPECT_EQ(count_of(explained.output, "\n  estimate "), 2u) << explained.output;
  const double first = microseconds_after(explained.output, "kernel 0:", "  ");
  const double second = microseconds_after(explained.output, "kernel 1:", "  ");
  EXPECT_NEAR(microseconds_after(explained.output, "2 kernels,", ""), first + second, 0.15);
  EXPECT_TRUE(explained.output.ends_with(" us for all kernels\n")) << explained.output;
  // A kernel's line stands behind its schedule, before its source.
  EXPECT_LT(explained.output.find("\n  estimate "), explained.output.find("extern \"C\""));
}

// What a routine executes is not in the program that calls it.
TEST_F(ToolEstimates, AKernelThatCallsARoutineHasNone) {
  const Outcome explained = place.run("explain scatters.fx");
  EXPECT_CODE(explained, 0);
  EXPECT_EQ(count_of(explained.output, "\n  estimate "), 2u) << explained.output;
  EXPECT_TRUE(explained.output.ends_with(" us for 2 of 3 kernels\n")) << explained.output;
}

TEST_F(ToolEstimates, ReferenceHasNone) {
  const Outcome explained = place.run("explain softmax.fx --device reference");
  EXPECT_CODE(explained, 0);
  EXPECT_EQ(explained.output.find("estimate"), std::string::npos) << explained.output;
  const Outcome timed = place.run("bench softmax.fx --seconds 0 --device reference --json bench.json");
  EXPECT_CODE(timed, 0);
  for (const char* column : {"estimate", "limiter"})
    EXPECT_EQ(timed.output.find(column), std::string::npos) << timed.output;
  const Json kernel = Json::parse(place.read("bench.json"))["kernels"][0];
  for (const char* name : {"estimated_ms", "limiter", "share_of_limiter", "roofs"})
    EXPECT_FALSE(kernel.contains(name)) << name;
}

// A model without elements has kernels that do nothing but start.
TEST_F(ToolEstimates, SizesOfZeroAndOfMoreThanAnyMachineHolds) {
  for (const char* size : {"0", "1", "1000000000000"}) {
    for (const char* device : {"cpu", "h200"}) {
#ifndef TWINLOOM_HAS_CUDA
      if (std::string_view(device) == "h200") continue;
#endif
      const Outcome explained = place.run(cat("explain softmax.fx --size s0=", size, " --device ", device));
      EXPECT_CODE(explained, 0);
      EXPECT_FALSE(std::regex_search(explained.output, std::regex("(nan|inf|-[0-9.]+) us")))
          << explained.output;
    }
  }
}

TEST_F(ToolEstimates, BenchSaysThemBesideWhatItMeasures) {
  place.write("rows.fx", R"(class M(torch.nn.Module):
    def forward(self, x: "f32[512, 1024]"):
        return (torch.ops.aten._softmax.default(x, 1, False),)
)");
  const Outcome timed = place.run("bench rows.fx --threads 1 --seconds 0 --json bench.json");
  EXPECT_CODE(timed, 0);
  EXPECT_TRUE(
      std::regex_search(timed.output, std::regex("kernel +ms  +estimate ms  +limiter  +of limiter  ")))
      << timed.output;
  const Json kernel = Json::parse(place.read("bench.json"))["kernels"][0];
  double longest = 0, sum = 0;
  std::string limiter;
  for (const Json& roof : kernel["roofs"]) {
    EXPECT_EQ(roof.size(), 3u) << roof;
    EXPECT_GE(roof["amount"], 0) << roof;
    const double seconds = roof["seconds"];
    sum += seconds;
    if (seconds > longest) limiter = roof["name"];
    longest = std::max(longest, seconds);
  }
  EXPECT_EQ(kernel["limiter"], limiter);
  EXPECT_GE(kernel["estimated_ms"], longest * 1e3);
  EXPECT_LE(kernel["estimated_ms"], sum * 1e3 * (1 + 1e-9));
  EXPECT_GT(longest, 0);
  EXPECT_NEAR(kernel["share_of_limiter"].get<double>() * kernel["median_ms"].get<double>(), longest * 1e3,
              longest);
}

TEST_F(ToolEstimates, HelpSaysWhatTheyAre) {
  for (const char* command : {"bench", "explain"})
    for (const char* word : {"estimate", "memory", "instructions", "chain", "wavefronts", "launch"})
      EXPECT_SAYS(place.run(cat(command, " --help")), word);
}

class PlannedOn final : public runtime::Backend {
 public:
  explicit PlannedOn(machine::Machine machine) : machine_(std::move(machine)) {}
  std::string name() const override { return "planned"; }
  std::string describe() const override { return name(); }
  const machine::Machine& machine() const override { return machine_; }
  runtime::Built build(const loops::Program&) const override { return {}; }

 private:
  machine::Machine machine_;
};

machine::Machine cores(int count) {
  machine::Machine machine;
  machine.blocks_at_once = count;
  machine.memory = {{"L1", 32 << 10, 2e11}, {"memory", 0, 1e10}};
  machine.launch_seconds = 1e-6;
  return machine;
}

// Of two groups, the second of two programs.
runtime::Variant variant_of(const loops::Program& program) {
  runtime::Variant variant;
  variant.groups.resize(2);
  for (const std::size_t group : {0u, 1u, 1u}) {
    runtime::Step step;
    step.program = program;
    step.unit = group;
    variant.steps.push_back(std::move(step));
  }
  return variant;
}

constexpr std::string_view EXPONENTIALS = R"(program p(x: f32[n*1024], y: written f32[n*1024]; n in 0..) {
  for b < n block { for i < 1024 { y[1024*b + i] = exp(x[1024*b + i]) } }
})";

TEST(Estimates, AreOfTheProgramsOfAGroupWithTheSizesOfTheRun) {
  const runtime::Variant variant = variant_of(loops::parse(EXPONENTIALS));
  for (const machine::Machine& machine : {cores(2), machine::h200()}) {
    const index::Values sizes = {{index::Symbol("n"), 1000}};
    const auto estimates = estimates_of(variant, PlannedOn(machine), 0, sizes);
    ASSERT_EQ(estimates.size(), 2u);
    const cost::Estimate one = cost::estimate(variant.steps.front().program, machine, sizes);
    EXPECT_DOUBLE_EQ(estimates[0]->seconds, one.seconds);
    const std::vector<loops::Program> both(2, variant.steps.front().program);
    EXPECT_DOUBLE_EQ(estimates[1]->seconds, cost::estimate(both, machine, sizes).seconds);
    EXPECT_GT(estimates[1]->seconds, 1.5 * one.seconds);
  }
}

// A GPU's blocks are no matter of the host's threads.
TEST(Estimates, TakeTheThreadsOfTheRunOnACpu) {
  const runtime::Variant variant = variant_of(loops::parse(EXPONENTIALS));
  const auto seconds = [&](const machine::Machine& machine, int threads) {
    return estimates_of(variant, PlannedOn(machine), threads, {{index::Symbol("n"), 1000}})[0]->seconds;
  };
  EXPECT_GT(seconds(cores(4), 1), 2 * seconds(cores(4), 4));
  EXPECT_DOUBLE_EQ(seconds(cores(4), 0), seconds(cores(4), 4));
  EXPECT_DOUBLE_EQ(seconds(machine::h200(), 1), seconds(machine::h200(), 0));
}

// y = x * w + b summed up over the columns of x.
const char* const relaxed_text = R"--(class M(torch.nn.Module):
    def forward(self, x: "f32[512, 1024]", w: "f32[1024]", b: "f32[1024]"):
        m: "f32[512, 1024]" = torch.ops.aten.mul.Tensor(x, w)
        y: "f32[512, 1024]" = torch.ops.aten.add.Tensor(m, b)
        s: "f32[1024]" = torch.ops.aten.sum.dim_IntList(y, [0])
        return (s,)
)--";

TEST_F(ToolEstimates, ExplainSaysWhatModeFastRelaxed) {
  place.write("relaxed.fx", relaxed_text);
  const Outcome both = place.run("explain relaxed.fx --mode fast");
  EXPECT_CODE(both, 0);
  EXPECT_SAYS(both, "\n  relaxed: sums in free order, 1 product contracted; estimate without ");
  EXPECT_SAYS(both, " us, saved ");
  EXPECT_SAYS(place.run("explain relaxed.fx --relax reassociate"), "relaxed: sums in free order; estimate");
  EXPECT_SAYS(place.run("explain relaxed.fx --relax contract"), "relaxed: 1 product contracted; estimate");
  EXPECT_SAYS(place.run("explain relaxed.fx --relax reassociate,contract"), "order, 1 product contracted;");
  EXPECT_EQ(place.run("explain relaxed.fx").output.find("relaxed:"), std::string::npos);
}

#ifdef TWINLOOM_HAS_CUDA
// What a GPU alone has: nothing of it is relaxed on a CPU.
TEST_F(ToolEstimates, ExplainSaysWhatModeFastRelaxedOnAGpu) {
  place.write("gpu.fx", R"--(class M(torch.nn.Module):
    def forward(self, x: "f32[5000, 48]", i: "i64[9000]", s: "f32[9000, 48]"):
        y: "f32[5000, 48]" = torch.ops.aten.index_add.default(x, 0, i, s)
        e: "f32[5000, 48]" = torch.ops.aten.exp.default(y)
        q: "f32[5000, 48]" = torch.ops.aten.div.Tensor(e, x)
        return (q,)
)--");
  const std::string explain = "explain gpu.fx --device h200 --relax ";
  EXPECT_SAYS(place.run(explain + "atomics"), "\n  relaxed: additions in memory by atomics\n");
  EXPECT_SAYS(place.run(explain + "approximate"), "relaxed: 2 functions approximated; estimate without ");
  EXPECT_SAYS(place.run(explain + "approximate"), "exp_approximate");
  EXPECT_SAYS(place.run(explain + "approximate,flush"), "exp_flushed");
  EXPECT_EQ(place.run(explain + "flush").output.find("relaxed:"), std::string::npos);
  // A core adds nothing in memory by atomics, and divides as it does elsewhere.
  EXPECT_SAYS(place.run("explain gpu.fx --relax atomics,approximate,flush"),
              "relaxed: 1 function approximated; estimate without ");
  EXPECT_EQ(place.run("explain gpu.fx --relax atomics,flush").output.find("relaxed:"), std::string::npos);
}
#endif

TEST_F(ToolEstimates, KernelsOfModesHaveFilesOfTheirOwn) {
  place.write("relaxed.fx", relaxed_text);
  const auto objects = [&] { return count_of(place.run("cache list").output, "sum_"); };
  EXPECT_CODE(place.run("run relaxed.fx"), 0);
  const std::size_t fused = objects();
  EXPECT_CODE(place.run("run relaxed.fx --relax contract"), 0);
  const std::size_t contracted = objects();
  EXPECT_CODE(place.run("verify relaxed.fx --mode fast"), 0);
  EXPECT_LT(fused, contracted);
  EXPECT_LT(contracted, objects());
}

}  // namespace
}  // namespace twinloom::tests
