// See log.h.
#include "core/base/log.h"

#include <stdlib.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <mutex>

#include "core/base/error.h"

namespace twinloom::logging {

std::atomic<std::uint32_t> enabled = UNREAD;

namespace {

constexpr std::string_view ALL = "all";

// One write a text, so that other output does not come between its lines.
void print(Log log, std::string_view text) {
  std::string line = cat("twinloom ", name(log), ": ");
  for (const char each : text) {
    line += each;
    if (each == '\n') line += "  ";
  }
  line += '\n';
  std::cerr << line << std::flush;
}

std::string unknown_words(std::string_view given) {
  const std::string near = nearest_name(given, names);
  return cat("there is no log '", escaped(given), "'; logs are ",
             join(names, ", ", [](std::string_view each) { return each; }), " and ", ALL,
             near.empty() ? "" : cat("; did you mean '", near, "'?"));
}

struct Asked {
  std::uint32_t bits = 0;
  std::string trouble;  // the first name that is none
};
Asked asked_by(std::string_view given) {
  Asked asked;
  while (!given.empty()) {
    const std::string_view one = given.substr(0, given.find(','));
    given.remove_prefix(std::min(given.size(), one.size() + 1));
    const auto found = std::ranges::find(names, one);
    if (one == ALL)
      asked.bits = UNREAD - 1;
    else if (found != names.end())
      asked.bits |= 1U << (found - names.begin());
    else if (!one.empty() && asked.trouble.empty())
      asked.trouble = unknown_words(one);
  }
  return asked;
}

// The first use reads the environment, which is not the place to throw: what is wrong there is said.
struct State {
  std::recursive_mutex mutex;  // the sink may set another
  std::shared_ptr<const Sink> sink = std::make_shared<const Sink>(print);

  State() {
    const char* given = secure_getenv("TWINLOOM_LOG");
    const Asked asked = asked_by(given == nullptr ? "" : given);
    if (!asked.trouble.empty())
      std::cerr << cat("twinloom: TWINLOOM_LOG: ", asked.trouble, "\n") << std::flush;
    enabled.store(asked.bits, std::memory_order_relaxed);
  }
};
State& state() {
  static State state;
  return state;
}

}  // namespace

bool is_on_by_environment(Log log) {
  state();
  return (enabled.load(std::memory_order_relaxed) & bit_of(log)) != 0;
}

void set(std::string_view given, Sink sink) {
  const Asked asked = asked_by(given);
  if (!asked.trouble.empty()) throw Error(asked.trouble);
  State& known = state();
  const std::lock_guard lock(known.mutex);
  known.sink = std::make_shared<const Sink>(sink ? std::move(sink) : Sink(print));
  enabled.store(asked.bits, std::memory_order_relaxed);
}

void write(Log log, std::string_view text) {
  State& known = state();
  const std::lock_guard lock(known.mutex);
  if ((enabled.load(std::memory_order_relaxed) & bit_of(log)) == 0) return;  // it was turned off meanwhile
  const auto sink = known.sink;                                              // it may set another
  (*sink)(log, text);
}

}  // namespace twinloom::logging
