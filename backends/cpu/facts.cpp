// See facts.h.
#include "backends/cpu/facts.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "core/base/text.h"

namespace twinloom::cpu {

namespace {

std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// "48K", "2M"; 0 when it is not of that form.
std::int64_t bytes_of(const std::string& text) {
  std::int64_t value = 0;
  std::size_t at = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9' && value < (std::int64_t{1} << 40))
    value = value * 10 + (text[at++] - '0');
  if (at < text.size() && text[at] == 'K') value <<= 10;
  if (at < text.size() && text[at] == 'M') value <<= 20;
  return value;
}

// How many CPUs a list such as "0-3,8" names.
std::int64_t sharers_of(const std::string& list) {
  std::int64_t count = 0;
  std::size_t at = 0;
  while (at < list.size()) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string part = list.substr(at, end - at);
    const std::size_t dash = part.find('-');
    count += dash == std::string::npos ? 1 : bytes_of(part.substr(dash + 1)) - bytes_of(part) + 1;
    at = end + 1;
  }
  return std::max<std::int64_t>(count, 1);
}

// The share of one worker in each cache for data, by level; usual sizes where the system is silent.
std::map<int, std::int64_t> caches(int cores) {
  std::map<int, std::int64_t> bytes = {{1, 32 << 10}, {2, 512 << 10}, {3, 2 << 20}};
  for (int at = 0; at < 8; ++at) {
    const std::string folder = cat("/sys/devices/system/cpu/cpu0/cache/index", at, "/");
    const std::int64_t size = bytes_of(first_word(folder + "size"));
    if (size == 0 || first_word(folder + "type") == "Instruction") continue;
    const std::int64_t sharers =
        std::min<std::int64_t>(sharers_of(first_word(folder + "shared_cpu_list")), cores);
    bytes[static_cast<int>(bytes_of(first_word(folder + "level")))] = size / sharers;
  }
  return bytes;
}

double clock_rate() {
  const auto kilohertz =
      static_cast<double>(bytes_of(first_word("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")));
  return kilohertz > 0 ? kilohertz * 1e3 : 2.8e9;
}

// "Intel(R) Xeon(R) Processor, family 6, model 207": some makers give many CPUs one name.
std::string model() {
  std::ifstream file("/proc/cpuinfo");
  std::map<std::string, std::string, std::less<>> first;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::size_t colon = line.find(':'), end = line.find_last_not_of("\t ", colon - 1);
    if (colon == std::string::npos || end == std::string::npos || colon + 2 > line.size()) continue;
    first.emplace(line.substr(0, end + 1), line.substr(colon + 2));
  }
  if (first["model name"].empty()) return "a CPU";
  return cat(first["model name"], ", family ", first["cpu family"], ", model ", first["model"]);
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(CPU_COUNT(&set), 1);
}

// Bytes a cycle: two loads from L1, about a quarter of that from L2, an eighth from L3.
machine::Machine machine_of(const Isa& isa, int threads, double worth_a_thread_seconds) {
  const double clock = clock_rate();
  const double from_registers = 2.0 * isa.vector_bytes * clock;
  machine::Machine machine;
  machine.name = cat("cpu-", isa.name);
  machine.model = model();
  machine.vector_bytes = isa.vector_bytes;
  machine.vector_registers = isa.vector_registers;
  machine.masked_memory = isa.masked_memory;
  machine.blocks_at_once = threads;
  for (const auto& [level, bytes] : caches(threads))
    machine.memory.push_back({cat("L", level), bytes, from_registers / (1 << std::min(2 * (level - 1), 3))});
  machine.memory.push_back({"memory", 0, 10e9});
  machine.memory.back().workers = 1;
  machine.clock_hertz = clock;
  machine.issue_each = 2;
  machine.launch_seconds = 1e-6;
  machine.worth_a_thread_seconds = worth_a_thread_seconds;
  return machine;
}

}  // namespace twinloom::cpu
