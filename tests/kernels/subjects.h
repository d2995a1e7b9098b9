// The graphs that tests of kernels look at: those of graphs.h, and the named ones that PyTorch printed.
#pragma once

#include <gtest/gtest.h>

#include <ostream>

#include "tests/kernels/compiled.h"
#include "tests/kernels/graphs.h"

namespace twinloom::tests {

// A named graph, or one of graphs.h where `build` says which.
struct Subject {
  std::string name;
  Sort sort;
  std::size_t most_kernels;
  void (*build)(graph::Builder&) = nullptr;
  bool sums_by_segments = false;  // a scatter with duplicates, whose sums are walked element by element
};
// How GoogleTest names it in lists.
inline void PrintTo(const Subject& subject, std::ostream* stream) { *stream << subject.name; }

std::vector<Subject> subjects();
Loaded loaded(const Subject& subject);
// How a test of it is named.
std::string test_name(const testing::TestParamInfo<Subject>& given);

}  // namespace twinloom::tests
