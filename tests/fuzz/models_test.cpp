// Real ONNX models that are damaged end as an Error or a correct run, each in a process of its own: no crash,
// no Bug, no wrong element, none over 10 s or 1 GiB. TWINLOOM_MODELS asks for another number of them,
// TWINLOOM_SEED for other ones, TWINLOOM_NODE_SUITE=FOLDER for newer models beside them, and TWINLOOM_SAY=FOLDER writes those that were run there and says what became
// of each.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>

#include "core/base/error.h"
#include "core/base/files.h"
#include "frontends/onnx/read.h"
#include "tests/conformance/random.h"
#include "tests/fuzz/models.h"
#include "tests/fuzz/run.h"
#include "tools/twinloom/guarded.h"

// What the address sanitizer keeps of freed memory, to watch it, counts as memory of a run: less than the
// 256 MiB that it keeps otherwise, which were three quarters of the largest one.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();  // NOLINT
const char* __asan_default_options() { return "quarantine_size_mb=64"; }                 // NOLINT

namespace twinloom::tests {

namespace {

namespace fs = std::filesystem;

// Of a processor for one model: a ShuffleNet takes 9 to 10 s of one with a sanitizer, of a slower one more.
constexpr double most_seconds = 30;
constexpr std::int64_t most_mebibytes = 1024;  // that it takes at once; a sanitizer's own included
// Networks of more nodes than this holds take 10 s as they are, where the sanitizer slows down their
// compilation.
constexpr std::int64_t largest_file = 128 << 10;

std::string from_environment(const char* variable, const std::string& otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : text;
}

// The models in a folder and those inside of it, sorted.
std::vector<fs::path> models_in(const fs::path& folder) {
  std::vector<fs::path> found;
  if (!fs::is_directory(folder)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".onnx" && entry.file_size() <= largest_file)
      found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

// By folder, each as likely as the others.
std::vector<std::vector<fs::path>> models() {
  const fs::path suite = "/usr/share/libonnx-testdata/data";
  std::vector<std::vector<fs::path>> groups;
  for (const char* part : {"node", "pytorch-converted", "pytorch-operator", "simple", "node"})
    groups.push_back(models_in(suite / part));
  groups.push_back(models_in(fs::path(from_environment("TWINLOOM_SHARED", TWINLOOM_SHARED)) / "models"));
  groups.push_back(models_in(from_environment("TWINLOOM_NODE_SUITE", "")));
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  return groups;
}

// The tensors beside a model of ONNX's tests.
std::optional<graph::Array> value_beside(const fs::path& model, std::size_t position) {
  const fs::path file = model.parent_path() / "test_data_set_0" / cat("input_", position, ".pb");
  if (!fs::exists(file)) return std::nullopt;
  try {
    return onnx::read_tensor(read_bytes(file, onnx::most_bytes), "input");
  } catch (const Error&) {
    return std::nullopt;  // of sequences
  }
}

Outcome outcome_of(const std::string& bytes, const fs::path& model, std::uint64_t seed) {
  try {
    onnx::ReadOptions options;
    options.folder = model.parent_path();
    options.values = [&](const std::string&, std::size_t position) { return value_beside(model, position); };
    const graph::Graph graph = onnx::read(bytes, options);
    Values values;
    for (std::size_t p = 0; p < graph.parameters().size(); ++p) values.push_back(value_beside(model, p));
    // An input is there twice, and a result of each mode.
    constexpr std::int64_t most_each = 160 << 20;
    return run_everywhere(
        graph, seed, {.compiled_one_in = 1, .run = std::int64_t{1} << 34, .bytes = most_each, .fused = true},
        values);
  } catch (const Error& error) {
    return {Fate::refused, error.what()};
  } catch (const std::exception& problem) {
    return {Fate::wrong, problem.what()};
  }
}

struct Ended {
  Outcome outcome;
  double seconds = 0;
  std::int64_t mebibytes = 0;
};

std::string print(const Ended& ended) {
  return cat(static_cast<int>(ended.outcome.fate), " ", ended.seconds, " ", ended.mebibytes, " ",
             ended.outcome.words);
}
Ended parsed(const tool::Guarded& guarded) {
  if (!guarded.ended) return {{Fate::wrong, guarded.words}, guarded.seconds, 0};
  std::istringstream text(guarded.words);
  int fate = 0;
  Ended ended;
  text >> fate >> ended.seconds >> ended.mebibytes >> std::ws;
  ended.outcome.fate = static_cast<Fate>(fate);
  std::getline(text, ended.outcome.words, '\0');
  return ended;
}

// What a process takes says it itself: the parent cannot tell its children apart.
std::string run_here(const std::string& bytes, const fs::path& model, std::uint64_t seed) {
  Ended ended{outcome_of(bytes, model, seed)};
  ended.seconds = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  ended.mebibytes = used.ru_maxrss >> 10;
  return print(ended);
}

struct Case {
  fs::path model;
  DamagedModel damaged;
};
Case case_of(const std::vector<std::vector<fs::path>>& groups, std::uint64_t seed) {
  Random random(seed);
  const fs::path& model = random.pick(random.pick(groups));
  return {model, damaged_model(read_bytes(model, largest_file), seed)};
}

// What all of them came to.
struct Tally {
  std::map<Fate, int> fates;
  std::map<std::string, std::map<Fate, int>> by_damage;
  double slowest = 0;
  std::int64_t largest = 0;

  void add(const Case& one, const Ended& ended) {
    ++fates[ended.outcome.fate], ++by_damage[one.damaged.damage][ended.outcome.fate];
    slowest = std::max(slowest, ended.seconds), largest = std::max(largest, ended.mebibytes);
  }
};
std::string print(std::map<Fate, int> fates) {
  return cat(fates[Fate::ran], " ran, ", fates[Fate::refused], " refused, ", fates[Fate::too_large],
             " too large, ", fates[Fate::wrong], " wrong");
}

TEST(DamagedModels, EndAsResultsOrErrors) {
  const auto groups = models();
  if (groups.empty()) GTEST_SKIP() << "there are no models: apt-get install libonnx-testdata";
  const std::uint64_t first = std::stoull(from_environment("TWINLOOM_SEED", "1"));
  const std::size_t count = std::stoull(from_environment("TWINLOOM_MODELS", cat(TWINLOOM_DEFAULT_MODELS)));
  const std::string folder = from_environment("TWINLOOM_SAY", "");
  Tally tally;
  const auto work = [&](std::size_t number) {
    const Case one = case_of(groups, first + number);
    if (!folder.empty()) write_whole(fs::path(folder) / cat(first + number, ".onnx"), one.damaged.bytes);
    return run_here(one.damaged.bytes, one.model, first + number);
  };
  const auto done = [&](std::size_t number, const tool::Guarded& guarded) {
    const Ended ended = parsed(guarded);
    const Case one = case_of(groups, first + number);
    const std::string words =
        cat("seed ", first + number, ", ", one.model.parent_path().filename().string(), "/",
            one.model.filename().string(), ", ", one.damaged.damage, ": ", print(ended));
    tally.add(one, ended);
    if (!folder.empty()) std::cout << words << std::endl;
    EXPECT_NE(ended.outcome.fate, Fate::wrong) << words;
    EXPECT_FALSE(ended.outcome.fate == Fate::refused && ended.outcome.words.empty()) << words;
    EXPECT_LT(ended.seconds, most_seconds) << words;
    EXPECT_LT(ended.mebibytes, most_mebibytes) << words;
  };
  constexpr double most_wall = 120;  // beside others
  tool::run_guarded(count, {.seconds = most_wall, .bytes = most_mebibytes << 20}, work, done);
  for (const auto& [damage, fates] : tally.by_damage) std::cout << damage << ": " << print(fates) << "\n";
  std::cout << "seeds " << first << " to " << first + count - 1 << ": " << print(tally.fates) << "; at most "
            << tally.slowest << " s and " << tally.largest << " MiB\n";
}

}  // namespace

}  // namespace twinloom::tests
