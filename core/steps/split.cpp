// One loop into several:
//   split k 256 clip   for k < n { s += x[k] }
//                  ->  for k.0 < ceil_div(n, 256) { for k.1 < least(256, n - 256*k.0) { s += x[256*k.0 + k.1]
//                  } }
// Loops that share an axis are split alike.
// With `mask` every loop but the first has all its iterations, and what stands past the end does nothing.
// With `remainder` only a second copy does, behind full iterations of the first loop:
//   split k 256 remainder  ->  for k.0 < floor_div(n, 256) { for k.1 < 256 { s += x[256*k.0 + k.1] } }
//                              for k.0t < (0 or 1) { for k.1_1 < 256 { s += x[256*floor_div(n, 256) + k.1_1]
//                              if .. } }
#include <algorithm>

#include "core/index/simplify.h"
#include "core/steps/rows.h"
#include "core/steps/tree.h"

namespace twinloom::steps {

namespace {

struct Pieces {
  std::vector<loops::Loop> loops;
  index::Expr place;  // on the axis that is split
};

Pieces pieces_of(const Split& split, const loops::Loop& loop, index::Facts& facts) {
  Pieces pieces;
  std::int64_t around = 0;  // steps of the loop before
  std::vector<std::int64_t> steps = split.factors;
  steps.push_back(1);
  for (std::size_t number = 0; number < steps.size(); ++number) {
    const std::int64_t step = steps[number];
    const index::Expr left = loop.extent - pieces.place;
    const bool full = split.tail == Tail::exact || split.tail == Tail::remainder;
    index::Expr extent = full ? floor_div(left, step) : ceil_div(left, step);
    if (around != 0)
      extent = split.tail == Tail::clip ? least(around / step, extent) : index::Expr(around / step);
    const index::Symbol axis(cat(split.loop, ".", number));
    extent = index::simplify(extent, facts);
    facts.assume_below(axis, extent);
    pieces.loops.push_back({axis, extent, loops::Bind::serial, nullptr});
    pieces.place = pieces.place + index::Expr(axis) * step;
    around = step;
  }
  return pieces;
}

// What mentions the axis, or an Index that stands in its loop, does nothing where `end` does not hold; nor
// does a store or an accumulation.
class Masked {
 public:
  Masked(const Stmt& body, const loops::Axis& axis, const index::Less& end) : end_{{end}} {
    varying_.insert(axis);
    loops::for_each_stmt(body, [&](const Stmt& stmt) {
      if (const auto* index = std::get_if<loops::Index>(&stmt.node)) varying_.insert(index->symbol);
    });
  }

  Ref<Stmt> operator()(const Ref<Stmt>& body) const {
    const Ref<Stmt> loaded = loops::rewrite_values(body, [&](const Ref<loops::Value>& value) {
      const auto* load = std::get_if<loops::Load>(&value->node);
      if (load == nullptr || !(varies(load->offset) || varies(load->mask))) return value;
      return loops::load(load->buffer, load->offset, load->mask && end_, load->otherwise);
    });
    return loops::rewrite_stmts(loaded, [&](const Ref<Stmt>& stmt) { return masked(stmt); });
  }

 private:
  template <class Mentioning>
  bool varies(const Mentioning& given) const {
    return std::ranges::any_of(index::symbols_of(given),
                               [&](const index::Symbol& symbol) { return varying_.contains(symbol); });
  }
  Ref<Stmt> masked(const Ref<Stmt>& stmt) const {
    const auto with_end = [&](auto node) {
      node.mask = node.mask && end_;
      return loops::stmt(std::move(node));
    };
    if (const auto* store = std::get_if<loops::Store>(&stmt->node)) return with_end(*store);
    if (const auto* accumulate = std::get_if<loops::Accumulate>(&stmt->node)) return with_end(*accumulate);
    if (const auto* index = std::get_if<loops::Index>(&stmt->node)) return with_end(*index);
    return stmt;
  }

  index::Condition end_;
  std::set<index::Symbol> varying_;
};

std::string why_bad_factors(const Split& split) {
  if (split.factors.empty()) return "no factors";
  std::int64_t around = 0;
  for (const std::int64_t factor : split.factors) {
    if (factor < 1) return cat("the factor ", factor, " is below 1");
    if (around != 0 && (around <= factor || around % factor != 0))
      return cat("the factor ", around, " is no multiple of ", factor, ", which follows");
    around = factor;
  }
  return "";
}

// Full iterations, and a masked one where that is not known to be left out.
Ref<Stmt> with_remainder(const Split& split, const loops::Loop& loop, const Pieces& pieces, Kernel& kernel) {
  const std::int64_t step = split.factors.front();
  const loops::Loop& first = pieces.loops.front();
  const Ref<Stmt> main = in_loops(pieces.loops, loops::substitute(loop.body, {{loop.axis, pieces.place}}));
  const index::Expr rest = index::simplify(ceil_div(loop.extent, step) - first.extent, kernel.facts);
  if (rest == index::Expr(0)) return main;
  const Ref<Stmt> masked = Masked(*loop.body, loop.axis, {loop.axis, loop.extent})(loop.body);
  const index::Expr place = index::substitute(pieces.place, {{first.axis, first.extent}});
  const Ref<Stmt> inside = in_loops({pieces.loops.begin() + 1, pieces.loops.end()},
                                    loops::substitute(masked, {{loop.axis, place}}));
  if (rest == index::Expr(1) && first.extent == index::Expr(0)) return inside;
  Ref<Stmt> tail = second_copy(kernel, inside);
  if (rest != index::Expr(1)) {
    const loops::Axis once(cat(first.axis, "t"));
    kernel.facts.assume(once, {0, 0});
    tail = loops::stmt(loops::Loop{once, rest, loops::Bind::serial, std::move(tail)});
  }
  return loops::block({main, tail});
}

bool has_scan(const Stmt& body) {
  bool found = false;
  loops::for_each_stmt(
      body, [&](const Stmt& stmt) { found = found || std::holds_alternative<loops::Scan>(stmt.node); });
  return found;
}

}  // namespace

Result apply_split(const Kernel& kernel, const Split& split) {
  if (std::string reason = why_bad_factors(split); !reason.empty()) return reason;
  const auto paths = paths_to(*kernel.program.body, split.loop);
  const bool is_one = paths.size() == 1;
  if (paths.empty() || (!is_one && split.tail == Tail::remainder))
    return cat("there is not one loop over ", split.loop);
  const loops::Loop& loop = paths.front().back();
  const bool masks = split.tail == Tail::mask || split.tail == Tail::remainder;
  for (const std::vector<loops::Loop>& path : paths) {
    if (path.back().extent != loop.extent) return cat("the loops over ", split.loop, " differ");
    if (path.back().bind != loops::Bind::serial)
      return cat("the loop over ", split.loop, " is bound already");
    if (masks && has_scan(*path.back().body)) return "a scan is not masked";
  }
  const bool divides = kernel.facts.proves_equal(floor_mod(loop.extent, split.factors.front()), 0);
  if (split.tail == Tail::exact && !divides)
    return cat("exact, but ", split.factors.front(), " is not known to divide ", loop.extent);
  Kernel result = kernel;
  const Pieces pieces = pieces_of(split, loop, result.facts);
  if (split.tail == Tail::remainder) {
    const Ref<Stmt> made = with_remainder(split, loop, pieces, result);
    result.program.body = replace_loop(kernel.program.body, loop, made);
    return result;
  }
  const bool has_end = split.tail == Tail::mask && !divides;
  result.program.body = replace_loops(kernel.program.body, loop.axis, [&](const loops::Loop& one) {
    const Ref<Stmt> body = has_end ? Masked(*one.body, one.axis, {one.axis, one.extent})(one.body) : one.body;
    return in_loops(pieces.loops, loops::substitute(body, {{one.axis, pieces.place}}));
  });
  return result;
}

}  // namespace twinloom::steps
