// See machine_code.h.
#include "tests/cuda/machine_code.h"

#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "backends/cuda/library.h"

namespace twinloom::cuda {

namespace {

namespace fs = std::filesystem;

//         /*00c0*/              @!P0 BRA `(.L_x_0) ;
std::optional<Instruction> instruction_of(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t"), number_end = line.find("*/");
  if (start == std::string_view::npos || !line.substr(start).starts_with("/*")) return std::nullopt;
  const std::size_t end = line.find(';');
  if (number_end == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
  std::istringstream words{std::string(line.substr(number_end + 2, end - number_end - 2))};
  Instruction instruction;
  words >> instruction.opcode;
  instruction.is_conditional = instruction.opcode.starts_with('@');
  if (instruction.is_conditional) words >> instruction.opcode;
  std::getline(words >> std::ws, instruction.operands);
  return instruction;
}

bool is(const Instruction& instruction, std::string_view name) {
  return std::string_view(instruction.opcode).substr(0, instruction.opcode.find('.')) == name;
}
bool is_end(const Instruction& instruction) { return is(instruction, "EXIT") || is(instruction, "RET"); }
// A branch may have a predicate among its operands too: BRA !P2, `(.L_x_3).
bool always_branches(const Instruction& branch) {
  return !branch.is_conditional && branch.operands.starts_with('`');
}

void add_from_path(std::vector<fs::path>& places) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    places.push_back(fs::path(folder) / "nvdisasm");
}

// Those of one file, which goes with them.
class Folder {
 public:
  Folder() {
    path_ = (fs::temp_directory_path() / "twinloom_code_XXXXXX").string();
    CHECK(mkdtemp(path_.data()) != nullptr, "no folder for a file of machine code");
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file() const { return (fs::path(path_) / "code.cubin").string(); }

 private:
  std::string path_;
};

}  // namespace

MachineCode::MachineCode(const std::string& listing) {
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    if (const auto instruction = instruction_of(line))
      instructions_.push_back(*instruction);
    else if (line.ends_with(':') && !line.starts_with(' ') && !line.starts_with('\t'))
      labels_.emplace(line.substr(0, line.size() - 1), instructions_.size());
  }
}

std::vector<std::string_view> MachineCode::fast_path(const std::string& function) const {
  const auto found = labels_.find(function);
  CHECK(found != labels_.end(), "there is no function '", function, "'");
  return fast_path_from(found->second);
}

std::vector<std::string_view> MachineCode::fast_path_from(std::size_t start) const {
  std::vector<std::string_view> opcodes;
  for (const std::size_t at : shortest_path(start)) {
    if (!is(instructions_[at], "NOP")) opcodes.emplace_back(instructions_[at].opcode);
    if (!is(instructions_[at], "CALL")) continue;
    const auto called = fast_path_from(target_of(at));
    opcodes.insert(opcodes.end(), called.begin(), called.end());
  }
  return opcodes;
}

// Dijkstra's, where a call is as long as what it runs. The end of a function is behind all instructions.
std::vector<std::size_t> MachineCode::shortest_path(std::size_t start) const {
  struct Reached {
    std::size_t length, from;
  };
  const std::size_t end = instructions_.size();
  std::map<std::size_t, Reached> reached{{start, {0, start}}};
  std::set<std::pair<std::size_t, std::size_t>> open{{0, start}};
  while (!open.empty() && open.begin()->second != end) {
    const auto [before, at] = *open.begin();
    open.erase(open.begin());
    const std::size_t length = before + length_of(at);
    for (const std::size_t next : next_of(at)) {
      const auto [found, is_first] = reached.try_emplace(next, Reached{length, at});
      if (!is_first && found->second.length <= length) continue;
      if (!is_first) open.erase({found->second.length, next});
      found->second = {length, at};
      open.emplace(length, next);
    }
  }
  CHECK(reached.contains(end), "a function without an end");
  std::vector<std::size_t> path;
  for (std::size_t at = end; at != start; path.push_back(at)) at = reached.at(at).from;
  std::ranges::reverse(path);
  return path;
}

std::size_t MachineCode::length_of(std::size_t at) const {
  return is(instructions_[at], "CALL") ? 1 + fast_path_from(target_of(at)).size() : 1;
}

std::vector<std::size_t> MachineCode::next_of(std::size_t at) const {
  const Instruction& instruction = instructions_[at];
  CHECK(!is(instruction, "BRX") && !is(instruction, "JMX"), "a jump to a place that is computed");
  std::vector<std::size_t> next;
  if (is_end(instruction)) next.push_back(instructions_.size());
  if (is(instruction, "BRA")) next.push_back(target_of(at));
  const bool leaves = is(instruction, "BRA") ? always_branches(instruction)
                                             : is_end(instruction) && !instruction.is_conditional;
  if (!leaves) next.push_back(at + 1);
  return next;
}

// `(.L_x_0)
std::size_t MachineCode::target_of(std::size_t at) const {
  const std::string& operands = instructions_[at].operands;
  const std::size_t open = operands.find("`("), close = operands.find(')');
  CHECK(open != std::string::npos && close != std::string::npos, "a branch to no label: ", operands);
  const auto found = labels_.find(operands.substr(open + 2, close - open - 2));
  CHECK(found != labels_.end(), "a branch to a label that is not there: ", operands);
  return found->second;
}

std::string nvdisasm_path() {
  std::vector<fs::path> places;
  add_from_path(places);
  for (const std::string& library : library_directories()) {
    places.push_back(fs::path(library).parent_path() / "bin" / "nvdisasm");
    // lib is in site-packages/nvidia/NAME.
    const fs::path packages = fs::path(library).parent_path().parent_path().parent_path();
    places.push_back(packages / "triton" / "backends" / "nvidia" / "bin" / "nvdisasm");
  }
  std::error_code ignored;
  const auto found = std::ranges::find_if(
      places, [&](const fs::path& place) { return fs::is_regular_file(place, ignored); });
  return found == places.end() ? std::string() : found->string();
}

// What it says beside the listing is that it is of another version than NVRTC.
std::string listing_of(const std::string& cubin, const std::string& nvdisasm) {
  const Folder folder;
  std::ofstream(folder.file(), std::ios::binary) << cubin;
  FILE* stream = popen(cat("'", nvdisasm, "' -c '", folder.file(), "' 2>/dev/null").c_str(), "r");
  CHECK(stream != nullptr, nvdisasm, " cannot be run");
  std::string listing;
  char chunk[1 << 16];
  for (std::size_t size = 0; (size = fread(chunk, 1, sizeof chunk, stream)) != 0;)
    listing.append(chunk, size);
  const int status = pclose(stream);
  CHECK(status == 0, nvdisasm, " ends with ", status);
  return listing;
}

}  // namespace twinloom::cuda
