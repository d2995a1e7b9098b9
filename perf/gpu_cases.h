// The kernels whose speed on a GPU is watched, with the bytes that they must move.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
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

// Those of a table, "main" or "indexed", whose name has these letters. Error where there are none.
inline std::vector<GpuCase> gpu_cases_of(const std::string& table, const std::string& letters) {
  std::vector<GpuCase> found;
  for (const GpuCase& given : table == "indexed" ? gpu_indexed_cases() : gpu_cases())
    if (given.name.find(letters) != std::string::npos) found.push_back(given);
  if (found.empty()) throw Error(cat("no case has a name with '", letters, "'"));
  return found;
}

}  // namespace twinloom::perf
