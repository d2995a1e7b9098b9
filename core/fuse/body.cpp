// See body.h.
#include "core/fuse/body.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/loops/rewrite.h"

namespace twinloom::fuse {

using namespace loops;

namespace {

// From the statement that defines a value to the last that needs it, by number.
struct Life {
  int first, last;
};

class Counter {
 public:
  Body run(const Stmt& body) {
    walk(body);
    return {values_, most_alive()};
  }

 private:
  void walk(const Stmt& stmt) {
    if (const auto* block = std::get_if<Block>(&stmt.node)) {
      for (const Ref<Stmt>& inner : block->stmts) walk(*inner);
      return;
    }
    const int here = next_++;
    if (const auto* loop = std::get_if<Loop>(&stmt.node)) {
      walk(*loop->body);
      // What the loop read from outside is needed until its last statement.
      for (auto& [temp, life] : lives_)
        if (life.first < here && life.last > here) life.last = next_ - 1;
      return;
    }
    for_each_value(stmt, [&](const Value& value) { count(value, here); });
    if (const auto* let = std::get_if<Let>(&stmt.node)) lives_[let->temp] = {here, here};
    if (const auto* start = std::get_if<Start>(&stmt.node)) lives_[start->total] = {here, here};
    if (const auto* total = std::get_if<Accumulate>(&stmt.node)) need(total->total, here);
    if (const auto* scan = std::get_if<Scan>(&stmt.node)) {
      need(scan->total, here);
      lives_[scan->result] = {here, here};
    }
  }

  void count(const Value& value, int here) {
    if (std::holds_alternative<Apply>(value.node) || std::holds_alternative<Convert>(value.node)) ++values_;
    if (const auto* read = std::get_if<Read>(&value.node)) need(read->temp, here);
  }

  void need(Temp temp, int here) {
    const auto life = lives_.find(temp);
    if (life != lives_.end()) life->second.last = std::max(life->second.last, here);
  }

  int most_alive() const {
    std::vector<int> change(static_cast<std::size_t>(next_) + 2, 0);
    for (const auto& [temp, life] : lives_) {
      ++change[static_cast<std::size_t>(life.first)];
      --change[static_cast<std::size_t>(life.last) + 1];
    }
    int alive = 0, most = 0;
    for (const int by : change) most = std::max(most, alive += by);
    return most;
  }

  std::map<Temp, Life> lives_;
  int next_ = 0, values_ = 0;
};

}  // namespace

Body body_of(const Program& nest) { return Counter().run(*nest.body); }

}  // namespace twinloom::fuse
