// See fresh.h.
#include "core/steps/fresh.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/loops/rewrite.h"

namespace twinloom::steps {

loops::Ref<loops::Stmt> with_fresh_names(const loops::Ref<loops::Stmt>& stmt, const FreshNames& names) {
  loops::Renaming renaming;
  const auto rename_temp = [&](loops::Temp old) { renaming.temps.emplace(old, names.temp()); };
  const auto rename_symbol = [&](const index::Symbol& old) {
    renaming.symbols.emplace(old, names.symbol(old.name()));
  };
  loops::for_each_stmt(*stmt, [&](const loops::Stmt& inner) {
    if (const auto* loop = std::get_if<loops::Loop>(&inner.node)) rename_symbol(loop->axis);
    if (const auto* index = std::get_if<loops::Index>(&inner.node)) rename_symbol(index->symbol);
    if (const auto* let = std::get_if<loops::Let>(&inner.node)) rename_temp(let->temp);
    if (const auto* start = std::get_if<loops::Start>(&inner.node)) rename_temp(start->total);
    if (const auto* fold = std::get_if<loops::Fold>(&inner.node)) rename_temp(fold->result);
    if (const auto* prefix = std::get_if<loops::Prefix>(&inner.node)) {
      rename_temp(prefix->before);
      rename_temp(prefix->all);
    }
    if (const auto* scratch = std::get_if<loops::Scratch>(&inner.node))
      renaming.buffers.emplace(scratch->buffer, names.buffer(scratch->buffer));
  });
  return loops::rename(stmt, renaming);
}

index::Symbol fresh_symbol(std::string_view stem, std::set<index::Symbol>& taken) {
  constexpr std::size_t LONGEST = 23;
  for (int number = 0;; ++number) {
    const std::string ending = number == 0 ? "" : cat("_", number);
    const index::Symbol name(cat(stem.substr(0, LONGEST - ending.size()), ending));
    if (taken.insert(name).second) return name;
  }
}

std::string fresh_buffer_name(const std::vector<loops::BufferInfo>& buffers, std::string_view stem) {
  std::string name(stem);
  for (int number = 1; std::ranges::find(buffers, name, &loops::BufferInfo::name) != buffers.end(); ++number)
    name = cat(stem, "_", number);
  return name;
}

}  // namespace twinloom::steps
