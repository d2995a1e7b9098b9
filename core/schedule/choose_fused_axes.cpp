// Heuristics: which axes are walked as one. Neighbouring axes are, where that leaves no division; all axes of
// a canonical total are, since its places count through them, and all rows of totals of columns.
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

using loops::NestLoop;

namespace {

// A nest while axes are fused.
class AxisFuser {
 public:
  explicit AxisFuser(const loops::Program& nest) : kernel_(steps::kernel_of(nest)) {}

  // All axes of a scope that can be walked as one without a division left, innermost first.
  void fuse_neighbours(int sibling) {
    for (std::size_t last = axes(sibling).size(); last-- > 1;) {
      const auto names = axes(sibling);
      if (last >= names.size()) continue;
      try_fuse({names[last - 1], names[last]}, is_small(sibling, last));
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

  void try_fuse(const std::vector<std::string>& names, bool always) {
    const steps::Step step{steps::Fuse{names, fresh_name()}};
    auto result = steps::apply(kernel_, step);
    auto* after = std::get_if<steps::Kernel>(&result);
    if (after == nullptr || (!always && divisions(after->program) > divisions(kernel_.program))) return;
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
  std::vector<steps::Step> steps_;
};

}  // namespace

FusedAxes choose_fused_axes(const loops::Program& nest) {
  AxisFuser fuser(nest);
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
