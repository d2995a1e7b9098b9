// The goldens of schedule, program and source: compares them with what is made, and writes them.
//   goldens [MACHINE...]                   compares; exit code 1 where something differs
//   goldens --write [MACHINE...]           writes tests/goldens/MACHINE.txt
//   goldens --texts FOLDER [MACHINE...]    writes FOLDER/MACHINE/SUBJECT/KERNEL.txt, with all texts in full
// Machines are cpu-avx2, cpu-avx512 and h200; where none is named, all of them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#include "core/base/error.h"
#include "core/base/text.h"
#include "perf/exit_code.h"
#include "tests/goldens/differences.h"
#include "tests/goldens/make_texts.h"
#include "tests/goldens/planners.h"

namespace twinloom::tests {

namespace {

struct Options {
  std::vector<std::string> machines;
  bool write = false;
  std::string texts;
};

std::vector<std::shared_ptr<const runtime::Backend>> planners_for(const std::vector<std::string>& names) {
  std::vector<std::shared_ptr<const runtime::Backend>> found = planners();
  if (names.empty()) return found;
  for (const std::string& name : names)
    if (std::ranges::none_of(found, [&](const auto& planner) { return planner->name() == name; }))
      throw Error(cat("no machine is named '", escaped(name), "'"));
  std::erase_if(
      found, [&](const auto& planner) { return std::ranges::find(names, planner->name()) == names.end(); });
  return found;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(cat(path, " cannot be read; goldens --write makes it"));
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

void write(const std::string& path, const std::string& content) {
  std::ofstream file(path);
  file << content;
  file.close();
  if (!file) throw Error(cat(path, " cannot be written"));
}

constexpr const char* HINT =
    "\nWhole texts, of this tree and of another revision, side by side: tests/goldens/compare REV\n"
    "Where the change is meant: goldens --write, and its diff is part of the review\n";

int run(const Options& options) {
  bool equal = true;
  for (const auto& planner : planners_for(options.machines)) {
    const std::vector<SubjectTexts> made = make_texts(planner);
    const std::string path = cat(TWINLOOM_GOLDENS_FOLDER, "/", planner->name(), ".txt");
    const std::string golden = golden_of(planner->machine(), made);
    if (!options.texts.empty()) write_texts(std::filesystem::path(options.texts) / planner->name(), made);
    if (options.write) write(path, golden);
    if (options.write || !options.texts.empty()) continue;
    const std::string words = differences(content_of(path), golden);
    std::cout << words;
    equal = equal && words.empty();
  }
  if (!equal) std::cout << HINT;
  return equal ? 0 : 1;
}

}  // namespace

}  // namespace twinloom::tests

int main(int count, char** words) {
  twinloom::tests::Options options;
  CLI::App app{"Compares the kernels made for stored machines with their goldens"};
  app.add_option("machines", options.machines, "cpu-avx2, cpu-avx512, h200; left out, all of them");
  app.add_flag("--write", options.write, "Writes the goldens");
  app.add_option("--texts", options.texts, "Writes all texts in full into this folder");
  CLI11_PARSE(app, count, words);
  return twinloom::perf::exit_code_of([&] { return twinloom::tests::run(options); });
}
