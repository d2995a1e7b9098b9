// Heuristics: which axes are walked as one. Neighbouring axes are, where that leaves no division, or none in
// what is stored; all axes of a canonical total are, since its places count through them, and all rows of
// totals of columns.
#include <algorithm>

#include "core/loops/rewrite.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

using loops::NestLoop;

namespace {

// A nest while axes are fused.
class AxisFuser {
 public:
  AxisFuser(const loops::Program& nest, Divisions divisions)
      : kernel_(steps::kernel_of(nest)), divisions_(divisions) {}

  // All axes of a scope that can be walked as one without a division left, innermost first.
  void fuse_neighbours(int sibling) {
    for (std::size_t last = axes(sibling).size(); last-- > 1;) {
      const auto names = axes(sibling);
      if (last >= names.size()) continue;
      try_fuse({names[last - 1], names[last]}, is_small(sibling, last), may_divide_loads(sibling, last));
    }
  }
  void fuse_all(int sibling) {
    const auto names = axes(sibling);
    if (names.size() > 1) try_fuse(names, true);
  }

  FusedAxes take() { return {std::move(kernel_.program), std::move(steps_)}; }

 private:
  const std::vector<NestLoop>& scope(const loops::Nest& shape, int sibling) const {
    return sibling < 0 ? shape.common : siblings_of(shape)[static_cast<std::size_t>(sibling)]->loops;
  }
  std::vector<std::string> axes(int sibling) const {
    const loops::Nest shape = loops::take_apart(kernel_.program);
    std::vector<std::string> names;
    for (const NestLoop& loop : scope(shape, sibling)) names.emplace_back(loop.axis.name());
    return names;
  }
  // Too short to fill vectors by itself: worth a division.
  bool is_small(int sibling, std::size_t axis) const {
    const loops::Nest shape = loops::take_apart(kernel_.program);
    return is_shorter(scope(shape, sibling)[axis], 16) && sibling < 0 && siblings_of(shape).empty();
  }
  // Whether divisions of loads are worth it: an axis is too short to fill a side of a tile, or a row becomes
  // as one as those of the other siblings are.
  bool may_divide_loads(int sibling, std::size_t axis) const {
    if (divisions_ == Divisions::none) return false;
    const loops::Nest shape = loops::take_apart(kernel_.program);
    const auto siblings = siblings_of(shape);
    if (sibling < 0)
      return siblings.empty() && is_shorter(shape.common[axis], SHORT_AXIS) &&
             !has_neighbours(shape, shape.common[axis - 1].axis);
    return reach_of(shape, *siblings[static_cast<std::size_t>(sibling)]) == Reach::none;
  }
  // Of a load: a tile finds them along an axis of their own.
  bool has_neighbours(const loops::Nest& shape, const index::Symbol& axis) const {
    return std::ranges::any_of(accesses_of(kernel_.program, shape), [&](const Access& access) {
      return !access.store && stride_along(access, axis) == 1;
    });
  }
  static bool is_shorter(const NestLoop& loop, std::int64_t length) {
    const auto extent = index::constant_of(loop.extent);
    return extent && *extent < length;
  }

  static int divisions_of(const std::string& text) {
    int count = 0;
    for (std::size_t at = text.find("floor_"); at != std::string::npos; at = text.find("floor_", at + 1))
      ++count;
    return count;
  }
  static int divisions(const loops::Program& nest, bool of_stores) {
    if (!of_stores) return divisions_of(loops::print(nest));
    int count = 0;
    loops::for_each_stmt(*nest.body, [&](const loops::Stmt& stmt) {
      if (const auto* store = std::get_if<loops::Store>(&stmt.node))
        count += divisions_of(cat(store->offset));
    });
    return count;
  }

  void try_fuse(const std::vector<std::string>& names, bool always, bool of_stores = false) {
    const steps::Step step{steps::Fuse{names, fresh_name()}};
    auto result = steps::apply(kernel_, step);
    auto* after = std::get_if<steps::Kernel>(&result);
    if (after == nullptr) return;
    if (!always && divisions(after->program, of_stores) > divisions(kernel_.program, of_stores)) return;
    kernel_ = std::move(*after);
    steps_.push_back(step);
  }

  std::string fresh_name() const {
    for (std::size_t number = 0;; ++number) {
      const std::string name = cat("r", number);
      if (!kernel_.facts.symbols().contains(index::Symbol(name))) return name;
    }
  }

  steps::Kernel kernel_;
  Divisions divisions_;
  std::vector<steps::Step> steps_;
};

}  // namespace

FusedAxes choose_fused_axes(const loops::Program& nest, Divisions divisions) {
  AxisFuser fuser(nest, divisions);
  const loops::Nest shape = loops::take_apart(nest);
  if (shape.columns)
    fuser.fuse_all(-1);
  else
    fuser.fuse_neighbours(-1);
  int number = 0;
  for (const loops::Sibling* sibling : siblings_of(shape)) {
    if (reach_of(shape, *sibling) == Reach::canonical)
      fuser.fuse_all(number);
    else
      fuser.fuse_neighbours(number);
    ++number;
  }
  return fuser.take();
}

}  // namespace twinloom::schedule
