// A program as a file of C++ that is compiled without Twinloom, and the headers that such files include.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/loops/loops.h"
#include "jit/clang_compiler.h"

namespace twinloom::cpu {

// Defines the kernel as extern "C" under this name. The comment stands on top.
std::string source_text(const loops::Program& program, const std::string& function, std::string_view comment);

// Those of kernels, by the names that #include spells: kernels.h includes all of them. launch.h is what calls
// kernels, sample.h what tests them.
std::vector<jit::VirtualFile> source_headers();
// Of backends/cpu/exported.
std::vector<jit::VirtualFile> exported_headers();
std::vector<jit::VirtualFile> task_headers();            // core/runtime/tasks.h
std::vector<jit::VirtualFile> floating_point_headers();  // backends/cpu/floating_point.h

// The flags of g++ and clang++ for an instruction set, with which kernels have the bits of those compiled here.
// Error where it is not known.
std::vector<std::string> compiler_flags(std::string_view isa);

}  // namespace twinloom::cpu
