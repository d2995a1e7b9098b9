// See product.h.
#include "core/schedule/product.h"

#include "core/loops/rewrite.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

namespace {

// The one load that a factor is computed from; nothing where there are several.
std::optional<loops::Load> only_load(const loops::Value& factor) {
  std::optional<loops::Load> found;
  int loads = 0;
  loops::for_each_value(factor, [&](const loops::Value& value) {
    if (const auto* load = std::get_if<loops::Load>(&value.node)) found = *load, ++loads;
  });
  return loads == 1 ? found : std::nullopt;
}

bool is_unit_stride(const index::Expr& offset, const index::Symbol& axis) {
  const auto linear = index::linear_in(offset, axis);
  return linear && linear->scale == index::Expr(1);
}

class Finder {
 public:
  explicit Finder(const loops::Program& nest) : nest_(nest), shape_(loops::take_apart(nest)) {}

  std::optional<Contraction> find() {
    if (shape_.columns || !find_sum()) return std::nullopt;
    auto left = only_load(*factors_[0]), right = only_load(*factors_[1]);
    if (!left || !right || left->buffer == right->buffer) return std::nullopt;
    const loops::NestLoop* columns = find_columns();
    if (columns == nullptr) return std::nullopt;
    if (index::mentions(left->offset, columns->axis)) std::swap(left, right);
    if (index::mentions(left->offset, columns->axis) || !index::mentions(right->offset, columns->axis))
      return std::nullopt;
    const loops::NestLoop* rows = find_rows(*left, *right);
    if (rows == nullptr) return std::nullopt;
    Contraction found{{},
                      *rows,
                      *columns,
                      sibling_->loops.front(),
                      name(*left),
                      name(*right),
                      cat("t", start_->total.index),
                      is_unit_stride(right->offset, columns->axis)};
    for (const loops::NestLoop& loop : shape_.common)
      if (loop.axis != rows->axis && loop.axis != columns->axis) found.others.emplace_back(loop.axis.name());
    return found;
  }

 private:
  std::string name(const loops::Load& load) const { return nest_.buffers[load.buffer.index].name; }

  // One free sum of products over one axis, and nothing else that is summed.
  bool find_sum() {
    for (const loops::Item& item : shape_.items) {
      if (const auto* sibling = std::get_if<loops::Sibling>(&item)) {
        if (sibling_ != nullptr || sibling->loops.size() != 1 || sibling->inner.size() != 1) return false;
        sibling_ = sibling;
      } else if (const auto* start =
                     std::get_if<loops::Start>(&std::get<loops::Ref<loops::Stmt>>(item)->node)) {
        if (start_ != nullptr || !start->free) return false;
        start_ = start;
      }
    }
    if (sibling_ == nullptr || start_ == nullptr) return false;
    const auto* step = std::get_if<loops::Accumulate>(&sibling_->inner.front()->node);
    const auto* product = step == nullptr ? nullptr : std::get_if<loops::Apply>(&step->values.front()->node);
    if (product == nullptr || product->op != ops::Pointwise::mul) return false;
    factors_ = product->inputs;
    return true;
  }

  // The axis along which results are neighbours.
  const loops::NestLoop* find_columns() const {
    for (const loops::Item& item : shape_.items) {
      const auto* stmt = std::get_if<loops::Ref<loops::Stmt>>(&item);
      const auto* store = stmt == nullptr ? nullptr : std::get_if<loops::Store>(&(*stmt)->node);
      if (store == nullptr) continue;
      for (const loops::NestLoop& loop : shape_.common)
        if (is_unit_stride(store->offset, loop.axis)) return &loop;
    }
    return nullptr;
  }

  // The longest axis of the left operand alone.
  const loops::NestLoop* find_rows(const loops::Load& left, const loops::Load& right) const {
    const index::Values sizes = usual_sizes(nest_);
    const loops::NestLoop* longest = nullptr;
    for (const loops::NestLoop& loop : shape_.common) {
      if (!index::mentions(left.offset, loop.axis) || index::mentions(right.offset, loop.axis)) continue;
      if (longest == nullptr || usual_extent(loop, sizes) > usual_extent(*longest, sizes)) longest = &loop;
    }
    return longest;
  }

  const loops::Program& nest_;
  loops::Nest shape_;
  const loops::Sibling* sibling_ = nullptr;
  const loops::Start* start_ = nullptr;
  std::vector<loops::Ref<loops::Value>> factors_;
};

}  // namespace

std::optional<Contraction> find_contraction(const loops::Program& nest) { return Finder(nest).find(); }

}  // namespace twinloom::schedule
