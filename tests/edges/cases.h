// The rows of edges.md.
#pragma once

#include <string>
#include <vector>

#include "core/ops/dtype.h"

namespace twinloom::tests {

struct Edge {
  int line;
  std::string operation;
  ops::DType of;
  bool in_rows;                                  // one operand, which is a row
  std::vector<std::vector<std::string>> inputs;  // numbers of each operand
  std::vector<std::string> gives;
  std::string authority;
};

// Error with the line where a row is none.
std::vector<Edge> read_edges(const std::string& path);

}  // namespace twinloom::tests
