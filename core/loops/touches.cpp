// See touches.h.
#include "core/loops/touches.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/loops/rewrite.h"

namespace twinloom::loops {

// Loops side by side have the same threads. Those inside others are visited too, and ask for less.
std::int64_t ThreadWidths::threads_in(const Stmt& stmt) {
  std::int64_t most = 1;
  for_each_stmt(stmt, [&](const Stmt& inner) {
    const auto* loop = std::get_if<Loop>(&inner.node);
    if (loop == nullptr || loop->bind != Bind::thread) return;
    const auto extent = index::constant_of(loop->extent);
    CHECK(extent, "the thread loop ", loop->axis, " has the extent ", loop->extent);
    const std::int64_t width = threads_in(*loop->body);
    const std::int64_t known = widths_.emplace(loop->axis, width).first->second;
    if (known != width && conflict_.empty())
      conflict_ = cat("a member of the thread loop ", loop->axis, " has ", known, " threads, and ", width,
                      " elsewhere");
    most = std::max(most, *extent * width);
  });
  return most;
}

std::int64_t ThreadWidths::threads() const {
  CHECK(conflict_.empty(), conflict_);
  return threads_;
}

namespace {

std::string words(std::int64_t first, std::int64_t last) {
  return first == last ? cat("thread ", first) : cat("threads ", first, " to ", last);
}

std::string_view done(Access access) {
  constexpr std::array<std::string_view, 3> words = {"read", "written", "updated"};
  return words[static_cast<std::size_t>(access)];
}

}  // namespace

void Touches::start(std::int64_t first, std::int64_t last) {
  first_ = first;
  elements_.assign(static_cast<std::size_t>(last - first), {});
}

void Touches::add(std::int64_t offset, Access access, const Threads& by, const Moment& moment,
                  const std::string& where) {
  Element& element = elements_.at(static_cast<std::size_t>(offset - first_));
  const std::int64_t first = by.first, last = access == Access::read ? first + by.count - 1 : first;
  const auto here = [&] { return cat(where, ": element ", offset, " is ", done(access), " by "); };
  for (const Access other : {Access::write, Access::read, Access::update}) {
    if (other == access && access != Access::write) continue;
    const Touch& before = element[static_cast<std::size_t>(other)];
    CHECK(before.first_time == 0 || before.first_time >= moment.block_began, here(), "a block and was ",
          done(other), " by another");
    const bool same = before.first == first && before.last == last && first == last;
    CHECK(before.last_time < moment.now || same, here(), words(first, last), " and was ", done(other), " by ",
          words(before.first, before.last), ", without a sync in between");
  }
  Touch& touch = element[static_cast<std::size_t>(access)];
  const bool again = touch.last_time >= moment.now;
  if (touch.first_time == 0) touch.first_time = moment.now;
  touch.last_time = std::max(touch.last_time, moment.now);
  touch.first = again ? std::min(touch.first, first) : first;
  touch.last = again ? std::max(touch.last, last) : last;
}

}  // namespace twinloom::loops
