// See workspace.h.
#include "core/sources/workspace.h"

#include <algorithm>

namespace twinloom::sources {

namespace {

// The step that uses the value last, from this one on.
std::size_t last_use(const runtime::Variant& variant, std::size_t first, lower::ValueId value) {
  std::size_t last = first;
  for (std::size_t s = first; s < variant.steps.size(); ++s)
    if (std::ranges::find(variant.steps[s].arguments, value) != variant.steps[s].arguments.end()) last = s;
  return last;
}

// A slot that is free from this step on, rather one of this size.
std::size_t find_slot(std::vector<Slot>& slots, std::size_t step, const index::Expr& bytes) {
  std::optional<std::size_t> found;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if (slots[s].last >= step) continue;
    const bool fits = std::ranges::find(slots[s].bytes, bytes) != slots[s].bytes.end();
    if (fits) return s;
    if (!found) found = s;
  }
  if (found) return *found;
  slots.emplace_back();
  return slots.size() - 1;
}

}  // namespace

Workspace workspace_of(const runtime::Variant& variant) {
  Workspace workspace;
  workspace.slot_of.resize(variant.values.size());
  for (std::size_t s = 0; s < variant.steps.size(); ++s) {
    for (const lower::ValueId id : variant.steps[s].arguments) {
      const lower::Value& value = variant.values[id.index];
      if (value.storage != lower::Storage::temporary || workspace.slot_of[id.index]) continue;
      const index::Expr bytes = value.count * index::Expr(ops::size_of(value.dtype));
      const std::size_t at = find_slot(workspace.slots, s, bytes);
      Slot& slot = workspace.slots[at];
      if (std::ranges::find(slot.bytes, bytes) == slot.bytes.end()) slot.bytes.push_back(bytes);
      slot.last = last_use(variant, s, id);
      workspace.slot_of[id.index] = at;
    }
  }
  return workspace;
}

}  // namespace twinloom::sources
