// See reduction_order.h.
#include "core/steps/reduction_order.h"

#include <algorithm>

#include "core/base/integers.h"
#include "core/index/simplify.h"
#include "core/loops/canonical.h"

namespace twinloom::steps {

namespace {

using loops::Bind;

struct Digit {
  std::size_t at = 0;  // of the path
  loops::Loop loop;
  std::int64_t stride = 0;
  std::optional<std::int64_t> extent, most;
  bool is_chain() const { return stride >= loops::LANES && stride < loops::UNIT; }
  bool is_lane() const { return stride < loops::LANES; }
  bool is_unit() const { return stride >= loops::UNIT; }
  bool is_in_order() const { return loop.bind == Bind::serial || loop.bind == Bind::unroll; }
  // Digits close by rising ranks: the chain, lanes, units.
  std::int64_t rank() const { return is_chain() ? 0 : is_lane() ? loops::LANES - stride : stride; }
};

class Order {
 public:
  Order(const Lowering& lowering, const loops::Start& start, const Accumulated& found)
      : kernel_(lowering.kernel),
        simplify_(lowering.simplify),
        wants_proofs_(lowering.proofs == Proofs::wanted),
        name_(cat("t", start.total.index)),
        mask_(found.step.mask) {
    part_.path = found.loops;
    // As it stands, the place tells threads of one iteration too.
    part_.first = found.step.place;
    if (!is_linear()) part_.first = simplify_(part_.first);
    for (std::size_t at = 0; at < found.loops.size(); ++at)
      if (!is_copied(start, found.loops[at].axis)) add_digit(at);
    part_.first = simplify_(part_.first);
  }

  std::variant<Part, std::string> run(const index::Expr& first, bool is_only_part) {
    if (wants_proofs_) check_radix(first);
    if (wants_proofs_) check_binds();
    if (reason_.empty()) find_end();
    if (reason_.empty() && wants_proofs_) check_single_iterations();
    if (!reason_.empty()) return reason_;
    drop_single_iterations(is_only_part);
    make_levels();
    if (!is_only_part || !kernel_.facts.proves_less(part_.first, part_.end)) add_stack_of_one();
    // Loops over copies of the nest may stand around all that are summed up over.
    if (!part_.levels.front().is_stack) part_.levels.front().at = 0;
    for (const Level& level : part_.levels)
      if (level.is_stack && !is_power_of_two(level.run / loops::UNIT)) refuse_runs(level.run);
    if (!reason_.empty()) return reason_;
    return std::move(part_);
  }

 private:
  void refuse(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
  }
  void refuse_runs(std::int64_t run) {
    refuse(cat("runs of ", run / loops::UNIT, " units are no nodes of the tree of ", name_));
  }

  bool is_linear() const {
    return std::ranges::all_of(part_.path, [&](const loops::Loop& loop) {
      const auto linear = index::linear_in(part_.first, loop.axis);
      return linear && index::constant_of(linear->scale);
    });
  }

  std::optional<std::int64_t> most_iterations(const loops::Loop& loop) const {
    const auto by_extent = most(kernel_, loop.extent);
    const auto last = kernel_.facts.range(loop.axis).high;
    return last && *last + 1 < by_extent.value_or(*last + 2) ? *last + 1 : by_extent;
  }

  // What is left of the place without the loops so far is kept as its first one.
  void add_digit(std::size_t at) {
    const loops::Loop& loop = part_.path[at];
    const auto linear = index::linear_in(part_.first, loop.axis);
    const std::int64_t stride = linear ? index::constant_of(linear->scale).value_or(-1) : -1;
    const std::optional<std::int64_t> most_of = wants_proofs_ ? most_iterations(loop) : std::nullopt;
    if (stride < 0 || (stride == 0 && wants_proofs_ && most_of.value_or(2) > 1))
      return refuse(
          cat("the place ", part_.first, " of ", name_, " has no constant stride along ", loop.axis));
    part_.first = linear->rest;
    const index::Expr extent = simplify_(loop.extent);
    const Digit digit{at, loop, stride, index::constant_of(extent), most_of};
    if (stride != 0) return digits_.push_back(digit);
    if (digit.extent == 1) return;
    part_.has_elements |= digits_.empty();
    once_ = once_ * extent;
    if (!digit.is_in_order())
      refuse(cat("the place of ", name_, " does not tell the iterations of ", loop.axis));
  }

  // Each stride is what the digits below come to, and no digit crosses the chain or a unit.
  void check_radix(const index::Expr& first) {
    if (!reason_.empty()) return;
    if (!kernel_.facts.proves_equal(part_.first, first))
      return refuse(cat("a part of ", name_, " begins at ", part_.first, ", expected ", first));
    part_.first = first;
    std::vector<Digit> digits = digits_;
    std::ranges::stable_sort(digits, [](const Digit& a, const Digit& b) {
      return a.stride != b.stride ? a.stride < b.stride : a.extent == 1 && b.extent != 1;
    });
    std::int64_t below = 1;
    for (const Digit& digit : digits) {
      if (digit.extent == 1) continue;
      check_digit(digit, below);
      below = digit.extent ? digit.stride * *digit.extent : 0;
    }
  }

  // `below`: how many places the loops below have; 0: a number that is not constant.
  void check_digit(const Digit& digit, std::int64_t below) {
    const std::string words = cat("the loop over ", digit.loop.axis, " ");
    if (below == 0)
      refuse(words + cat("stands in the place of ", name_, " above one without a constant extent"));
    if (digit.stride != below)
      refuse(words + cat("has the stride ", digit.stride, " in the place of ", name_,
                         ", where the loops below it have ", below, " iterations"));
    for (const std::int64_t border : {loops::LANES, loops::UNIT})
      if (digit.stride < border && digit.most.value_or(border) > border / digit.stride)
        refuse(words + cat("crosses places ", border, " apart, where the ",
                           border == loops::UNIT ? "units of " : "lanes of ", name_, " end"));
  }

  void check_binds() {
    std::int64_t chain = 0;
    for (const Digit& digit : digits_) {
      const std::string words = cat("the loop over ", digit.loop.axis, " ");
      if (digit.loop.bind == Bind::block)
        refuse(words + cat("is a block loop, and blocks do not share ", name_));
      if (!digit.is_chain()) continue;
      if (!digit.is_in_order())
        refuse(words +
               cat("walks the chain of a lane of ", name_, ", whose elements come one after the other"));
      if (chain != 0 && digit.stride > chain)
        refuse(words + cat("walks the chain of a lane of ", name_, " inside a loop of smaller strides"));
      chain = digit.stride;
    }
  }

  bool varies(const index::Less& less) const {
    return std::ranges::any_of(digits_, [&](const Digit& digit) {
      return index::mentions(less.a, digit.loop.axis) || index::mentions(less.b, digit.loop.axis);
    });
  }

  // Of a mask a < b over the loops of at least c places, where one of c has the scale s in it: c/s*a < c/s*b
  // as c/s*a and what the loops below add to it is.
  index::Expr end_of(const index::Less& less) const {
    const index::Expr beyond = less.a - less.b;
    const Digit* least = nullptr;
    for (const Digit& digit : digits_)
      if (digit.extent != 1 && index::mentions(beyond, digit.loop.axis) &&
          (least == nullptr || digit.stride < least->stride))
        least = &digit;
    if (least == nullptr) return part_.first - beyond;
    index::Expr place = part_.first;
    for (const Digit& digit : digits_)
      if (digit.stride >= least->stride) place = place + index::Expr(digit.loop.axis) * digit.stride;
    const auto linear = index::linear_in(beyond, least->loop.axis);
    const std::int64_t scale = linear ? index::constant_of(linear->scale).value_or(1) : 1;
    return place - beyond * (scale > 0 && least->stride % scale == 0 ? least->stride / scale : least->stride);
  }

  // The places are those below one end, which the loops come to or masks say.
  void find_end() {
    whole_ = 1;
    for (const Digit& digit : digits_) whole_ = whole_ + (digit.loop.extent - 1) * digit.stride;
    for (const index::Less& less : mask_.all) {
      if (!varies(less)) continue;
      const index::Expr end = simplify_(end_of(less));
      if (varies({end, 0}))
        return refuse(
            cat("the mask ", print(index::Condition{{less}}), " of ", name_, " is no end of its places"));
      part_.end = part_.masked ? least(part_.end, end) : end;
      part_.masked = true;
    }
    if (!part_.masked) part_.end = simplify_(part_.first + whole_);
  }

  // A loop of at most one iteration has one where there is an element.
  void check_single_iterations() {
    if (once_ != index::Expr(1) &&
        !kernel_.facts.proves_equal(once_, ceil_div(part_.end - part_.first, whole_)))
      refuse(cat("elements of ", name_, " stand in a loop of ", once_, " iterations"));
  }

  // Nothing is summed up over a loop of one iteration, but for units that are pushed.
  void drop_single_iterations(bool is_only_part) {
    const auto is_single = [](const Digit& digit) { return digit.extent == 1 && digit.is_in_order(); };
    const bool pushes = !is_only_part || std::ranges::any_of(digits_, [&](const Digit& digit) {
      return digit.is_unit() && !is_single(digit);
    });
    std::erase_if(digits_,
                  [&](const Digit& digit) { return is_single(digit) && !(pushes && digit.is_unit()); });
  }

  // Whether all loops from this digit inwards close before all loops around.
  bool may_close_before(std::size_t number) const {
    std::int64_t inside = -1;
    for (std::size_t n = number; n < digits_.size(); ++n) inside = std::max(inside, digits_[n].rank());
    for (std::size_t n = 0; n < number; ++n)
      if (digits_[n].rank() <= inside) return false;
    return true;
  }

  void make_levels() {
    index::Expr place = part_.first;
    for (std::size_t number = 0; number < digits_.size();) {
      std::vector<Digit> together = {digits_[number++]};
      while (number < digits_.size() && !may_close_before(number)) together.push_back(digits_[number++]);
      add_level(together, place);
    }
    if (part_.levels.empty() || part_.levels.back().is_stack)
      part_.levels.push_back({.at = part_.path.size(), .outside = place, .inside = place});
  }

  void add_level(const std::vector<Digit>& digits, index::Expr& place) {
    const Digit& first = digits.front();
    Level level{.at = first.at, .outside = place};
    level.is_stack = digits.size() == 1 && first.is_unit() && first.is_in_order();
    level.run = digits.back().stride;
    if (part_.levels.empty()) level.runs = once_;
    for (const Digit& digit : digits) {
      place = place + index::Expr(digit.loop.axis) * digit.stride;
      level.runs = level.runs * digit.loop.extent;
    }
    level.inside = place;
    const bool merges_two = digits.size() == 1 && first.is_lane() && first.is_in_order() && first.extent == 2;
    if (!level.is_stack && !merges_two) copy(digits, level);
    if (!level.is_stack || part_.levels.empty() || !part_.levels.back().is_stack) {
      part_.levels.push_back(std::move(level));
      return;
    }
    // Loops over units one after the other share one counter.
    Level& shared = part_.levels.back();
    shared.inside = level.inside;
    shared.runs = shared.runs * level.runs;
    shared.run = level.run;
  }

  void copy(std::vector<Digit> digits, Level& level) {
    std::erase_if(digits, [](const Digit& digit) { return digit.is_chain(); });
    std::ranges::stable_sort(digits, {}, &Digit::rank);
    std::int64_t copies = 1;
    for (const Digit& digit : digits) {
      if (!is_power_of_two(digit.extent.value_or(0)))
        return refuse(cat("copies along ", digit.loop.axis, ", whose extent ", digit.loop.extent,
                          " is no power of two"));
      if (digit.is_unit() && !is_power_of_two(digit.stride / loops::UNIT)) refuse_runs(digit.stride);
      constexpr std::int64_t MOST_COPIES = 4096;
      copies *= *digit.extent;
      if (copies > MOST_COPIES) return refuse(cat(name_, " would have more than ", MOST_COPIES, " copies"));
      level.closings.push_back(
          {digit.loop.axis, digit.is_unit() ? loops::Pairing::neighbours : loops::Pairing::halves});
    }
  }

  // Around a part whose outermost level is not pushed.
  void add_stack_of_one() {
    if (part_.levels.front().is_stack) return;
    std::int64_t run = loops::UNIT;
    for (const Digit& digit : digits_) run = std::max(run, digit.stride * digit.extent.value_or(1));
    part_.levels.insert(part_.levels.begin(), {.at = 0,
                                               .is_stack = true,
                                               .is_whole_part = true,
                                               .outside = part_.first,
                                               .inside = part_.first,
                                               .run = run,
                                               .runs = once_});
  }

  const Kernel& kernel_;
  const index::Simplifier& simplify_;
  bool wants_proofs_;
  std::string name_;
  const index::Condition& mask_;
  Part part_;
  std::vector<Digit> digits_;  // outermost first
  index::Expr once_ = 1;       // iterations of loops that the place does not depend on: 0 or 1
  index::Expr whole_;          // places that the loops walk
  std::string reason_;
};

}  // namespace

std::variant<Part, std::string> reduction_order(const Lowering& lowering, const loops::Start& start,
                                                const Accumulated& found, const index::Expr& first,
                                                bool is_only_part) {
  return Order(lowering, start, found).run(first, is_only_part);
}

}  // namespace twinloom::steps
