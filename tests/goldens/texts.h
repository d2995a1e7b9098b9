// What is made of subjects for one machine, as texts, and the forms in which they are kept:
//   golden_of    one text a machine, short enough to be looked at: schedules in full, of all else a hash
//   write_texts  a folder with everything, a file a kernel, for `diff -r`
// A golden, after a head with the facts of the machine:
//   subject speed/full_sum
//     kernel k0_sum
//       nest 3fc4a44704cf9601
//       schedule
//         loop 0 r0.0 serial
//       program 2a3968ec7c70020e source 223bf454a9463d8f k0_sum
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/machine/machine.h"

namespace twinloom::tests {

struct ProgramTexts {
  std::string name, program, source;
  friend bool operator==(const ProgramTexts&, const ProgramTexts&) = default;
};

// What was one nest: a split one is several programs.
struct KernelTexts {
  std::string name, nest, schedule;
  std::vector<ProgramTexts> programs;
  friend bool operator==(const KernelTexts&, const KernelTexts&) = default;
};

struct SubjectTexts {
  std::string name;
  std::vector<KernelTexts> kernels;
};

std::string golden_of(const machine::Machine& machine, const std::vector<SubjectTexts>& subjects);

// FOLDER/SUBJECT/KERNEL.txt, where bytes of the names that do not suit a path are '_'. Error where a file
// cannot be written.
void write_texts(const std::filesystem::path& folder, const std::vector<SubjectTexts>& subjects);

}  // namespace twinloom::tests
