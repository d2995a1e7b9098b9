// Packages: graphs with kernels that were compiled ahead of time. See core/package/package.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "api/twinloom.h"
#include "core/package/package.h"

namespace twinloom {

struct ExportOptions {
  // "avx2", "avx512" or "sm_90", each once; empty: the instruction set of this processor.
  std::vector<std::string> targets = {};
  CompileOptions compile = {};
  // Arguments whose layouts kernels are made for, one for each parameter; their data may be null. Empty: all
  // tensors are row-major.
  std::vector<std::vector<Argument>> examples = {};
  // Kernels for the class of each example's sizes too, which are faster than those for all sizes.
  bool of_class = false;
};

// In place of a file of that name. Error where a target is not known, an example does not fit the graph, or
// the file cannot be written.
void export_package(const Graph& graph, const std::filesystem::path& file, const ExportOptions& options = {});

struct PackageOptions {
  bool compile = true;  // what the package lacks, where this library can; false: that is an Error
  int build_threads = 0;
};

// The options that its kernels were compiled with. Error where this version does not know them.
CompileOptions compile_options_of(const package::Package& package);

// Runs what the package holds for the device. Error where the file is no package of this version.
Executable load_package(const std::filesystem::path& file, const Device& device,
                        const PackageOptions& options = {});

}  // namespace twinloom
