// See in_place.h.
#include "core/loops/in_place.h"

#include <algorithm>

#include "core/loops/rewrite.h"

namespace twinloom::loops {

namespace {

// A load of the one buffer, or a store to the other.
struct Access {
  std::vector<const Loop*> loops;  // around it, outermost first
  index::Expr offset;
  index::Condition mask;
  std::size_t statement;  // the how-manieth of the program
};

// The threads of a block that walk a statement inside these loops, each a member of its own.
std::int64_t threads_of(const std::vector<const Loop*>& loops) {
  std::int64_t threads = 1;
  for (const Loop* loop : loops)
    if (loop->bind == Bind::thread) threads *= index::constant_of(loop->extent).value_or(0);
  return threads;
}

bool implies(const index::Condition& a, const index::Condition& b) {
  return std::ranges::all_of(
      b.all, [&](const index::Less& less) { return std::ranges::find(a.all, less) != a.all.end(); });
}

class Accesses {
 public:
  Accesses(const Program& program, const InPlace& pair) : pair_(pair) { walk(*program.body); }

  bool are_in_place() const {
    return !is_refused_ && std::ranges::all_of(loads_, [&](const Access& load) {
      const auto is_followed = [&](const Access& store) { return follows(load, store); };
      const auto is_over = [&](const Access& store) { return over_before(load, store); };
      return std::ranges::any_of(stores_, is_followed) || std::ranges::all_of(stores_, is_over);
    });
  }

 private:
  // The last iteration of the one comes before the first of the other.
  bool over_before(const Access& load, const Access& store) const {
    const bool have_common = !load.loops.empty() && !store.loops.empty() && load.loops[0] == store.loops[0];
    return is_serial_ && load.statement < store.statement && !have_common;
  }

  // Where fewer threads walk a statement than a block has, the others load for nothing, whenever they like.
  bool follows(const Access& load, const Access& store) const {
    return load.loops == store.loops && load.offset == store.offset && load.statement <= store.statement &&
           implies(load.mask, store.mask) && threads_of(load.loops) == threads_;
  }

  void walk(const Stmt& stmt) {
    ++statement_;
    if (const auto* block = std::get_if<Block>(&stmt.node)) {
      for (const Ref<Stmt>& inner : block->stmts) walk(*inner);
    } else if (const auto* loop = std::get_if<Loop>(&stmt.node)) {
      loops_.push_back(loop);
      threads_ = std::max(threads_, threads_of(loops_));
      is_serial_ = is_serial_ && loop->bind != Bind::thread && loop->bind != Bind::block;
      walk(*loop->body);
      loops_.pop_back();
    } else if (const auto* scratch = std::get_if<Scratch>(&stmt.node)) {
      walk(*scratch->body);
    } else {
      leaf(stmt);
    }
  }

  // What has statements inside, but is no loop, is done by some iterations alone.
  void leaf(const Stmt& stmt) {
    if (std::holds_alternative<Call>(stmt.node) || std::holds_alternative<LastBlock>(stmt.node)) {
      is_refused_ = true;
      return;
    }
    for_each_value(stmt, [&](const Value& value) {
      const auto* load = std::get_if<Load>(&value.node);
      if (load != nullptr && load->buffer == pair_.from)
        loads_.push_back({loops_, load->offset, load->mask, statement_});
    });
    const auto* store = std::get_if<Store>(&stmt.node);
    if (store == nullptr || store->buffer != pair_.to) return;
    is_refused_ = is_refused_ || store->update != Update::replace;
    stores_.push_back({loops_, store->offset, store->mask, statement_});
  }

  InPlace pair_;
  std::vector<const Loop*> loops_;
  std::int64_t threads_ = 1;  // of a block
  bool is_serial_ = true;     // one thread of one block walks all
  std::size_t statement_ = 0;
  std::vector<Access> loads_, stores_;
  bool is_refused_ = false;
};

}  // namespace

bool is_in_place(const Program& program, const InPlace& pair) {
  const BufferInfo& from = program.buffers[pair.from.index];
  const BufferInfo& to = program.buffers[pair.to.index];
  if (from.written || !to.written || from.local || to.local || from.dtype != to.dtype) return false;
  if (program.library)
    return false;  // which stores partial sums before it has read the operands of its epilogue
  return Accesses(program, pair).are_in_place();
}

}  // namespace twinloom::loops
