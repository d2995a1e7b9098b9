// The rules of loops.h, one statement after the other. A broken one is a Bug that carries the printed
// program and the line.
#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/loops/epilogue.h"
#include "core/loops/parts.h"
#include "core/loops/printed.h"
#include "core/loops/scope.h"
#include "core/loops/touches.h"

namespace twinloom::loops {

namespace {

class Verifier {
 public:
  Verifier(const Program& program, Stage stage) : program_(program), stage_(stage), scope_(program) {
    for_each_stmt(*program.body, [&](const Stmt& stmt) { note_extent(stmt); });
  }

  void run() {
    check_body(*program_.body);
    at_ = 0;
    if (stage_ == Stage::program) return;
    if (has_parts(program_))
      parts_of(program_);
    else
      take_apart(program_);
  }

  // Which statement was looked at last, counted as Printed::lines counts; 0 is none.
  std::size_t at() const { return at_; }

 private:
  void note_extent(const Stmt& stmt) {
    if (const auto* loop = std::get_if<Loop>(&stmt.node)) extents_.emplace(loop->axis, loop->extent);
  }

  void only_in(Stage stage, std::string_view what) const {
    CHECK(stage_ == stage, what, stage == Stage::nest ? " in a program" : " in a nest");
  }

  void check_body(const Stmt& body) {
    scope_.open();
    check(body);
    scope_.close();
  }

  void check(const Stmt& stmt) {
    if (const auto* block = std::get_if<Block>(&stmt.node)) {
      for (const Ref<Stmt>& inner : block->stmts) check(*inner);
      return;
    }
    at_ = ++seen_;
    match(
        stmt, [](const Block&) {}, [&](const Loop& loop) { check(loop); },
        [&](const Let& let) { check(stmt, let); }, [&](const Index& node) { check(node); },
        [&](const Store& store) { check(store); }, [&](const Start& start) { check(stmt, start); },
        [&](const Accumulate& node) { check(node); }, [&](const Scan& scan) { check(stmt, scan); },
        [&](const Merge& merge) { check(merge); }, [&](const Combine& combine) { check(combine); },
        [&](const Push& push) { check(push); }, [&](const Fold& fold) { check(stmt, fold); },
        [&](const Prefix& prefix) { check(stmt, prefix); }, [&](const Scratch& node) { check(node); },
        [&](const Prefetch& node) { check(node); }, [&](const Sync&) { check_sync(); },
        [&](const LastBlock& last) { check(last); }, [&](const Call& call) { check(stmt, call); });
  }

  void check(const Loop& loop) {
    check_bind(loop);
    scope_.check(loop.extent);
    CHECK(extents_.at(loop.axis) == loop.extent, "two loops over ", loop.axis, " have the extents ",
          extents_.at(loop.axis), " and ", loop.extent);
    scope_.enter(loop, static_cast<int>(seen_));
    check(*loop.body);
    scope_.leave();
  }

  void check_bind(const Loop& loop) const {
    if (loop.bind == Bind::serial) return;
    only_in(Stage::program, cat("the ", name(loop.bind), " loop ", loop.axis));
    const auto extent = index::constant_of(loop.extent);
    const bool counted = loop.bind != Bind::block;
    CHECK(!counted || extent, "the ", name(loop.bind), " loop ", loop.axis, " has the extent ", loop.extent,
          ", which is not constant");
    CHECK(loop.bind != Bind::vector || is_power_of_two(*extent), "the vector loop ", loop.axis,
          " has the extent ", loop.extent, ", which is no power of two");
    const bool outermost =
        std::ranges::all_of(scope_.levels(), [](const Level& level) { return level.bind == Bind::block; });
    CHECK(loop.bind != Bind::block || outermost, "the block loop ", loop.axis,
          " stands in a loop that is not a block loop");
  }

  void check(const Stmt& stmt, const Let& let) {
    const ops::DType dtype = scope_.check(*let.value);
    CHECK(ops::compute_type(dtype) == dtype, "t", let.temp.index, " would be ", ops::name(dtype),
          ": such a value may only be converted or stored");
    scope_.define(stmt, let.temp, {});
  }

  void check(const Index& node) {
    const ops::DType dtype = scope_.check(*node.value);
    CHECK(ops::is_integer(dtype), "the index ", node.symbol, " is ", ops::name(dtype), ", not an integer");
    scope_.check(node.bound);
    scope_.check(node.mask);
    CHECK(indices_.insert(node.symbol).second && !extents_.contains(node.symbol), "the symbol ", node.symbol,
          " is bound twice");
    scope_.define_symbol(node.symbol);
  }

  void check(const Store& store) {
    const BufferInfo& info = scope_.buffer(store.buffer);
    CHECK(info.local || info.written, "a store to ", info.name, ", which is not written");
    scope_.check(store.offset);
    scope_.check(store.mask);
    const ops::DType dtype = scope_.check(*store.value);
    CHECK(dtype == info.dtype, "a store of ", ops::name(dtype), " to ", info.name, ", which has ",
          ops::name(info.dtype));
    const bool adds_real =
        store.update == Update::atomic_add && (dtype == ops::DType::f32 || dtype == ops::DType::f64);
    CHECK(store.update == Update::replace || ops::is_integer(dtype) || adds_real, "an atomic store of ",
          ops::name(dtype));
  }

  void check(const Stmt& stmt, const Start& start) {
    CHECK(ops::accepts(start.monoid, start.element) && ops::compute_type(start.element) == start.element,
          ops::name(start.monoid), " has no totals of ", ops::name(start.element));
    if (start.depth > 0) only_in(Stage::program, cat("a depth of t", start.total.index));
    CHECK(start.depth >= 0, "t", start.total.index, " has the depth ", start.depth);
    std::set<Axis> once;
    for (const Axis& axis : start.copies) {
      CHECK(extents_.contains(axis), "t", start.total.index, " has copies along ", axis,
            ", which no loop walks");
      CHECK(!scope_.has(axis), "t", start.total.index, " has copies along ", axis, ", which it stands in");
      CHECK(once.insert(axis).second, "t", start.total.index, " has copies along ", axis, " twice");
      scope_.check(extents_.at(axis));
    }
    const TempKind kind = start.depth > 0 ? TempKind::stack : TempKind::total;
    scope_.define(stmt, start.total, {.kind = kind, .copies = start.copies});
  }

  // A total of a nest is filled by one statement, and read nowhere in the loops that fill it.
  void fill(Temp total, const std::vector<Ref<Value>>& values, const index::Expr& place) {
    TempFacts& facts = scope_.facts(total, TempKind::total);
    CHECK(!facts.filled_in, "t", total.index, " is filled by two statements");
    scope_.check_one_copy(total, facts);
    scope_.check_parts(total, values);
    scope_.check(place);
    const int way = scope_.way_from(facts);
    CHECK(way == -1 || !facts.read_in.contains(way), "t", total.index,
          " is read inside the loop that accumulates it");
    facts.filled_in = way;
  }

  void check(const Accumulate& node) {
    only_in(Stage::nest, "an accumulate");
    fill(node.total, node.values, node.place);
  }

  void check(const Stmt& stmt, const Scan& scan) {
    only_in(Stage::nest, "a scan");
    fill(scan.total, scan.values, scan.place);
    scope_.define(stmt, scan.result, {});
  }

  void check(const Merge& merge) {
    only_in(Stage::program, "a merge");
    scope_.check_own_copy(merge.total, TempKind::total);
    if (merge.product)
      scope_.check_factors(merge.total, merge.values);
    else
      scope_.check_parts(merge.total, merge.values);
    scope_.check(merge.mask);
  }

  // Takes the copies of a total along an axis away. Each loop between its Start and here is one of the
  // remaining copies: another loop would come here again and find them gone.
  void take_copies(Temp total, const Axis& across, std::string_view what) {
    only_in(Stage::program, what);
    TempFacts& facts = scope_.facts(total, TempKind::total);
    CHECK(std::erase(facts.copies, across) == 1, "t", total.index, " has no copies along ", across, " for ",
          what);
    CHECK(!scope_.has(across), what, " across ", across, " stands in that loop");
    for (std::size_t i = facts.levels.size(); i < scope_.levels().size(); ++i) {
      const Axis& axis = scope_.levels()[i].axis;
      CHECK(std::ranges::count(facts.copies, axis) == 1, what, " of t", total.index, " stands in the loop ",
            axis, ", which its start does not");
    }
  }

  void check(const Combine& combine) {
    take_copies(combine.total, combine.across, "a combine");
    const index::Expr& extent = extents_.at(combine.across);
    const auto members = index::constant_of(extent);
    CHECK(members && is_power_of_two(*members), "a combine across ", combine.across, ", whose extent ",
          extent, " is not a constant power of two");
  }

  void check(const Push& push) {
    only_in(Stage::program, "a push");
    scope_.check_own_copy(push.stack, TempKind::stack);
    scope_.check_read(push.unit);
    std::vector<Ref<Value>> parts;
    for (int part = 0; part < scope_.parts(push.unit); ++part) parts.push_back(read(push.unit, part));
    scope_.check_parts(push.stack, parts);
    scope_.check(push.number);
    scope_.check(push.mask);
  }

  void check(const Stmt& stmt, const Fold& fold) {
    only_in(Stage::program, "a fold");
    scope_.check_one_copy(fold.stack, scope_.facts(fold.stack, TempKind::stack));
    scope_.check(fold.count);
    scope_.define(stmt, fold.result, {});
  }

  void check(const Stmt& stmt, const Prefix& prefix) {
    const std::vector<Axis> before = scope_.facts(prefix.total, TempKind::total).copies;
    take_copies(prefix.total, prefix.across, "a prefix");
    std::vector<Axis> copies;
    for (const Axis& axis : before) {
      if (!scope_.has(axis)) copies.push_back(axis);
    }
    scope_.define(stmt, prefix.before, {.copies = copies});
    std::erase(copies, prefix.across);
    scope_.define(stmt, prefix.all, {.copies = copies});
  }

  void check(const Scratch& scratch) {
    CHECK(scratch.buffer.index < program_.buffers.size(), "there is no buffer ", scratch.buffer.index);
    CHECK(scratch.place == Place::memory || index::constant_of(scratch.count), "an array in ",
          name(scratch.place), " has the count ", scratch.count, ", which is not constant");
    scope_.check(scratch.count);
    scope_.declare(scratch);
    check_body(*scratch.body);
    scope_.undeclare(scratch.buffer);
  }

  void check_sync() const {
    only_in(Stage::program, "a sync");
    CHECK(!scope_.inside(Bind::vector), "a sync stands in a vector loop");
    if (!scope_.inside(Bind::thread)) return;
    const ThreadWidths widths(program_);
    std::int64_t around = widths.threads();
    for (const Level& level : scope_.levels()) {
      if (level.bind != Bind::thread) continue;
      const std::int64_t width = widths.width(level.axis);
      const std::int64_t members = *index::constant_of(extents_.at(level.axis)) * width;
      CHECK(members == around, "a sync stands in the thread loop ", level.axis, ", which only ", members,
            " of ", around, " threads walk");
      around = width;
    }
  }

  void check(const Prefetch& prefetch) {
    only_in(Stage::program, "a prefetch");
    const BufferInfo& info = scope_.buffer(prefetch.buffer);
    CHECK(!prefetch.written || info.written, "a prefetch for stores to ", info.name,
          ", which is not written");
    scope_.check(prefetch.offset);
    scope_.check(prefetch.count);
    const bool inside = scope_.inside(Bind::thread) || scope_.inside(Bind::vector);
    CHECK(prefetch.count == index::Expr(1) || !inside, "a prefetch of ", prefetch.count,
          " elements stands in a thread loop");
    scope_.check(prefetch.mask);
  }

  void check(const LastBlock& last) {
    only_in(Stage::program, "a last_block");
    const BufferInfo& counter = scope_.buffer(last.counter);
    CHECK(ops::is_integer(counter.dtype) && counter.written, "the counter ", counter.name,
          " of a last_block is not written integers");
    scope_.check(last.offset);
    CHECK(!scope_.inside(Bind::thread) && !scope_.inside(Bind::vector),
          "a last_block stands in a thread loop");
    for (const Axis& axis : last.among) {
      const bool known = std::ranges::any_of(scope_.levels(), [&](const Level& level) {
        return level.axis == axis && level.bind == Bind::block;
      });
      CHECK(known, "a last_block among ", axis, ", which is no block loop around it");
    }
    // Which member arrives last is open, so the body does not know which it is.
    scope_.hide(last.among);
    check_body(*last.body);
    scope_.reveal(last.among);
  }

  void check(const Stmt& stmt, const Call& call) {
    const Ref<Stmt> whole = block({program_.body});
    CHECK(std::holds_alternative<Call>(whole->node), "a call is not the whole body");
    switch (call.routine) {
      case Routine::stable_sort:
        return check_sort(stmt, call);
      case Routine::sums_by_key:
        return check_sums(call);
    }
  }

  void check_sort(const Stmt& stmt, const Call& call) {
    const bool sizes = call.sizes.size() == 2 || call.sizes.size() == 3;
    const bool operands = call.operands.size() == 1 || call.operands.size() == 2;
    const bool slots = call.slots.size() == 1 || (call.slots.size() == 2 && !has_starts(call));
    CHECK(sizes && operands && slots, name(call.routine),
          " takes 2 or 3 sizes, 1 or 2 operands and 1 slot, or 2 with 1 operand");
    for (const index::Expr& size : call.sizes) scope_.check(size);
    for (const Buffer operand : call.operands) check_operand(call, operand, ops::DType::i64);
    check(call.slots.front(), 1, ops::DType::i64);
    if (const Slot* epilogue = epilogue_of(call)) check_epilogue(stmt, *epilogue);
  }

  void check_epilogue(const Stmt& call, const Slot& slot) {
    CHECK(slot.at.size() == 2, "an epilogue runs for ", slot.at.size(), " axes instead of 2");
    scope_.open();
    for (const Axis& axis : slot.at) scope_.define_symbol(axis);
    scope_.define(call, slot.element, {});
    check(*slot.body);
    scope_.close();
  }

  void check_sums(const Call& call) {
    CHECK(call.sizes.size() == 3 && call.operands.size() == 3 && call.slots.size() == 2, name(call.routine),
          " takes 3 sizes, 3 operands and 2 slots");
    for (const index::Expr& size : call.sizes) scope_.check(size);
    const ops::DType dtype = scope_.buffer(call.operands[0]).dtype;
    CHECK(dtype == ops::DType::f32 || dtype == ops::DType::f64, "sums of ", ops::name(dtype), " by key");
    check_operand(call, call.operands[0], dtype);
    check_operand(call, call.operands[1], dtype);
    check_operand(call, call.operands[2], ops::DType::i64);
    check(call.slots[0], 2, ops::DType::i64);
    check(call.slots[1], 2, dtype);
  }

  void check_operand(const Call& call, Buffer operand, ops::DType dtype) {
    const BufferInfo& info = scope_.buffer(operand);
    CHECK(info.dtype == dtype && info.written, "the operand ", info.name, " of ", name(call.routine),
          " is not written ", ops::name(dtype));
  }

  void check(const Slot& slot, std::size_t axes, ops::DType dtype) {
    CHECK(slot.at.size() == axes, "a slot runs for ", slot.at.size(), " axes instead of ", axes);
    scope_.open();
    for (const Axis& axis : slot.at) scope_.define_symbol(axis);
    check(*slot.body);
    scope_.facts(slot.element, TempKind::value);
    CHECK(scope_.type(slot.element, 0) == dtype, "the element t", slot.element.index, " of a slot is not ",
          ops::name(dtype));
    scope_.close();
  }

  const Program& program_;
  Stage stage_;
  Scope scope_;
  std::map<Axis, index::Expr> extents_;  // of every axis that a loop walks
  std::set<index::Symbol> indices_;
  std::size_t at_ = 0, seen_ = 0;
};

void check_head(const Program& program, Stage stage) {
  std::set<std::string> names;
  std::set<index::Symbol> sizes;
  for (const SizeInfo& size : program.sizes) sizes.insert(size.symbol);
  CHECK(!program.outermost_fastest || stage == Stage::program, "a nest that numbers threads");
  bool locals = false;
  for (const BufferInfo& info : program.buffers) {
    CHECK(names.insert(info.name).second, "two buffers are named ", info.name);
    CHECK(info.local || !locals, "the argument ", info.name, " comes after local buffers");
    CHECK(ops::bits_of(info.dtype) % 8 == 0, "the buffer ", info.name, " has elements below one byte");
    CHECK(!info.streamed || stage == Stage::program, "the streamed buffer ", info.name, " in a nest");
    CHECK(!info.streamed || info.written, "the streamed buffer ", info.name, " is not written");
    locals = locals || info.local;
    for (const index::Symbol& symbol : index::symbols_of(info.count))
      CHECK(info.local || sizes.contains(symbol), "the count of ", info.name, " mentions ", symbol,
            ", which is no size");
  }
}

[[noreturn]] void fail(const Program& program, std::size_t at, const Bug& bug) {
  const Printed printed = print_with_lines(program);
  const int line = at == 0 ? 1 : printed.lines.at(at - 1);
  throw Bug(cat(bug.what(), "\nline ", line, " of the program\n", printed.text));
}

}  // namespace

void verify(const Program& program, Stage stage) {
  std::size_t at = 0;
  try {
    check_head(program, stage);
    CHECK(!program.library || contraction_call_of(program), "a library is to compute what is no contraction");
    Verifier verifier(program, program.library ? Stage::nest : stage);
    try {
      verifier.run();
    } catch (const Bug&) {
      at = verifier.at();
      throw;
    }
  } catch (const Bug& bug) {
    fail(program, at, bug);
  }
}

}  // namespace twinloom::loops
