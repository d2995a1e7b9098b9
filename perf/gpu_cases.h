// The kernels whose speed on a GPU is watched, with the bytes that they must move.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/builder.h"

namespace twinloom::perf {

struct GpuCase {
  std::string name;
  void (*build)(graph::Builder&);
  std::int64_t bytes;            // counted for bandwidths: see gpu_cases.cpp
  std::int64_t index_bound = 0;  // of integer inputs
  bool channels_last = false;    // inputs of four axes lie so, and so must results
};
const std::vector<GpuCase>& gpu_cases();          // whose geometric mean is reported
const std::vector<GpuCase>& gpu_indexed_cases();  // that gather and scatter

// Cases by the name of their table: "main" or "indexed".
inline const std::vector<GpuCase>& gpu_table(const std::string& name) {
  return name == "indexed" ? gpu_indexed_cases() : gpu_cases();
}

}  // namespace twinloom::perf
