// twinloom bench: its numbers, several models, and what it asks of a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/measure/gpu_clock.h"
#include "tests/support/heard.h"
#include "tests/support/sealed/sealed_device.h"
#include "tests/tool/program.h"
#include "tests/tool/watched_device.h"
#include "tools/twinloom/commands.h"

namespace twinloom::tests {
namespace {

using Json = nlohmann::json;

class ToolBench : public testing::Test {
 protected:
  ToolBench() {
    place.write("softmax.fx", softmax_text);
    place.write("lookup.fx", lookup_text);
  }
  // Of a bench that takes little time.
  Outcome bench(std::string_view arguments) const {
    return place.run(cat("bench --threads 1 --seconds 0 --json bench.json ", arguments));
  }
  Json json() const { return Json::parse(place.read("bench.json")); }
  Workplace place;
};

std::set<std::string> names_of(const Json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

const std::set<std::string> whole_names = {"device", "mode", "threads", "copy_gbps"};
const std::set<std::string> model_names = {"run_ms",     "run_quartiles_ms", "runs",   "prepare_ms",
                                           "compile_ms", "peak_bytes",       "kernels"};

std::set<std::string> with(std::set<std::string> names, const std::set<std::string>& others) {
  names.insert(others.begin(), others.end());
  return names;
}

TEST_F(ToolBench, WritesItsFields) {
  const Outcome timed = bench("softmax.fx --size s0=64");
  EXPECT_CODE(timed, 0);
  EXPECT_SAYS(timed, "copy bandwidth ");
  EXPECT_EQ(timed.output.find("softmax.fx"), std::string::npos) << "a single table has no head";
  EXPECT_EQ(timed.output.find('\r'), std::string::npos) << "progress belongs to a terminal";
  const Json json = this->json();
  EXPECT_EQ(names_of(json), with(whole_names, model_names));
  ASSERT_EQ(json["kernels"].size(), 1u);
  const Json& kernel = json["kernels"][0];
  EXPECT_EQ(names_of(kernel),
            (std::set<std::string>{"name", "ops", "median_ms", "quartiles_ms", "runs", "estimated_ms",
                                   "limiter", "share_of_limiter", "roofs", "bytes", "touched_bytes",
                                   "floor_bytes", "gbps", "flops", "compile_ms", "cached"}));
  EXPECT_EQ(json["threads"], 1);
  EXPECT_EQ(json["peak_bytes"], 64 * 8 * 4);
  EXPECT_EQ(kernel["bytes"], 2 * 64 * 8 * 4);
  EXPECT_EQ(kernel["floor_bytes"], 2 * 64 * 8 * 4);
  EXPECT_GE(kernel["touched_bytes"], kernel["floor_bytes"]);
  for (const char* rate : {"median_ms", "estimated_ms", "share_of_limiter", "gbps", "flops", "compile_ms"})
    EXPECT_GT(kernel[rate], 0) << rate;
  for (const char* time : {"run_ms", "prepare_ms", "compile_ms", "copy_gbps"})
    EXPECT_GT(json[time], 0) << time;
}

TEST_F(ToolBench, BytesFollowTheCountingRule) {
  EXPECT_CODE(bench("lookup.fx"), 0);
  std::int64_t floor = 0;
  const Json json = this->json();
  for (const Json& kernel : json["kernels"]) floor += kernel["floor_bytes"].get<std::int64_t>();
  // 6 rows of 4 out of the table, 6 places, the rows and their totals.
  EXPECT_EQ(floor, 4 * (24 + 24 + 6) + 8 * 6);
}

TEST_F(ToolBench, SeveralModels) {
  const Outcome timed = bench("softmax.fx lookup.fx");
  EXPECT_CODE(timed, 0);
  EXPECT_SAYS(timed, "softmax.fx\nkernel ");
  EXPECT_SAYS(timed, "\n\nlookup.fx\nkernel ");
  EXPECT_EQ(count_of(timed.output, "copy bandwidth "), 1u) << timed.output;
  const Json json = this->json();
  EXPECT_EQ(names_of(json), with(whole_names, {"models"}));
  ASSERT_EQ(json["models"].size(), 2u);
  for (const Json& model : json["models"]) EXPECT_EQ(names_of(model), with(model_names, {"file"}));
  EXPECT_EQ(json["models"][0]["file"], "softmax.fx");
  EXPECT_EQ(json["models"][1]["file"], "lookup.fx");
}

TEST_F(ToolBench, AModelThatFailsStopsNoOther) {
  place.write("large.fx", R"(class M(torch.nn.Module):
    def forward(self, x: "f32[100000000000000]"):
        return (torch.ops.aten.exp.default(x),)
)");
  const Outcome timed = bench("nothing.fx large.fx lookup.fx");
  EXPECT_CODE(timed, 2);
  EXPECT_SAYS(timed, "error: nothing.fx: cannot read 'nothing.fx'");
  EXPECT_SAYS(timed, "error: large.fx: input 'x': no memory for a tensor of f32[100000000000000]");
  EXPECT_SAYS(timed, "lookup.fx\nkernel ");
  const Json json = this->json();
  EXPECT_EQ(names_of(json), with(whole_names, {"models"}));
  ASSERT_EQ(json["models"].size(), 3u);
  for (const std::size_t failed : {0u, 1u}) {
    EXPECT_EQ(names_of(json["models"][failed]), (std::set<std::string>{"file", "error"}));
    EXPECT_SAYS(timed, json["models"][failed]["error"].get<std::string>());
  }
  EXPECT_EQ(names_of(json["models"][2]), with(model_names, {"file"}));
}

TEST_F(ToolBench, WhatCannotBeMeasured) {
  const Outcome missing = bench("nothing.fx");
  EXPECT_CODE(missing, 2);
  EXPECT_SAYS(missing, "error: cannot read 'nothing.fx'");
  EXPECT_EQ(missing.output.find("copy bandwidth"), std::string::npos);
  EXPECT_EQ(names_of(json()), (std::set<std::string>{"device", "mode", "threads", "error"}));
  const Outcome unwritable = place.run("bench lookup.fx --seconds 0 --json no/such/folder.json");
  EXPECT_CODE(unwritable, 2);
  EXPECT_SAYS(unwritable, "error: cannot write 'no/such/folder.json'");
  for (const char* wrong : {"", "lookup.fx --seconds -1", "lookup.fx --seconds many"})
    EXPECT_CODE(bench(wrong), 64);
}

// Also where a file cannot be read, which says so when its turn comes.
TEST_F(ToolBench, EachModelTakesTheSizesAndInputsThatItHas) {
  const Outcome timed = bench("--size s0=64 --input place=1..3 softmax.fx lookup.fx nothing.fx");
  EXPECT_CODE(timed, 2);
  EXPECT_SAYS(timed, "error: nothing.fx: cannot read 'nothing.fx'");
  const Json models = json()["models"];
  EXPECT_EQ(models[0]["kernels"][0]["floor_bytes"], 2 * 64 * 8 * 4);
  EXPECT_TRUE(models[1].contains("kernels"));
  struct Row {
    const char* arguments;
    const char* words;
  };
  const Row rows[] = {
      {"softmax.fx lookup.fx --size s1=3", "error: --size: none of the models has a size 's1'"},
      {"softmax.fx lookup.fx --input z=ones", "error: --input: none of the models has a parameter 'z'"},
      {"softmax.fx lookup.fx --size s0", "error: --size takes NAME=VALUE, given was 's0'"},
      {"softmax.fx --size s1=3", "error: --size: there is no size 's1'; the graph's sizes are s0"},
  };
  for (const Row& row : rows) {
    const Outcome refused = bench(row.arguments);
    EXPECT_CODE(refused, 2) << row.arguments;
    EXPECT_SAYS(refused, row.words) << row.arguments;
    EXPECT_EQ(refused.output.find("kernel "), std::string::npos) << row.arguments;
  }
}

// Whose machine code cannot be made, by a mistake of ours.
class MistakenDevice final : public runtime::Backend {
 public:
  std::string name() const override { return "mistaken"; }
  std::string describe() const override { return "mistaken"; }
  const machine::Machine& machine() const override { return reference_.backend().machine(); }
  runtime::Built build(const loops::Program&) const override { throw Bug("a mistake"); }

 private:
  Device reference_ = Device::reference();
};

TEST_F(ToolBench, ABugStopsNoOtherAndGoesBeforeAnError) {
  const Heard heard;
  const auto find = [](std::string_view, const CpuOptions&) {
    return Device::of(std::make_shared<const MistakenDevice>());
  };
  const std::vector<std::string> words = {"bench", place.file("softmax.fx"), place.file("nothing.fx")};
  EXPECT_EQ(tool::run_program(words, find), 3);
  EXPECT_NE(heard.words().find("softmax.fx: a mistake\n"), std::string::npos) << heard.words();
  EXPECT_NE(heard.words().find("nothing.fx: cannot read"), std::string::npos) << heard.words();
}

using Asked = std::vector<std::string>;
const std::string cleared = cat("clear ", measure::FLUSH_BYTES);

// What is asked from each clearing to the next.
std::vector<Asked> asked_after_clearing(const Asked& asked) {
  std::vector<Asked> rounds;
  for (const std::string& one : asked) {
    if (one == cleared)
      rounds.emplace_back();
    else if (!rounds.empty())
      rounds.back().push_back(one);
  }
  return rounds;
}

class ToolBenchOnGpu : public ToolBench {
 protected:
  ToolBenchOnGpu() {
    const auto device = watched_device(sealed_device(Device::reference().share()), watched);
    const std::string file = place.file("softmax.fx");
    const std::vector<std::string> words = {"bench", "--seconds", "0", file, file};
    const Heard heard;
    const auto find = [&](std::string_view, const CpuOptions&) { return Device::of(device); };
    EXPECT_EQ(tool::run_program(words, find), 0) << heard.words();
  }
  std::shared_ptr<Watched> watched = std::make_shared<Watched>();
};

// A model of one launch, twice.
TEST_F(ToolBenchOnGpu, EachTimedRunFindsAColdCache) {
  constexpr std::size_t ROUNDS = 7;  // two of them are not counted
  const Asked& asked = watched->asked;
  EXPECT_EQ(asked.front(), "begin") << "a run before them takes the outputs' memory";
  const std::vector<Asked> rounds = asked_after_clearing(asked);
  ASSERT_EQ(rounds.size(), 4 * ROUNDS);
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    if (r == 2 * ROUNDS - 1) continue;  // the copy and the second model's first run are there too
    // The clock is asked around a run in the first rounds, around each launch in the others.
    const bool is_run = r % (2 * ROUNDS) < ROUNDS;
    EXPECT_EQ(rounds[r], is_run ? (Asked{"record", "begin", "record"}) : (Asked{"begin", "record", "record"}))
        << r;
  }
  // The copy is measured once, after the first model.
  const auto copies = std::ranges::count(asked, "copy");
  EXPECT_GT(copies, 0);
  EXPECT_EQ(std::ranges::count(rounds[2 * ROUNDS - 1], "copy"), copies);
  // It takes two buffers of 512 MiB: nothing of a model is there beside them, and nothing of them later.
  EXPECT_EQ(watched->most_live_bytes, std::int64_t{1} << 30);
  EXPECT_LT(watched->live_bytes, std::int64_t{512} << 20);
}

}  // namespace
}  // namespace twinloom::tests
