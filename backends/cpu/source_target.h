// Programs as files of C++ that are compiled without Twinloom, with g++ or clang++.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/sources/target.h"

namespace twinloom::cpu {

// Kernels that have the bits of those compiled here. Error where the instruction set is not known.
std::unique_ptr<const sources::Target> make_source_target(const std::string& isa);

// What kernels and those who call them include: of backends/cpu/exported; core/runtime/tasks.h;
// backends/cpu/floating_point.h.
std::vector<sources::File> cpu_exported_headers();
std::vector<sources::File> task_headers();
std::vector<sources::File> floating_point_headers();

}  // namespace twinloom::cpu
