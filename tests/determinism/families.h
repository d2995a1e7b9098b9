// Graphs whose results depend on an order unless that is kept: one a family of reductions, scans and
// scatters.
#pragma once

#include <span>
#include <string_view>

#include "core/graph/builder.h"

namespace twinloom::tests {

struct Family {
  std::string_view name;
  void (*build)(graph::Builder& builder);
  std::int64_t tasks;  // that the kernel which does most is cut into, or more
};

std::span<const Family> families();

}  // namespace twinloom::tests
