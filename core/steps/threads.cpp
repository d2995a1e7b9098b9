// See threads.h.
#include "core/steps/threads.h"

#include <algorithm>

#include "core/loops/touches.h"

namespace twinloom::steps {

namespace {

using loops::Bind;

class ThreadLoops {
 public:
  explicit ThreadLoops(const loops::Program& program) : program_(program), widths_(program) {}

  std::string why_bad() {
    reason_ = widths_.conflict();
    if (reason_.empty() && widths_.threads() > 1)
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
  void check(const loops::Combine& combine, const std::vector<loops::Loop>& around) {
    if (!widths_.has(combine.across) || !reason_.empty()) return;
    std::int64_t threads = widths_.threads();
    for (const loops::Loop& loop : around) {
      const std::string words =
          cat("copies along the threads of ", combine.across, " are combined in the loop over ", loop.axis);
      const std::set<index::Symbol> symbols = index::symbols_of(loop.extent);
      if (std::ranges::any_of(symbols, [&](const auto& symbol) { return differing_.contains(symbol); }))
        reason_ = words + ", which may end at another iteration for some threads";
      if (loop.bind != Bind::thread) continue;
      differing_.insert(loop.axis);
      const std::int64_t width = widths_.width(loop.axis);
      const std::int64_t walking = width * index::constant_of(loop.extent).value_or(1);
      if (walking != threads)
        reason_ = words + cat(", which only ", walking, " of ", threads, " threads walk");
      threads = width;
    }
  }

  const loops::Program& program_;
  loops::ThreadWidths widths_;
  std::set<index::Symbol> differing_;  // from thread to thread
  std::string reason_;
};

}  // namespace

std::string why_bad_threads(const loops::Program& program) { return ThreadLoops(program).why_bad(); }

}  // namespace twinloom::steps
