// See threads.h.
#include "core/steps/threads.h"

#include <algorithm>
#include <map>

namespace twinloom::steps {

namespace {

using loops::Bind;

class ThreadLoops {
 public:
  explicit ThreadLoops(const loops::Program& program) : program_(program) {
    threads_ = threads_in(*program.body);
  }

  std::string why_bad() {
    if (threads_ > 1)
      for_each_in_loops(*program_.body, [&](const Stmt& stmt, const std::vector<loops::Loop>& around) {
        const bool in_threads =
            std::ranges::any_of(around, [](const auto& loop) { return loop.bind == Bind::thread; });
        if (const auto* index = std::get_if<loops::Index>(&stmt.node); index != nullptr && in_threads)
          differing_.insert(index->symbol);
        if (const auto* combine = std::get_if<loops::Combine>(&stmt.node)) check(*combine, around);
      });
    return reason_;
  }

 private:
  // Of nested thread loops the innermost is the fastest; loops side by side have the same threads.
  std::int64_t threads_in(const Stmt& stmt) {
    std::int64_t most = 1;
    if (const auto* block = std::get_if<loops::Block>(&stmt.node))
      for (const Ref<Stmt>& inner : block->stmts) most = std::max(most, threads_in(*inner));
    if (const auto* array = std::get_if<loops::Scratch>(&stmt.node)) most = threads_in(*array->body);
    const auto* loop = std::get_if<loops::Loop>(&stmt.node);
    if (loop == nullptr) return most;
    const std::int64_t inside = threads_in(*loop->body);
    if (loop->bind != Bind::thread) return inside;
    const auto [known, is_new] = widths_.emplace(loop->axis, inside);
    if (!is_new && known->second != inside && reason_.empty())
      reason_ = cat("a member of the thread loop over ", loop->axis, " has ", known->second,
                    " threads in one place and ", inside, " in another");
    return inside * index::constant_of(loop->extent).value_or(1);
  }

  void check(const loops::Combine& combine, const std::vector<loops::Loop>& around) {
    if (!widths_.contains(combine.across) || !reason_.empty()) return;
    std::int64_t threads = threads_;
    for (const loops::Loop& loop : around) {
      const std::string words =
          cat("copies along the threads of ", combine.across, " are combined in the loop over ", loop.axis);
      const std::set<index::Symbol> symbols = index::symbols_of(loop.extent);
      if (std::ranges::any_of(symbols, [&](const auto& symbol) { return differing_.contains(symbol); }))
        reason_ = words + ", which may end at another iteration for some threads";
      if (loop.bind != Bind::thread) continue;
      differing_.insert(loop.axis);
      const std::int64_t width = widths_.at(loop.axis);
      const std::int64_t walking = width * index::constant_of(loop.extent).value_or(1);
      if (walking != threads)
        reason_ = words + cat(", which only ", walking, " of ", threads, " threads walk");
      threads = width;
    }
  }

  const loops::Program& program_;
  std::map<loops::Axis, std::int64_t> widths_;  // threads of one iteration
  std::set<index::Symbol> differing_;           // from thread to thread
  std::int64_t threads_ = 1;                    // of a block
  std::string reason_;
};

}  // namespace

std::string why_bad_threads(const loops::Program& program) { return ThreadLoops(program).why_bad(); }

}  // namespace twinloom::steps
