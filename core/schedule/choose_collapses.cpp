// Heuristics: which axes are walked as one. Neighbouring axes are, where that leaves no division; all axes of
// a canonical total are, since its places count through them, and all rows of totals of columns.
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

using loops::NestLoop;

namespace {

// A nest while collapses are chosen.
class Collapser {
 public:
  explicit Collapser(const loops::Program& nest) : nest_(nest) {}

  // All axes of a scope that can be walked as one without a division left, innermost first.
  void collapse_neighbours(int sibling) {
    for (std::size_t last = axes(sibling).size(); last-- > 1;) {
      const auto names = axes(sibling);
      if (last >= names.size()) continue;
      try_collapse(sibling, {names[last - 1], names[last]}, is_small(sibling, last));
    }
  }
  void collapse_all(int sibling) {
    const auto names = axes(sibling);
    if (names.size() > 1) try_collapse(sibling, names, true);
  }

  const loops::Program& nest() const { return nest_; }
  const std::vector<Collapse>& collapses() const { return collapses_; }

 private:
  const std::vector<NestLoop>& scope(const loops::Nest& shape, int sibling) const {
    return sibling < 0 ? shape.common : siblings_of(shape)[static_cast<std::size_t>(sibling)]->loops;
  }
  std::vector<std::string> axes(int sibling) const {
    const loops::Nest shape = loops::take_apart(nest_);
    std::vector<std::string> names;
    for (const NestLoop& loop : scope(shape, sibling)) names.emplace_back(loop.axis.name());
    return names;
  }
  // Too short to fill vectors by itself: worth a division.
  bool is_small(int sibling, std::size_t axis) const {
    const loops::Nest shape = loops::take_apart(nest_);
    const auto extent = index::constant_of(scope(shape, sibling)[axis].extent);
    return extent && *extent < 16 && sibling < 0 && siblings_of(shape).empty();
  }

  static int divisions(const loops::Program& nest) {
    int count = 0;
    const auto look = [&](const std::string& text) {
      for (std::size_t at = text.find("floor_"); at != std::string::npos; at = text.find("floor_", at + 1))
        ++count;
    };
    look(loops::print(nest));
    return count;
  }

  void try_collapse(int sibling, const std::vector<std::string>& names, bool always) {
    const Collapse plan{sibling, names, fresh_name()};
    auto result = collapse(nest_, {plan});
    auto* after = std::get_if<loops::Program>(&result);
    if (after == nullptr || (!always && divisions(*after) > divisions(nest_))) return;
    nest_ = std::move(*after);
    collapses_.push_back(plan);
  }

  std::string fresh_name() const {
    const index::Facts facts = loops::facts_of(nest_);
    for (std::size_t number = 0;; ++number) {
      const std::string name = cat("r", number);
      if (!facts.symbols().contains(index::Symbol(name))) return name;
    }
  }

  loops::Program nest_;
  std::vector<Collapse> collapses_;
};

}  // namespace

Collapsed choose_collapses(const loops::Program& nest) {
  Collapser collapser(nest);
  const loops::Nest shape = loops::take_apart(nest);
  if (shape.columns)
    collapser.collapse_all(-1);
  else
    collapser.collapse_neighbours(-1);
  int number = 0;
  for (const loops::Sibling* sibling : siblings_of(shape)) {
    if (reach_of(shape, *sibling) == Reach::canonical)
      collapser.collapse_all(number);
    else
      collapser.collapse_neighbours(number);
    ++number;
  }
  return {collapser.nest(), collapser.collapses()};
}

}  // namespace twinloom::schedule
