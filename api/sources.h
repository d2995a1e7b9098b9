// Graphs as C++ that is compiled without this library. See core/sources/sources.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "api/twinloom.h"

namespace twinloom {

struct SourceOptions {
  std::string name;  // of the function; empty: the graph's
  std::string isa;   // of export_cpp: "avx2" or "avx512"; empty: that of this processor
  CompileOptions compile = {};
  std::uint64_t seed = 0, offset = 0;  // of random numbers in the test
  bool of_class = false;  // kernels for the class of the example's sizes, which are faster than those for all
  bool overwrite = false;  // files that the folder holds
};

// Writes a folder: a function of the graph, its kernels, a build file and a test that hands `example` in, one
// argument for each parameter, whose layouts the kernels are made for. Gives the name of the function. Error
// where the folder is not empty, the graph has no form in C++, or a file cannot be written.
std::string export_cpp(const Graph& graph, const std::filesystem::path& folder,
                       const std::vector<Argument>& example, const SourceOptions& options = {});

// The same for nvcc: kernels are CUDA C++, planned for GPUs of compute capability 9.0, and the function puts
// them on a stream. Needs no GPU, but for the run in mode fast, whose bits a CPU does not have. Error where
// this build has no back end for GPUs.
std::string export_cuda(const Graph& graph, const std::filesystem::path& folder,
                        const std::vector<Argument>& example, const SourceOptions& options = {});

}  // namespace twinloom
