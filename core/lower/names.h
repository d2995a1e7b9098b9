// Names and numbers for what is made while lowering and fusing: distinct in everything that shares one
// of these, and never a size symbol's name. share() gives the short names that a person reads.
#pragma once

#include <set>
#include <string>

#include "core/base/text.h"
#include "core/loops/loops.h"

namespace twinloom::lower {

class Names {
 public:
  explicit Names(std::set<index::Symbol> taken) : taken_(std::move(taken)) {}

  // prefix0, prefix1, ...: the first that is free.
  index::Symbol symbol(std::string_view prefix) {
    for (;; ++next_symbol_) {
      const index::Symbol candidate(cat(prefix, next_symbol_));
      if (taken_.insert(candidate).second) return candidate;
    }
  }
  loops::Temp temp() { return loops::Temp{next_temp_++}; }

 private:
  std::set<index::Symbol> taken_;
  int next_symbol_ = 0;
  std::uint32_t next_temp_ = 0;
};

}  // namespace twinloom::lower
