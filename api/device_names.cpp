// See device_names.h.
#include "api/device_names.h"

#include <algorithm>
#include <charconv>

#include "core/base/error.h"

namespace twinloom {

std::optional<int> gpu_number(std::string_view name) {
  constexpr std::string_view CUDA = "cuda";
  if (!name.starts_with(CUDA)) return std::nullopt;
  name.remove_prefix(CUDA.size());
  if (name.empty()) return 0;
  if (!name.starts_with(':')) return std::nullopt;
  int number = 0;
  const auto [end, problem] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  const bool whole = problem == std::errc() && end == name.data() + name.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

void fail_unknown_device(std::string_view name, std::span<const std::string_view> known,
                         std::string_view list) {
  const std::string near = nearest_name(name, known);
  throw Error(cat("there is no device '", escaped(name), "'; devices are ", list,
                  near.empty() ? "" : cat("; did you mean '", near, "'?")));
}

void sort_by_bandwidth(std::vector<Device>& gpus) {
  const auto bandwidth = [](const Device& device) {
    const machine::Machine& machine = device.backend().machine();
    return machine.memory.back().bytes_per_second * machine.blocks_at_once;
  };
  std::ranges::stable_sort(gpus, std::ranges::greater(), bandwidth);
}

}  // namespace twinloom
