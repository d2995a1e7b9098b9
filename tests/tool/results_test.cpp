// Every command with every kind of result, on the CPU and on a device whose memory this process cannot read.
// The program runs in this process, so that it finds that device.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "frontends/arrays/arrays.h"
#include "tests/support/heard.h"
#include "tests/support/sealed/sealed_device.h"
#include "tests/tool/program.h"
#include "tools/twinloom/commands.h"
#include "tools/twinloom/report.h"

namespace twinloom::tests {

namespace {

const char* const results_text = R"--(class GraphModule(torch.nn.Module):
    def forward(self, s0: "Sym(s0)", x: "f32[s0, 6]"):
        y: "f32[s0, 6]" = torch.ops.aten.exp.default(x)
        turned: "f32[6, s0]" = torch.ops.aten.permute.default(y, [1, 0])
        flat: "f32[6*s0]" = torch.ops.aten.view.default(y, [-1])
        split = torch.ops.aten.split.Tensor(torch.ops.aten.neg.default(x), 2, 1)
        part: "f32[s0, 3]" = torch.ops.aten.slice.Tensor(x, 1, 0, 6, 2)
        wide: "f32[2, s0, 6]" = torch.ops.aten.expand.default(x, [2, -1, -1])
        copy: "f32[s0, 6]" = torch.ops.aten.clone.default(y)
        four: "i64[2]" = torch.ops.aten.full.default([2], 4, dtype = torch.int64)
        return (turned, y, y, flat, split[0], split[1], split[2], x, part, wide, copy, four, s0, None)
)--";
constexpr std::size_t results = 14;

Device find_device(std::string_view name, const CpuOptions& options) {
  return name == "sealed" ? Device::of(sealed_device(Device::reference().share()))
                          : Device::named(name, options);
}

class ToolResults : public testing::TestWithParam<const char*> {
 protected:
  ToolResults() { place.write("results.fx", results_text); }
  Outcome run(std::vector<std::string> words) const {
    words.insert(words.begin() + 1, place.file("results.fx"));
    words.insert(words.end(), {"--device", GetParam(), "--no-cache", "--size", "s0=5"});
    const Heard heard;
    const int code = tool::run_program(words, find_device);
    return {code, heard.words()};
  }
  Workplace place;
};

TEST_P(ToolResults, RunWritesAndComparesThem) {
  const Outcome written = run({"run", "--outputs", place.file("out.npz")});
  EXPECT_CODE(written, 0);
  EXPECT_SAYS(written, "out0: f32[6, 5]");
  EXPECT_SAYS(written, "out11: i64[2]  4 4\nout12: 5\nout13: None\n");
  EXPECT_EQ(arrays::read_npz(place.file("out.npz")).size(), results);
  const Outcome compared = run({"run", "--expect", place.file("out.npz"), "--exact"});
  EXPECT_CODE(compared, 0);
  EXPECT_SAYS(compared, "out12: ok i64[]  equal\nout13: ok None\n");
}

TEST_P(ToolResults, VerifyComparesAll) {
  const Outcome verified = run({"verify"});
  EXPECT_CODE(verified, 0);
  for (std::size_t r = 0; r < results; ++r) EXPECT_SAYS(verified, cat("out", r, ": ok"));
  EXPECT_SAYS(verified, "out12: ok i64[]  equal\nout13: ok None\n");
}

TEST_P(ToolResults, BenchExplainAndDumpTakeThem) {
  const Outcome timed = run({"bench", "--threads", "1", "--json", place.file("bench.json")});
  EXPECT_CODE(timed, 0);
  // x is read once, y, its clone, the negatives and the constant are written: views of them are not.
  std::int64_t floor = 0;
  const auto json = nlohmann::json::parse(place.read("bench.json"));
  for (const auto& kernel : json["kernels"]) floor += kernel["floor_bytes"].get<std::int64_t>();
  EXPECT_EQ(floor, 4 * 4 * 30 + 8 * 2);
  EXPECT_SAYS(run({"explain"}), "kernels, peak memory ");
  EXPECT_SAYS(run({"dump", "--after", "remove_dead"}), "result \"\" = view %");
}

INSTANTIATE_TEST_SUITE_P(On, ToolResults, testing::Values("cpu", "reference", "sealed"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(Comparison, SaysWhatDiffers) {
  const auto words_of = [](const Output& given, const std::optional<Tensor>& expected) {
    std::ostringstream words;
    const bool same = tool::print_output(words, "y", given, expected, {.exact = true});
    EXPECT_EQ(same, words.str().find("ok") != std::string::npos);
    return words.str();
  };
  Tensor six = allocate(DType::i64, {});
  *static_cast<std::int64_t*>(six.data) = 6;
  EXPECT_EQ(words_of(std::int64_t{6}, six), "y: ok i64[]  equal\n");
  EXPECT_NE(words_of(std::int64_t{5}, six).find("y: DIFFERENT i64[]"), std::string::npos);
  EXPECT_NE(words_of(std::int64_t{5}, six).find("at [] is 5, expected 6"), std::string::npos);
  EXPECT_EQ(words_of({}, six), "y: DIFFERENT is None, expected i64[]\n");
  EXPECT_EQ(words_of(six, std::nullopt), "y: DIFFERENT is i64[], expected None\n");
  EXPECT_EQ(words_of(std::int64_t{5}, std::nullopt), "y: DIFFERENT is a size, expected None\n");
  EXPECT_EQ(words_of({}, std::nullopt), "y: ok None\n");
  EXPECT_EQ(words_of(allocate(DType::f32, {2}), six), "y: DIFFERENT is f32[2], expected i64[]\n");
}

}  // namespace

}  // namespace twinloom::tests
