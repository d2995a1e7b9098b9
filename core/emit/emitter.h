// The walk over a program's statements, for the inside of this room: emit.cpp has what begins and ends a
// kernel and all statements but loops, loops.cpp those.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/emit/emit.h"
#include "core/emit/tasks.h"
#include "core/emit/threads.h"
#include "core/emit/totals.h"
#include "core/emit/values.h"

namespace twinloom::emit {

// Writes the body of one kernel, once.
class Emitter {
 public:
  Emitter(const loops::Program& program, const Dialect& dialect)
      : program_(program),
        dialect_(dialect),
        threads_(program),
        scratch_(scratch_layout(program)),
        span_(threads_.count()),
        vectors_(dialect, scopes_),
        indices_(scopes_, vectors_, dialect, facts_),
        values_(program, scopes_, indices_, vectors_, dialect),
        totals_(program, threads_, scopes_, indices_, values_, vectors_, dialect) {}

  std::vector<std::string> lines();

 private:
  void bind_arguments();
  void task_loop(const Tasks& tasks);
  void stmt(const loops::Stmt& stmt);
  void index(const loops::Index& index);
  std::size_t stmts_from(const loops::Block& block, std::size_t at);
  static std::vector<loops::Combine> combines_from(const loops::Block& block, std::size_t at);
  void let(const loops::Let& let);
  void store(const loops::Store& store);
  void prefetch(const loops::Prefetch& prefetch);
  void sync();
  void scratch(const loops::Scratch& scratch);
  void last_block(const loops::LastBlock& last);
  void call(const loops::Call& call);
  std::string slot(const loops::Slot& slot);
  std::vector<std::string> bind(const std::vector<loops::Axis>& axes);
  std::string parameters(const std::vector<std::string>& names) const;
  std::string epilogue(const loops::Slot& slot);
  std::string ahead(const std::vector<loops::Slot>& slots);

  void loop(const loops::Loop& loop);
  void assume(const loops::Loop& loop);
  void serial(const loops::Loop& loop);
  void once(const loops::Loop& loop, const std::string& extent);
  bool walks_registers(const loops::Loop& loop) const;
  void forget_what_changes(const loops::Stmt& stmt);
  void thread(const loops::Loop& loop);
  void unroll(const loops::Loop& loop, std::int64_t extent);
  void load_ahead(const loops::Stmt& stmt);
  bool transposed(const loops::Loop& loop);
  void vector(const loops::Loop& loop);
  void in_vector(const loops::Loop& loop, const std::function<void()>& write);

  // Which of the threads that execute this for the same members a thread is.
  std::string number_in_span() const {
    if (span_ == threads_.count()) return "thread";
    return threads_.outermost_fastest() ? cat("thread / ", threads_.count() / span_)
                                        : cat("thread % ", span_);
  }
  std::string i64() const { return dialect_.type(ops::DType::i64, 1); }

  const loops::Program& program_;
  const Dialect& dialect_;
  Threads threads_;
  ScratchLayout scratch_;
  std::int64_t span_;   // threads that execute what is being written for the same members of thread loops
  index::Facts facts_;  // of sizes and of the loops so far
  std::map<index::Symbol, index::Expr> extents_;  // of these loops
  Scopes scopes_;
  Vectors vectors_;
  Indices indices_;
  Values values_;
  Totals totals_;
};

}  // namespace twinloom::emit
