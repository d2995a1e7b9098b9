// twinloom bench: its numbers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/tool/program.h"

namespace twinloom::tests {
namespace {

class ToolBench : public testing::Test {
 protected:
  ToolBench() {
    place.write("softmax.fx", softmax_text);
    place.write("lookup.fx", lookup_text);
  }
  Workplace place;
};

TEST_F(ToolBench, WritesItsFields) {
  const Outcome timed = place.run("bench softmax.fx --size s0=64 --threads 1 --json bench.json");
  EXPECT_CODE(timed, 0);
  EXPECT_SAYS(timed, "copy bandwidth ");
  EXPECT_EQ(timed.output.find('\r'), std::string::npos) << "progress belongs to a terminal";
  const auto json = nlohmann::json::parse(place.read("bench.json"));
  const auto names_of = [](const nlohmann::json& object) {
    std::set<std::string> names;
    for (const auto& [name, value] : object.items()) names.insert(name);
    return names;
  };
  EXPECT_EQ(names_of(json), (std::set<std::string>{"device", "mode", "threads", "copy_gbps", "run_ms",
                                                   "compile_ms", "peak_bytes", "kernels"}));
  ASSERT_EQ(json["kernels"].size(), 1u);
  const auto& kernel = json["kernels"][0];
  EXPECT_EQ(names_of(kernel),
            (std::set<std::string>{"name", "ops", "median_ms", "bytes", "touched_bytes", "floor_bytes",
                                   "gbps", "flops", "compile_ms", "cached"}));
  EXPECT_EQ(json["threads"], 1);
  EXPECT_EQ(json["peak_bytes"], 64 * 8 * 4);
  EXPECT_EQ(kernel["bytes"], 2 * 64 * 8 * 4);
  EXPECT_EQ(kernel["floor_bytes"], 2 * 64 * 8 * 4);
  EXPECT_GE(kernel["touched_bytes"], kernel["floor_bytes"]);
  for (const char* rate : {"median_ms", "gbps", "flops", "compile_ms"}) EXPECT_GT(kernel[rate], 0) << rate;
}

TEST_F(ToolBench, BytesFollowTheCountingRule) {
  EXPECT_CODE(place.run("bench lookup.fx --threads 1 --json bench.json"), 0);
  const auto json = nlohmann::json::parse(place.read("bench.json"));
  std::int64_t floor = 0;
  for (const auto& kernel : json["kernels"]) floor += kernel["floor_bytes"].get<std::int64_t>();
  // 6 rows of 4 out of the table, 6 places, the rows and their totals.
  EXPECT_EQ(floor, 4 * (24 + 24 + 6) + 8 * 6);
}

}  // namespace
}  // namespace twinloom::tests
