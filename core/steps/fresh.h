// A second copy of a statement, with names of its own for everything that is bound inside. For the inside of
// core/steps and core/schedule.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/loops/loops.h"

namespace twinloom::steps {

// Where the names come from.
struct FreshNames {
  std::function<loops::Temp()> temp;
  std::function<index::Symbol(std::string_view stem)> symbol;
  std::function<loops::Buffer(loops::Buffer like)> buffer;
};
loops::Ref<loops::Stmt> with_fresh_names(const loops::Ref<loops::Stmt>& stmt, const FreshNames& names);

// The stem itself where it is free, else with a number behind it; no name is given twice.
index::Symbol fresh_symbol(std::string_view stem, std::set<index::Symbol>& taken);
std::string fresh_buffer_name(const std::vector<loops::BufferInfo>& buffers, std::string_view stem);

}  // namespace twinloom::steps
