// See memory.h.
#include "core/base/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace twinloom {

namespace {

constexpr std::int64_t UNKNOWN = std::numeric_limits<std::int64_t>::max();

std::int64_t of_system() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  for (std::int64_t kilobytes = 0; file >> key >> kilobytes; std::getline(file, unit))
    if (key == "MemAvailable:") return kilobytes * 1024;
  return UNKNOWN;
}

std::int64_t of_control_group() {
  for (const char* name : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(name);
    if (std::int64_t bytes = 0; file >> bytes) return bytes;
  }
  return UNKNOWN;
}

std::int64_t of_address_space() {
  rlimit limit{};
  const bool known = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return known ? static_cast<std::int64_t>(limit.rlim_cur) : UNKNOWN;
}

}  // namespace

std::int64_t available_memory() { return std::min({of_system(), of_control_group(), of_address_space()}); }

bool fits_memory(std::int64_t bytes) {
  constexpr std::int64_t many = std::int64_t{256} << 20;
  return bytes < many || bytes <= available_memory();
}

}  // namespace twinloom
