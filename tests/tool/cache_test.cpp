// The program and the kernels that it keeps on disk.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "tests/tool/program.h"

namespace twinloom::tests {
namespace {

class ToolCache : public testing::Test {
 protected:
  void SetUp() override { place.write("softmax.fx", softmax_text); }
  bool bench_is_cached(const std::string& options) const {
    EXPECT_CODE(place.run("bench softmax.fx --size s0=4 --threads 1 --json bench.json " + options), 0);
    return nlohmann::json::parse(place.read("bench.json"))["kernels"][0]["cached"];
  }
  Workplace place;
};

TEST_F(ToolCache, TheSecondProcessFindsWhatTheFirstCompiled) {
  EXPECT_FALSE(bench_is_cached("--no-cache"));
  EXPECT_SAYS(place.run("cache list"), "0 kernels and 0 graphs, 0 B in /");
  EXPECT_FALSE(bench_is_cached(""));
  EXPECT_TRUE(bench_is_cached(""));
  EXPECT_FALSE(bench_is_cached("--no-cache"));
  EXPECT_SAYS(place.run("bench softmax.fx --size s0=4 --threads 1"), " cached  ");
  const Outcome cold = place.run("run softmax.fx --seed 3 --size s0=5 --no-cache");
  const Outcome warm = place.run("run softmax.fx --seed 3 --size s0=5");
  EXPECT_CODE(warm, 0);
  EXPECT_EQ(cold.output, warm.output);
  for (int turn = 0; turn < 2; ++turn) EXPECT_CODE(place.run("verify softmax.fx --size s0=5"), 0);
}

TEST_F(ToolCache, ManyProcessesStartOnAnEmptyCache) {
  const std::string expected = place.run("run softmax.fx --seed 3 --no-cache").output;
  std::vector<std::string> outputs(16);
  {
    std::vector<std::jthread> threads;
    for (std::string& output : outputs)
      threads.emplace_back([&] { output = place.run("run softmax.fx --seed 3").output; });
  }
  for (const std::string& output : outputs) EXPECT_EQ(output, expected);
  EXPECT_SAYS(place.run("cache list"), "\n1 kernels and 1 graphs, ");
}

TEST_F(ToolCache, ListAndClear) {
  EXPECT_CODE(place.run("run softmax.fx --isa avx2"), 0);
  const Outcome listed = place.run("cache list");
  EXPECT_CODE(listed, 0);
  EXPECT_SAYS(listed, "cpu avx2");
  EXPECT_SAYS(listed, "\n1 kernels and 1 graphs, ");
  const Outcome cleared = place.run("cache clear");
  EXPECT_CODE(cleared, 0);
  EXPECT_EQ(cleared.output.find("2 kernels and graphs, "), 0u) << cleared.output;
  EXPECT_SAYS(place.run("cache list"), "0 kernels and 0 graphs, 0 B in /");
}

TEST_F(ToolCache, WhyMissNamesTheField) {
  const auto asked = [&](const std::string& options) {
    return place.run("cache why-miss softmax.fx " + options);
  };
  EXPECT_SAYS(asked("--isa avx2"), ": miss: no entry is of a kernel of this name");
  EXPECT_CODE(place.run("run softmax.fx --isa avx2"), 0);
  const Outcome hit = asked("--isa avx2");
  EXPECT_CODE(hit, 0);
  EXPECT_SAYS(hit, ": hit\n1 of 1 kernels are kept in /");
  const Outcome target = asked("--isa avx512");
  EXPECT_SAYS(target, "flags differ at word 4: 'x86-64-v4' is asked for, 'x86-64-v3' is kept");
  EXPECT_SAYS(target, "target differs at word 2: 'avx512' is asked for, 'avx2' is kept");
  std::string text = softmax_text;
  text.replace(text.find("(x, 2)"), 6, "(x, 3)");
  place.write("softmax.fx", text);
  const Outcome source = asked("--isa avx2");
  EXPECT_SAYS(source, ": miss: source differs at line ");
  EXPECT_EQ(source.output.find("flags"), std::string::npos) << source.output;
  const Outcome reference = asked("--device reference");
  EXPECT_CODE(reference, 2);
  EXPECT_SAYS(reference, "kernels are kept for the device cpu, not for 'reference'");
}

TEST_F(ToolCache, TroubleIsOneWarning) {
  const Outcome first = place.run("run softmax.fx --seed 3");
  place.write("cache_file", "no folder");
  const Outcome outcome = place.run_with("TWINLOOM_CACHE_DIR=\"$PWD/cache_file\"", "run softmax.fx --seed 3");
  EXPECT_CODE(outcome, 0);
  EXPECT_SAYS(outcome, "warning: compiled kernels are not kept on disk: '/");
  EXPECT_SAYS(outcome, "cache_file' is a symbolic link or no folder");
  EXPECT_SAYS(outcome, first.output);
  const Outcome homeless =
      place.run_with("TWINLOOM_CACHE_DIR= XDG_CACHE_HOME= HOME=", "run softmax.fx --seed 3");
  EXPECT_CODE(homeless, 0);
  EXPECT_EQ(homeless.output,
            "warning: compiled kernels are not kept on disk: none of TWINLOOM_CACHE_DIR, "
            "XDG_CACHE_HOME and HOME names a folder\n" +
                first.output);
  const Outcome off = place.run_with("TWINLOOM_CACHE_BYTES=0", "cache list");
  EXPECT_SAYS(off, "0 kernels and 0 graphs, 0 B in no folder: the cache is off");
}

}  // namespace
}  // namespace twinloom::tests
