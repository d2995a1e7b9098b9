// The node tests of ONNX against the tables of those that do not pass: the older ones where Debian's
// libonnx-testdata has put them, and those of ONNX 1.23 in the folder that TWINLOOM_NODE_SUITE names.
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

// "failed test_x", "skipped test_y", each with a reason behind it; "total N".
struct Expected {
  std::map<std::string, std::string> outcomes;  // of those that do not pass
  std::size_t total = 0;
};
Expected expected(const std::string& table) {
  Expected result;
  std::ifstream file(TWINLOOM_SOURCE "/tests/onnx/" + table);
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

std::size_t count_tests(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (std::filesystem::exists(entry.path() / "model.onnx")) ++count;
  return count;
}

// The results of all tests there; null where the program ends before.
nlohmann::json results_of(const std::string& folder) {
  const ScratchFolder scratch;
  const std::string command = std::string("TWINLOOM_CACHE_DIR='") + scratch.path() +
                              "' '" TWINLOOM_PROGRAM "' conformance '" + folder +
                              "' --jobs 2 --threads 1 --json '" + scratch.file("results.json") + "' >'" +
                              scratch.file("words") + "' 2>&1";
  const int status = std::system(command.c_str());
  if (!std::filesystem::exists(scratch.file("results.json"))) {
    ADD_FAILURE() << status;
    return nullptr;
  }
  return nlohmann::json::parse(std::ifstream(scratch.file("results.json")));
}

void check_suite(const std::string& folder, const std::string& name) {
#ifdef TWINLOOM_SANITIZED
  GTEST_SKIP() << "the program takes too long with a sanitizer";
#endif
  Expected table = expected(name);
  if (count_tests(folder) != table.total)
    GTEST_SKIP() << folder << " is of another version: it has " << count_tests(folder)
                 << " tests, the table is for " << table.total;
  const nlohmann::json results = results_of(folder);
  ASSERT_FALSE(results.is_null());
  EXPECT_EQ(results["tests"].size(), table.total);
  for (const nlohmann::json& test : results["tests"]) {
    const auto found = table.outcomes.find(test["test"]);
    const std::string wanted = found == table.outcomes.end() ? "passed" : found->second;
    EXPECT_EQ(test["outcome"], wanted) << test["test"] << ": " << test["words"];
    if (found != table.outcomes.end()) table.outcomes.erase(found);
  }
  for (const auto& [test, outcome] : table.outcomes) ADD_FAILURE() << test << " of the table is no test";
}

TEST(OnnxSuite, NodeTestsPassButThoseOfTheTable) {
  const std::string folder = "/usr/share/libonnx-testdata/data/node";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << folder << " is not there: apt-get install libonnx-testdata";
  check_suite(folder, "node_suite.txt");
}

TEST(OnnxSuite, NewerNodeTestsPassButThoseOfTheTable) {
  const char* folder = std::getenv("TWINLOOM_NODE_SUITE");
  if (folder == nullptr || !std::filesystem::exists(folder))
    GTEST_SKIP() << "TWINLOOM_NODE_SUITE names no folder of node tests: pip install onnx==1.23.2 ml_dtypes; "
                    "python -m onnx.backend.test.cmd_tools generate-data -o FOLDER; it is FOLDER/node";
  check_suite(folder, "node_suite_1_23.txt");
}

}  // namespace

}  // namespace twinloom::tests
