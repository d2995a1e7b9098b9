// twinloom run --trace: the file parses, its spans are nested or apart, and cover what the command did.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/text.h"
#include "tests/support/sealed/sealed_device.h"
#include "tests/tool/program.h"
#include "tools/twinloom/commands.h"

namespace twinloom::tests {
namespace {

using Json = nlohmann::json;

// A viewer takes the row of its process's number for the main one.
constexpr int PROGRAM = 1, GPU = 1000;

struct Span {
  std::string category, name;
  double begin, end;  // microseconds
  bool holds(const Span& other) const { return begin <= other.begin && other.end <= end; }
};
struct Rows {
  std::map<std::pair<int, int>, std::vector<Span>> spans;  // by process and thread
  std::map<std::pair<int, int>, std::string> names;
  std::map<int, std::string> processes;

  std::vector<Span> of(std::string_view category) const {
    std::vector<Span> found;
    for (const auto& [row, all] : spans)
      std::ranges::copy_if(all, std::back_inserter(found),
                           [&](const Span& span) { return span.category == category; });
    return found;
  }
  Span phase(std::string_view name) const {
    for (const Span& span : of("phase"))
      if (span.name == name) return span;
    ADD_FAILURE() << "there is no phase " << name;
    return {};
  }
};

Rows read_rows(const std::string& text) {
  Rows rows;
  const Json trace = Json::parse(text);
  for (const Json& event : trace["traceEvents"]) {
    const std::pair<int, int> row = {event["pid"], event["tid"]};
    if (event["ph"] == "M") {
      const std::string name = event["args"]["name"];
      if (event["name"] == "thread_name") rows.names[row] = name;
      if (event["name"] == "process_name") rows.processes[row.first] = name;
      continue;
    }
    EXPECT_EQ(event["ph"], "X");
    const double begin = event["ts"], seconds = event["dur"];
    EXPECT_GE(begin, 0);
    EXPECT_GE(seconds, 0);
    rows.spans[row].push_back({event["cat"], event["name"], begin, begin + seconds});
  }
  return rows;
}

void expect_nested(const Rows& rows) {
  constexpr double ROUNDING = 1e-3;
  for (auto [row, spans] : rows.spans) {
    EXPECT_TRUE(rows.names.contains(row)) << "the row has no name";
    EXPECT_GT(row.second, 0);
    std::ranges::sort(spans, [](const Span& a, const Span& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    std::vector<Span> open;
    for (const Span& span : spans) {
      while (!open.empty() && open.back().end <= span.begin + ROUNDING) open.pop_back();
      const bool is_inside = open.empty() || span.end <= open.back().end + ROUNDING;
      EXPECT_TRUE(is_inside) << span.name << " ends behind the span that it begins in";
      open.push_back(span);
    }
  }
}

// What share of the whole the spans take.
double share(const std::vector<Span>& spans, double whole) {
  double sum = 0;
  for (const Span& span : spans) sum += span.end - span.begin;
  return sum / whole;
}

// Several kernels, two of them at the end of each other.
std::string several(int rows) {
  return cat(R"(class Several(torch.nn.Module):
    def forward(self, x: "f32[)",
             rows, R"(, 1024]", z: "f32[100]"):
        total: "f32[]" = torch.ops.aten.sum.default(x)
        scaled = torch.ops.aten.mul.Tensor(x, total)
        line = torch.ops.aten.cumsum.default(scaled, 0)
        other: "f32[100]" = torch.ops.aten.exp.default(z)
        return (line, scaled, other)
)");
}

class ToolTrace : public testing::Test {
 protected:
  ToolTrace() {
    place.write("softmax.fx", softmax_text);
    place.write("several.fx", several(4096));
    place.write("small.fx", several(4));
  }
  Workplace place;
};

TEST_F(ToolTrace, SpansNestAndCoverTheCommand) {
  EXPECT_CODE(place.run("run several.fx --threads 2 --trace F.json"), 0);
  const Rows rows = read_rows(place.read("F.json"));
  expect_nested(rows);
  EXPECT_EQ(rows.processes.at(PROGRAM), "twinloom");
  EXPECT_EQ((rows.names.at({PROGRAM, PROGRAM})), "main");
  double end = 0;
  for (const auto& [row, spans] : rows.spans)
    for (const Span& span : spans) end = std::max(end, span.end);
  EXPECT_GT(share(rows.of("phase"), end), 0.9);
  const Span compile = rows.phase("compile"), run = rows.phase("run");
  for (const char* category : {"pass", "build"})
    for (const Span& span : rows.of(category)) EXPECT_TRUE(compile.holds(span)) << span.name;
  EXPECT_GT(share(rows.of("pass"), compile.end - compile.begin), 0.8);
  for (const char* category : {"kernel", "tasks"})
    for (const Span& span : rows.of(category)) EXPECT_TRUE(run.holds(span)) << span.name;
}

TEST_F(ToolTrace, EachKernelIsBuiltAndRunsByItsName) {
  EXPECT_CODE(place.run("run several.fx --trace F.json"), 0);
  const Rows rows = read_rows(place.read("F.json"));
  std::vector<std::string> built, run;
  for (const Span& span : rows.of("build")) built.push_back(span.name);
  for (const Span& span : rows.of("kernel")) run.push_back(span.name);
  std::ranges::sort(built);
  std::ranges::sort(run);
  EXPECT_GT(run.size(), 2U);
  EXPECT_EQ(built, run);
  std::vector<std::string> passes;
  for (const Span& span : rows.of("pass")) passes.push_back(span.name);
  EXPECT_EQ(passes, pipeline::pass_names());
}

TEST_F(ToolTrace, TheTasksOfAKernelAreOnTheThreadsThatRunThem) {
  EXPECT_CODE(place.run("run several.fx --threads 2 --trace F.json"), 0);
  const Rows rows = read_rows(place.read("F.json"));
  std::set<std::pair<int, int>> threads;
  for (const auto& [row, spans] : rows.spans)
    for (const Span& span : spans)
      if (span.category == "tasks") threads.insert(row);
  EXPECT_EQ(threads.size(), 2U);
}

TEST_F(ToolTrace, KernelsOfADeviceAreOnARowOfItsStream) {
  const std::string trace = place.file("F.json");
  const std::vector<std::string> words = {"run", place.file("small.fx"), "--device", "sealed", "--trace",
                                          trace};
  testing::internal::CaptureStdout();
  const int code = tool::run_program(words, [](std::string_view, const CpuOptions&) {
    return Device::of(sealed_device(Device::reference().share()));
  });
  testing::internal::GetCapturedStdout();
  ASSERT_EQ(code, 0);
  const Rows rows = read_rows(place.read("F.json"));
  expect_nested(rows);
  EXPECT_TRUE(rows.processes.contains(GPU));
  EXPECT_EQ((rows.names.at({GPU, GPU})), "stream");
  EXPECT_GT((rows.spans.at({GPU, GPU}).size()), 1U);
  for (const auto& [row, spans] : rows.spans)
    for (const Span& span : spans) EXPECT_EQ(span.category == "kernel", row.first == GPU) << span.name;
}

TEST_F(ToolTrace, ATraceChangesNoResultAndNoOutput) {
  const Outcome plain = place.run("run several.fx --threads 2");
  EXPECT_EQ(place.run("run several.fx --threads 2 --trace F.json").output, plain.output);
}

TEST_F(ToolTrace, AFileThatCannotBeWrittenIsAnError) {
  const Outcome failed = place.run("run softmax.fx --trace nowhere/F.json");
  EXPECT_CODE(failed, 2);
  EXPECT_SAYS(failed, "error: cannot write 'nowhere/F.json'");
}

}  // namespace
}  // namespace twinloom::tests
