// See scopes.h.
#include "core/emit/scopes.h"

#include "core/base/error.h"

namespace twinloom::emit {

Scopes::Scope& Scopes::at(int level) {
  CHECK(level >= 0 && level < static_cast<int>(scopes_.size()), "no scope ", level);
  return scopes_[static_cast<std::size_t>(level)];
}

int Scopes::outermost(int level) const {
  int outer = this->level();
  while (outer > level && scopes_[static_cast<std::size_t>(outer)].surely_runs) --outer;
  return outer;
}

std::vector<std::string> Scopes::close() {
  std::vector<std::string> lines = std::move(scopes_.back().lines);
  scopes_.pop_back();
  return lines;
}

void Scopes::close(const std::string& head, const std::string& tail) {
  const std::vector<std::string> lines = close();
  line(head);
  for (const std::string& text : lines) line("  " + text);
  line(tail);
}

std::string Scopes::fresh(std::string_view prefix) { return cat(prefix, next_number()); }

std::string Scopes::named(int level, std::string_view prefix, const std::string& type,
                          const std::string& text, const Origin& origin) {
  return named(level, prefix, cat(type, ' ', text), origin, [&](const std::string& name) {
    return Defined{name, {cat("const ", type, ' ', name, " = ", text, ";")}};
  });
}

std::string Scopes::named(int level, std::string_view prefix, const std::string& key, const Origin& origin,
                          const Define& define) {
  for (const Scope& scope : scopes_)
    if (const auto found = scope.values.find(key); found != scope.values.end()) return found->second.name;
  auto [name, lines] = define(fresh(prefix));
  for (std::string& line : lines) line_at(level, std::move(line));
  at(level).values.emplace(key, Named{name, origin});
  return name;
}

void Scopes::forget(const Origin& origin) {
  for (Scope& scope : scopes_)
    std::erase_if(scope.values, [&](const auto& entry) { return entry.second.origin == origin; });
}

}  // namespace twinloom::emit
