// Programs as files of CUDA C++ that nvcc compiles without Twinloom.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/sources/target.h"

namespace twinloom::cuda {

// Kernels that are planned as make_planner() does and have the bits of those compiled here. Error where the
// architecture is another than HOPPER.
std::unique_ptr<const sources::Target> make_source_target(const std::string& architecture);

std::vector<sources::File> cuda_exported_headers();  // of backends/cuda/exported
std::vector<sources::File> sort_sources();           // sort.h and sort.cpp of this folder

}  // namespace twinloom::cuda
