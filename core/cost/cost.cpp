// Walks the loops of a program once. A loop whose counter no extent inside mentions is kept as a side of a
// box, and members are counted where a statement stands; the others are walked turn by turn.
#include "core/cost/cost.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/cost/count.h"
#include "core/loops/rewrite.h"
#include "core/ops/cost.h"

namespace twinloom::cost {

namespace {

class Counter {
 public:
  Counter(const loops::Program& program, index::Values sizes)
      : program_(program), values_(std::move(sizes)) {}

  Work count() {
    walk(*program_.body);
    return work_;
  }

 private:
  void walk(const loops::Stmt& stmt) {
    if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) return walk_loop(*loop);
    if (const auto* block = std::get_if<loops::Block>(&stmt.node)) {
      // Equal loads of one body are one load.
      seen_.emplace_back();
      for (const auto& inner : block->stmts) walk(*inner);
      seen_.pop_back();
      return;
    }
    if (const auto* scratch = std::get_if<loops::Scratch>(&stmt.node)) return walk(*scratch->body);
    if (const auto* last = std::get_if<loops::LastBlock>(&stmt.node)) return walk(*last->body);
    if (const auto* call = std::get_if<loops::Call>(&stmt.node)) return add_call(*call);
    add(stmt);
  }

  void walk_loop(const loops::Loop& loop) {
    const std::int64_t extent = extent_of(loop.extent);
    if (extent <= 0) return;
    facts_.assume(loop.axis, {0, extent - 1});
    if (!shapes_loops(*loop.body, loop.axis)) {
      box_.push_back({loop.axis, extent});
      binds_.push_back(loop.bind);
      enter(*loop.body);
      box_.pop_back();
      binds_.pop_back();
      return;
    }
    // What is outside may not be skipped by a load any more, but its turns count.
    for (std::int64_t k = 0; k < extent; ++k) {
      values_.insert_or_assign(loop.axis, k);
      enter(*loop.body);
    }
    values_.erase(loop.axis);
  }
  // Where run-time values decide, the largest extent is shared evenly by the turns in which they are found,
  // as the segments of a list share its elements.
  std::int64_t extent_of(const index::Expr& extent) const {
    std::int64_t sharers = 0;
    for (const index::Symbol& symbol : index::symbols_of(extent)) {
      if (const auto found = found_.find(symbol); found != found_.end())
        sharers = std::max({sharers, found->second, std::int64_t{1}});
    }
    if (sharers == 0) return index::evaluate(extent, values_);
    index::Substitution known;
    for (const auto& [symbol, value] : values_) known.insert_or_assign(symbol, value);
    const auto most = facts_.range(index::substitute(extent, known)).high;
    CHECK(most.has_value(), "an extent without a bound: ", extent);
    return ceil_div(*most, sharers);
  }
  void find(const loops::Index& index) {
    facts_.assume(index.symbol, {0, std::max<std::int64_t>(index::evaluate(index.bound, values_) - 1, 0)});
    found_[index.symbol] = count_members(box_, {}, values_);
  }
  void enter(const loops::Stmt& body) {
    seen_.emplace_back();
    walk(body);
    seen_.pop_back();
  }

  static bool shapes_loops(const loops::Stmt& body, const loops::Axis& axis) {
    bool found = false;
    loops::for_each_stmt(body, [&](const loops::Stmt& stmt) {
      if (const auto* loop = std::get_if<loops::Loop>(&stmt.node))
        found |= index::mentions(loop->extent, axis);
    });
    return found;
  }

  // The condition without what is known only at run time.
  index::Condition known(const index::Condition& condition) const {
    index::Condition result;
    for (const index::Less& less : condition.all)
      if (are_known(index::symbols_of(index::Condition{{less}}))) result.all.push_back(less);
    return result;
  }

  void add(const loops::Stmt& stmt) {
    if (const auto* index = std::get_if<loops::Index>(&stmt.node)) find(*index);
    const std::int64_t turns = count_members(box_, {}, values_);
    loops::for_each_value(stmt, [&](const loops::Value& value) {
      if (const auto* apply = std::get_if<loops::Apply>(&value.node))
        work_.operations += turns * ops::cost(apply->op);
      if (std::holds_alternative<loops::Load>(value.node)) add_load(value);
    });
    if (const auto* store = std::get_if<loops::Store>(&stmt.node)) {
      work_.stored += bytes_of(store->buffer) * count_members(box_, known(store->mask), values_);
    }
    const bool combines = std::holds_alternative<loops::Merge>(stmt.node) ||
                          std::holds_alternative<loops::Accumulate>(stmt.node) ||
                          std::holds_alternative<loops::Scan>(stmt.node) ||
                          std::holds_alternative<loops::Push>(stmt.node);
    if (combines) work_.operations += turns;
  }

  void add_load(const loops::Value& value) {
    const auto& load = std::get<loops::Load>(value.node);
    for (const auto& earlier : seen_) {
      if (std::ranges::any_of(earlier, [&](const loops::Value& one) { return loops::equal(one, value); }))
        return;
    }
    seen_.back().push_back(value);
    std::set<index::Symbol> used = index::symbols_of(load.offset);
    used.merge(index::symbols_of(load.mask));
    const std::vector<Side> box = are_known(used) ? turns_of(used) : box_;
    work_.loaded += bytes_of(load.buffer) * count_members(box, known(load.mask), values_);
  }
  // The loops that execute a load which mentions these symbols. Loops that it does not mention are walked
  // with what it loaded at hand, as far out as the first that it does; vector and unrolled loops are no loops
  // of the code, and the members of a vector walk what is inside it together.
  std::vector<Side> turns_of(const std::set<index::Symbol>& used) const {
    std::vector<Side> box;
    bool outside = false;  // of a loop that the load mentions
    for (std::size_t at = box_.size(); at-- > 0;) {
      const bool mentioned = used.contains(box_[at].axis);
      const bool vector = binds_[at] == loops::Bind::vector;
      if (mentioned || (outside && !vector)) box.insert(box.begin(), box_[at]);
      outside = outside || (mentioned && !vector && binds_[at] != loops::Bind::unroll);
    }
    return box;
  }
  // Sizes and loops: an index found at run time may change in every iteration.
  bool are_known(const std::set<index::Symbol>& used) const {
    return std::ranges::all_of(used, [&](const index::Symbol& symbol) {
      return values_.contains(symbol) || std::ranges::find(box_, symbol, &Side::axis) != box_.end();
    });
  }

  void add_call(const loops::Call& call) {
    for (const loops::Buffer& buffer : loops::made_by(call)) {
      const std::int64_t bytes =
          bytes_of(buffer) * index::evaluate(program_.buffers[buffer.index].count, values_);
      work_.loaded += bytes;
      work_.stored += bytes;
    }
    for (const loops::Slot& slot : call.slots) {
      const std::vector<index::Expr> extents = loops::slot_extents(call, slot);
      loops::Ref<loops::Stmt> body = slot.body;
      for (std::size_t k = extents.size(); k-- > 0;)
        body = loops::stmt(loops::Loop{slot.at[k], extents[k], loops::Bind::serial, std::move(body)});
      walk(*body);
    }
  }

  std::int64_t bytes_of(loops::Buffer buffer) const {
    const loops::BufferInfo& info = program_.buffers[buffer.index];
    return info.local ? 0 : ops::size_of(info.dtype);
  }

  const loops::Program& program_;
  index::Values values_;
  std::vector<Side> box_;
  std::vector<loops::Bind> binds_;               // theirs
  index::Facts facts_;                           // of the loops and run-time values so far
  std::map<index::Symbol, std::int64_t> found_;  // run-time values, and in how many turns they are found
  std::vector<std::vector<loops::Value>> seen_ = {{}};  // loads of the bodies around, innermost last
  Work work_;
};

}  // namespace

Work work_of(const loops::Program& program, const index::Values& sizes) {
  return Counter(program, sizes).count();
}

std::int64_t touched_bytes(const loops::Program& program, const index::Values& sizes) {
  const Work work = work_of(program, sizes);
  return work.loaded + work.stored;
}

}  // namespace twinloom::cost
