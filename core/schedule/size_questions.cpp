// What tells sizes apart for which a nest is walked differently. More classes of sizes are more programs to
// compile, so only what heuristics look at is asked: how long the rows are that may be kept or walked by
// threads, how many rows or elements there are to fill the machine with, and whether neighbours may be packed
// where a row starts.
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/loops/parts.h"
#include "core/loops/rewrite.h"
#include "core/schedule/constants.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

namespace {

using Kind = loops::SizeQuestion::Kind;

class Asker {
 public:
  explicit Asker(const Situation& situation) : situation_(situation) {}

  std::vector<loops::SizeQuestion> questions() {
    const auto& siblings = situation_.siblings;
    const bool by_threads = situation_.machine.max_threads > 1;
    for (const loops::Sibling* sibling : siblings) ask_row(*sibling);
    if (!siblings.empty()) ask_rows();
    if (siblings.empty() && situation_.shape.common.size() > 1)
      for (const NestLoop& loop : situation_.shape.common) ask(Kind::extent, loop.extent, MOST_SIDE);
    if (!siblings.empty() && situation_.lockstep) {
      const index::Expr& side = situation_.shape.common[situation_.vector_axis].extent;
      ask(Kind::extent, side, MOST_SIDE);
      ask(Kind::whole, side, loops::UNIT);
    }
    if (siblings.empty() && !situation_.shape.common.empty()) ask_changes();
    if (by_threads) ask_alignment();
    return std::move(questions_);
  }

 private:
  using NestLoop = loops::NestLoop;

  std::vector<index::Symbol> sizes_in(const index::Expr& expr) const {
    std::vector<index::Symbol> found;
    for (const index::Symbol& symbol : index::symbols_of(expr))
      if (situation_.sizes.contains(symbol)) found.push_back(symbol);
    return found;
  }
  void ask(Kind kind, const index::Expr& what, std::int64_t most) {
    const std::vector<index::Symbol> sizes = sizes_in(what);
    if (sizes.size() != index::symbols_of(what).size() || sizes.empty()) return;
    if (kind == Kind::extent && sizes.size() > 1) return;
    if (kind == Kind::whole && what != index::Expr(sizes.front())) return;
    const loops::SizeQuestion question{kind, kind == Kind::extent ? index::Expr(sizes.front()) : what, most};
    if (std::ranges::find(questions_, question) == questions_.end()) questions_.push_back(question);
  }

  // A row that several siblings walk may be kept, as long as there is room for it; the threads of a block
  // scan several chunks side by side, or walk several units; of others counts whether they fill one unit.
  void ask_row(const loops::Sibling& sibling) {
    const NestLoop& loop = sibling.loops.back();
    std::int64_t most = (situation_.lockstep ? 1 : UNITS_SIDE_BY_SIDE) * loops::UNIT;
    if (reach_of(situation_.shape, sibling) == Reach::scan)
      most = situation_.parameters.scan_warps() * loops::SCAN_CHUNK;
    else if (situation_.siblings.size() > 1 && !situation_.lockstep)
      most = std::max(most, situation_.machine.scratch_bytes / least_bytes(loop.axis));
    ask(Kind::extent, loop.extent, most);
    ask(Kind::amount, loop.extent, 0);
    if (situation_.machine.max_threads > 1) ask(Kind::whole, loop.extent, loops::UNIT);
  }
  void ask_rows() {
    index::Expr rows = 1;
    for (const NestLoop& loop : situation_.shape.common) rows = rows * loop.extent;
    ask(Kind::amount, rows, 0);
  }

  // Whether conditions, as those of a concatenation, change between two vectors or inside one.
  void ask_changes() {
    const index::Symbol axis = situation_.shape.common[situation_.vector_axis].axis;
    const std::int64_t lanes = situation_.lanes_along(axis);
    const auto look = [&](const index::Less& less) {
      if (lanes < 2 || !index::mentions(less.a - less.b, axis)) return;
      for (const index::Symbol& size : sizes_in(less.a - less.b)) ask(Kind::divisor, size, lanes);
    };
    loops::for_each_value(*situation_.nest.body, [&](const loops::Value& value) {
      if (const auto* load = std::get_if<loops::Load>(&value.node))
        std::ranges::for_each(load->mask.all, look);
      if (const auto less = loops::compared_counts(value)) look(*less);
    });
  }

  int least_bytes(const index::Symbol& axis) const {
    int least = 0;
    for (const Access& access : situation_.accesses)
      if (!access.local && index::mentions(access.offset, axis))
        least = least == 0 ? access.bytes : std::min(least, access.bytes);
    return std::max(least, 1);
  }

  // Whether a wide access of neighbours starts at its multiple wherever the other axes stand.
  void ask_alignment() {
    const auto& common = situation_.shape.common;
    if (!common.empty() && situation_.lockstep) {
      const bool rows = !situation_.siblings.empty();
      ask_alignment(common[situation_.vector_axis].axis, rows ? WORD_BYTES : situation_.machine.vector_bytes);
    } else if (!walks_rows_in_threads(situation_)) {
      for (const loops::Sibling* sibling : situation_.siblings)
        ask_alignment(sibling->loops.back().axis, situation_.machine.vector_bytes);
    }
  }
  void ask_alignment(const index::Symbol& axis, std::int64_t bytes) {
    const std::int64_t lanes = bytes / least_bytes(axis);
    if (lanes < 2) return;
    for (const Access& access : situation_.accesses) {
      if (access.local || stride_along(access, axis) != 1) continue;
      const index::Expr first = index::substitute(access.offset, {{axis, index::Expr(0)}});
      if (situation_.facts.proves_equal(floor_mod(first, lanes), 0)) continue;
      for (const index::Symbol& size : sizes_in(first)) ask(Kind::divisor, size, lanes);
    }
  }

  const Situation& situation_;
  std::vector<loops::SizeQuestion> questions_;
};

}  // namespace

std::vector<loops::SizeQuestion> size_questions(const loops::Program& nest, const machine::Machine& machine) {
  if (is_call(nest) || nest.sizes.empty() || loops::has_parts(nest)) return {};
  const Forms forms(nest);
  return Asker(Situation(forms, machine, Parameters{})).questions();
}

}  // namespace twinloom::schedule
