// Where temporaries lie in the exported function's memory, as expressions of the sizes. Values whose lives do
// not meet share a slot; slots lie one behind the other.
#pragma once

#include <optional>
#include <vector>

#include "core/runtime/variant.h"

namespace twinloom::sources {

struct Slot {
  std::vector<index::Expr> bytes;  // of each value that lies in it: the slot has the most of them
  std::size_t last = 0;            // the step that uses it last
};

struct Workspace {
  std::vector<Slot> slots;
  std::vector<std::optional<std::size_t>> slot_of;  // by value; nothing for what is no temporary
};

Workspace workspace_of(const runtime::Variant& variant);

}  // namespace twinloom::sources
