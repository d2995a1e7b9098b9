// See contraction.h.
#include "core/loops/contraction.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/loops/nest.h"

namespace twinloom::loops {

namespace {

struct Factor {
  const Load* load;
  Contraction::Zero zero = {};
  const Load* zero_load = nullptr;  // of one that a buffer holds
};

// A factor is what a buffer holds, or that as f32.
std::optional<Factor> real_factor(const Value& factor) {
  const auto* convert = std::get_if<Convert>(&factor.node);
  const Value& value = convert != nullptr && convert->to == ops::DType::f32 ? *convert->input : factor;
  const auto* load = std::get_if<Load>(&value.node);
  return load == nullptr ? std::nullopt : std::optional(Factor{load});
}

// Sets a zero point: a number, or what a buffer holds, as i32.
bool set_zero(Factor& factor, const Value& value) {
  if (const auto* number = std::get_if<Literal>(&value.node)) {
    factor.zero.number = number->value.integer();
    return true;
  }
  const auto* convert = std::get_if<Convert>(&value.node);
  const auto* load = std::get_if<Load>(&(convert == nullptr ? value : *convert->input).node);
  if (load == nullptr || !ops::is_integer(load->otherwise.dtype)) return false;
  factor.zero.stored = Contraction::Operand{load->buffer, load->offset};
  factor.zero_load = load;
  return true;
}

// Or an integer of 8 bits, less its zero point, as i32.
std::optional<Factor> integer_factor(const Value& factor) {
  const Value* value = &factor;
  Factor found{nullptr};
  if (const auto* apply = std::get_if<Apply>(&value->node)) {
    if (apply->op != ops::Pointwise::sub || !set_zero(found, *apply->inputs.back())) return std::nullopt;
    value = apply->inputs.front().get();
  }
  const auto* convert = std::get_if<Convert>(&value->node);
  if (convert == nullptr || convert->to != ops::DType::i32) return std::nullopt;
  found.load = std::get_if<Load>(&convert->input->node);
  const bool is_narrow = found.load != nullptr && ops::is_integer(found.load->otherwise.dtype) &&
                         ops::bits_of(found.load->otherwise.dtype) == 8;
  return is_narrow ? std::optional(found) : std::nullopt;
}

// The parts of a nest that is one contraction.
struct Parts {
  const Nest* nest;
  const Sibling* sibling;
  Factor left, right;
  const Store* store;
  ops::DType sums;
};

std::optional<Parts> parts_of(const Nest& nest) {
  if (nest.columns || nest.items.size() != 3) return std::nullopt;
  const auto stmt_at = [&](std::size_t at) {
    const auto* stmt = std::get_if<Ref<Stmt>>(&nest.items[at]);
    return stmt == nullptr ? nullptr : stmt->get();
  };
  const Stmt *first = stmt_at(0), *last = stmt_at(2);
  const auto* sibling = std::get_if<Sibling>(&nest.items[1]);
  if (first == nullptr || last == nullptr || sibling == nullptr || sibling->inner.size() != 1)
    return std::nullopt;
  const auto* start = std::get_if<Start>(&first->node);
  const auto* step = std::get_if<Accumulate>(&sibling->inner.front()->node);
  const auto* store = std::get_if<Store>(&last->node);
  if (start == nullptr || step == nullptr || store == nullptr) return std::nullopt;
  const bool is_real = start->element == ops::DType::f32 && start->free;
  if (start->monoid != ops::Monoid::sum || (!is_real && start->element != ops::DType::i32) ||
      !step->mask.all.empty() || !store->mask.all.empty() || store->update != Update::replace)
    return std::nullopt;
  const auto* convert = std::get_if<Convert>(&store->value->node);
  const auto* total = std::get_if<Read>(&(convert == nullptr ? *store->value : *convert->input).node);
  const auto* product = std::get_if<Apply>(&step->values.front()->node);
  if (total == nullptr || total->temp != start->total || product == nullptr ||
      product->op != ops::Pointwise::mul)
    return std::nullopt;
  const auto factor = is_real ? real_factor : integer_factor;
  const auto left = factor(*product->inputs[0]), right = factor(*product->inputs[1]);
  if (!left || !right) return std::nullopt;
  return Parts{&nest, sibling, *left, *right, store, start->element};
}

class Finder {
 public:
  explicit Finder(const Parts& parts) : parts_(parts) {
    if (!parts_.right.load->mask.all.empty()) std::swap(parts_.left, parts_.right);
    for (const NestLoop& loop : parts_.nest->common) loops_.push_back(loop);
    for (const NestLoop& loop : parts_.sibling->loops) loops_.push_back(loop);
  }

  std::optional<Contraction> find() {
    const Load &read_left = *parts_.left.load, &read_right = *parts_.right.load;
    const auto has_no_mask = read_right.mask.all.empty();
    const auto out = steps_along(loops_, parts_.store->offset), left = steps_along(loops_, read_left.offset),
               right = steps_along(loops_, read_right.offset);
    if (!has_no_mask || !out || !left || !right || !stands(parts_.left) || !stands(parts_.right))
      return std::nullopt;
    found_.out = parts_.store->buffer, found_.left = read_left.buffer, found_.right = read_right.buffer;
    found_.sums = parts_.sums, found_.left_zero = parts_.left.zero, found_.right_zero = parts_.right.zero;
    found_.out_begin = out->begin, found_.left_begin = left->begin, found_.right_begin = right->begin;
    for (std::size_t at = 0; at < loops_.size(); ++at)
      (at < kept() ? found_.kept : found_.summed)
          .push_back({loops_[at].extent, out->steps[at], left->steps[at], right->steps[at]});
    if (!add_masked_windows()) return std::nullopt;
    drop_alone();
    return are_factors() ? std::optional(std::move(found_)) : std::nullopt;
  }

 private:
  // Of u = by_kept * i + by_summed * k, which the mask holds between two numbers.
  struct Bounds {
    std::int64_t by_kept = 0, by_summed = 0;
    std::optional<std::int64_t> least;
    std::optional<index::Expr> most;
  };
  using Pair = std::pair<std::optional<std::size_t>, std::optional<std::size_t>>;

  // Whether its zero point is the same in all iterations, but for 0 where what is read is 0 too.
  bool stands(const Factor& factor) const {
    if (factor.zero_load == nullptr) return true;
    const Load &load = *factor.zero_load, &read = *factor.load;
    const bool is_zero_outside =
        load.mask.all.empty() || ops::real_of(load.otherwise.value, load.otherwise.dtype) == 0;
    return load.mask == read.mask && is_zero_outside &&
           std::ranges::none_of(
               loops_, [&](const NestLoop& loop) { return index::mentions(load.offset, loop.axis); });
  }

  std::size_t kept() const { return parts_.nest->common.size(); }

  // Each condition bounds what one window reads: a < b is 0 <= b - a - 1.
  bool add_masked_windows() {
    const Load& load = *parts_.left.load;
    if (load.mask.all.empty()) return true;
    const auto outside = static_cast<double>(parts_.left.zero.number);
    if (ops::real_of(load.otherwise.value, load.otherwise.dtype) != outside) return false;
    std::map<Pair, Bounds> all;
    for (const index::Less& less : load.mask.all)
      if (!add_bound(less.b - less.a - 1, all)) return false;
    std::vector<bool> used(loops_.size());
    for (const auto& [pair, bounds] : all) {
      for (const auto& axis : {pair.first, pair.second}) {
        if (!axis) continue;
        if (used[*axis]) return false;
        used[*axis] = true;
      }
      if (pair.first ? !add_window(pair, bounds) : !leave_out(*pair.second, bounds)) return false;
    }
    return true;
  }

  // What only reads outside is not summed up: taps of a filter that reach over the whole image, as those of
  // wide dilations do. The others are a window's.
  bool leave_out(std::size_t at, const Bounds& bounds) {
    Contraction::Axis& own = axis_at(at);
    const index::Expr by = bounds.by_summed, first = index::ceil_div(bounds.least.value_or(0), by);
    const index::Expr end =
        bounds.most ? index::least(own.extent, index::floor_div(*bounds.most, by) + 1) : own.extent;
    const index::Expr begin = index::greatest(0, first);
    own.extent = end - begin;
    found_.left_begin = found_.left_begin + begin * own.left;
    found_.right_begin = found_.right_begin + begin * own.right;
    const auto extent = index::constant_of(own.extent);
    if (extent == 1) {
      alone_.push_back(at - kept());
      return true;
    }
    found_.windows.push_back({std::nullopt, at - kept(), 0, 1, 0, own.extent, own.left});
    own.left = 0;
    return extent.value_or(1) > 0;
  }

  // Summed axes of which one turn is left are none.
  void drop_alone() {
    std::ranges::sort(alone_, std::ranges::greater{});
    for (const std::size_t axis : alone_) {
      found_.summed.erase(found_.summed.begin() + static_cast<std::ptrdiff_t>(axis));
      for (Contraction::Window& window : found_.windows)
        if (window.summed && *window.summed > axis) --*window.summed;
    }
  }

  // 0 <= excess, which mentions a kept axis, a summed one, or both.
  bool add_bound(const index::Expr& excess, std::map<Pair, Bounds>& all) const {
    const auto steps = steps_along(loops_, excess);
    if (!steps) return false;
    Pair pair;
    std::int64_t scales[2] = {0, 0};
    for (std::size_t at = 0; at < loops_.size(); ++at) {
      const auto scale = index::constant_of(steps->steps[at]);
      if (!scale) return false;
      if (*scale == 0) continue;
      auto& axis = at < kept() ? pair.first : pair.second;
      if (axis) return false;
      axis = at;
      scales[at < kept() ? 0 : 1] = *scale;
    }
    const bool rises = scales[0] >= 0 && scales[1] >= 0, falls = scales[0] <= 0 && scales[1] <= 0;
    if (rises == falls) return false;
    const std::int64_t by_kept = std::abs(scales[0]), by_summed = std::abs(scales[1]);
    const auto [entry, added] = all.try_emplace(pair, Bounds{by_kept, by_summed, {}, {}});
    Bounds& bounds = entry->second;
    if (bounds.by_kept != by_kept || bounds.by_summed != by_summed) return false;
    const auto begin = index::constant_of(steps->begin);
    if (rises ? bounds.least || !begin : bounds.most.has_value()) return false;
    if (rises)
      bounds.least = -*begin;
    else
      bounds.most = steps->begin;
    return true;
  }

  bool add_window(const Pair& pair, const Bounds& bounds) {
    Contraction::Window window;
    window.by_kept = bounds.by_kept, window.by_summed = bounds.by_summed;
    index::Expr last = 0;
    std::optional<index::Expr> step;
    // All of a window's axes walk its dimension: their steps are multiples of one.
    const auto take = [&](const std::optional<std::size_t>& axis, std::int64_t by) {
      if (!axis) return true;
      Contraction::Axis& own = axis_at(*axis);
      const index::Expr one = index::floor_div(own.left, by);
      if (one * by != own.left || (step && *step != one)) return false;
      step = one;
      last = last + by * (own.extent - 1);
      own.left = 0;
      return true;
    };
    if (!take(pair.first, bounds.by_kept) || !take(pair.second, bounds.by_summed)) return false;
    if (pair.first) window.kept = *pair.first;
    if (pair.second) window.summed = *pair.second - kept();
    window.before = bounds.least.value_or(0);
    window.extent = bounds.most.value_or(last) - window.before + 1;
    window.step = *step;
    if (index::constant_of(window.extent).value_or(1) <= 0) return false;
    found_.left_begin = found_.left_begin + window.before * window.step;
    found_.windows.push_back(window);
    return true;
  }

  Contraction::Axis& axis_at(std::size_t at) {
    return at < kept() ? found_.kept[at] : found_.summed[at - kept()];
  }

  // Each summed axis is one of both, and each factor has one of the result that the other lacks; of windows,
  // as each channel of a convolution has its own, only the one that is read through them.
  bool are_factors() const {
    std::vector<bool> windowed(found_.kept.size()), summed_there(found_.summed.size());
    for (const Contraction::Window& window : found_.windows) {
      if (window.kept) windowed[*window.kept] = true;
      if (window.summed) summed_there[*window.summed] = true;
    }
    for (std::size_t k = 0; k < found_.summed.size(); ++k) {
      const Contraction::Axis& axis = found_.summed[k];
      if (axis.right == 0 || (axis.left == 0 && !summed_there[k])) return false;
    }
    bool only_left = false, only_right = false;
    for (std::size_t k = 0; k < found_.kept.size(); ++k) {
      const Contraction::Axis& axis = found_.kept[k];
      const bool left = axis.left != 0 || windowed[k];
      if (axis.out == 0 || (!left && axis.right == 0)) return false;
      only_left = only_left || (left && axis.right == 0);
      only_right = only_right || !left;
    }
    return only_left && (only_right || !alone_.empty() || !found_.windows.empty());
  }

  Parts parts_;
  std::vector<NestLoop> loops_;  // the common ones, then the sibling's
  Contraction found_;
  std::vector<std::size_t> alone_;  // summed axes of which one turn is left
};

}  // namespace

std::optional<StepsAlong> steps_along(const std::vector<NestLoop>& loops, const index::Expr& offset) {
  StepsAlong along{offset, {}};
  const auto is_axis = [&](index::Symbol symbol) {
    return std::ranges::find(loops, symbol, &NestLoop::axis) != loops.end();
  };
  for (const NestLoop& loop : loops) {
    const auto linear = index::linear_in(along.begin, loop.axis);
    if (!linear || index::any_symbol(linear->scale, is_axis)) return std::nullopt;
    along.steps.push_back(linear->scale);
    along.begin = linear->rest;
  }
  return along;
}

std::optional<Contraction> contraction_of(const Program& nest) {
  if (routine_of(nest) != nullptr) return std::nullopt;
  const Nest apart = take_apart(nest);
  const auto parts = parts_of(apart);
  return parts ? Finder(*parts).find() : std::nullopt;
}

Nest with_free_sums(Nest nest) {
  for (Item& item : nest.items) {
    auto* one = std::get_if<Ref<Stmt>>(&item);
    const auto* start = one == nullptr ? nullptr : std::get_if<Start>(&(*one)->node);
    if (start == nullptr) continue;
    Start free = *start;
    free.free = true;
    *one = stmt(std::move(free));
  }
  return nest;
}

std::optional<Contraction::Axis> merged(const std::vector<Contraction::Axis>& axes) {
  Contraction::Axis whole{1, 0, 0, 0};
  for (std::size_t at = axes.size(); at-- > 0;) {
    const Contraction::Axis& axis = axes[at];
    if (at + 1 == axes.size()) {
      whole = axis;
      continue;
    }
    const auto follows = [&](const index::Expr& outer, const index::Expr& inner) {
      return outer == inner * whole.extent;
    };
    if (!follows(axis.out, whole.out) || !follows(axis.left, whole.left) || !follows(axis.right, whole.right))
      return std::nullopt;
    for (std::size_t number = 0; number < axis.operands.size(); ++number)
      if (!follows(axis.operands[number], whole.operands[number])) return std::nullopt;
    whole.extent = axis.extent * whole.extent;
  }
  return whole;
}

}  // namespace twinloom::loops
