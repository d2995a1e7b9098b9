// Names of devices, for the lists of back ends.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/devices.h"

namespace twinloom {

// The N of "cuda:N"; 0 for "cuda"; nothing for another name.
std::optional<int> gpu_number(std::string_view name);

// Error with the list that is written out, and the nearest of the known names.
[[noreturn]] void fail_unknown_device(std::string_view name, std::span<const std::string_view> known,
                                      std::string_view list);

// Those with the highest memory bandwidth first.
void sort_by_bandwidth(std::vector<Device>& gpus);

}  // namespace twinloom
