// The node tests of ONNX, where Debian's libonnx-testdata has put them, against the table of those that do
// not pass.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "frontends/onnx/read.h"
#include "tests/support/scratch_folder.h"

namespace twinloom::tests {

namespace {

constexpr const char* folder = "/usr/share/libonnx-testdata/data/node";

// "failed test_x", "skipped test_y", each with a reason behind it; "total N".
struct Expected {
  std::map<std::string, std::string> outcomes;  // of those that do not pass
  std::size_t total = 0;
};
Expected expected() {
  Expected result;
  std::ifstream file(TWINLOOM_SOURCE "/tests/onnx/node_suite.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string outcome, name;
    words >> outcome >> name;
    if (outcome == "total") result.total = std::stoul(name);
    if (outcome == "failed" || outcome == "skipped") result.outcomes[name] = outcome;
  }
  return result;
}

// The names in backquotes in the table of the README.
std::set<std::string> documented() {
  std::ifstream file(TWINLOOM_SOURCE "/frontends/onnx/README.md");
  std::set<std::string> names;
  bool is_table = false;
  for (std::string line; std::getline(file, line);) {
    is_table = line.starts_with("| family") || (is_table && line.starts_with("|"));
    for (std::size_t at = line.find('`'); is_table && at != std::string::npos; at = line.find('`', at + 1)) {
      const std::size_t end = line.find('`', at + 1);
      names.insert(line.substr(at + 1, end - at - 1));
      at = end;
    }
  }
  return names;
}

TEST(OnnxSuite, TheReadmeNamesEveryOperator) {
  const std::vector<std::string> rows = onnx::operators();
  EXPECT_EQ(documented(), std::set<std::string>(rows.begin(), rows.end()));
}

std::size_t count_tests() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (std::filesystem::exists(entry.path() / "model.onnx")) ++count;
  return count;
}

TEST(OnnxSuite, NodeTestsPassButThoseOfTheTable) {
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << folder << " is not there: apt-get install libonnx-testdata";
#ifdef TWINLOOM_SANITIZED
  GTEST_SKIP() << "the program takes too long with a sanitizer";
#endif
  Expected table = expected();
  if (count_tests() != table.total)
    GTEST_SKIP() << folder << " is of another version: it has " << count_tests()
                 << " tests, the table is for " << table.total;
  const ScratchFolder scratch;
  const std::string command = std::string("TWINLOOM_CACHE_DIR='") + scratch.path() +
                              "' '" TWINLOOM_PROGRAM "' conformance " + folder +
                              " --jobs 2 --threads 1 --json '" + scratch.file("results.json") + "' >'" +
                              scratch.file("words") + "' 2>&1";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(std::filesystem::exists(scratch.file("results.json"))) << status;
  const nlohmann::json results = nlohmann::json::parse(std::ifstream(scratch.file("results.json")));
  EXPECT_EQ(results["tests"].size(), table.total);
  for (const nlohmann::json& test : results["tests"]) {
    const auto found = table.outcomes.find(test["test"]);
    const std::string wanted = found == table.outcomes.end() ? "passed" : found->second;
    EXPECT_EQ(test["outcome"], wanted) << test["test"] << ": " << test["words"];
    if (found != table.outcomes.end()) table.outcomes.erase(found);
  }
  for (const auto& [name, outcome] : table.outcomes) ADD_FAILURE() << name << " of the table is no test";
}

}  // namespace

}  // namespace twinloom::tests
