// What the compiler does, said while it does it: five logs with names, off unless they are asked for, by
// TWINLOOM_LOG=fusion,cache (or `all`) or by set(). An event is one text, on the error stream
//   twinloom cache: max_sum_exp (cpu avx2): hit
// or handed to the sink that set() was given. Events of several threads do not mix.
//
// A log that is off costs one relaxed load: what an event says is only made where somebody hears it. The logs
// are the process's, as its environment is; nothing that is compiled depends on them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace twinloom {

enum class Log : std::uint8_t {
  fusion,    // which operators became one kernel, and which pairs of kernels stayed two, and why
  schedule,  // how each kernel is walked, and how long that should take
  guards,    // which variant a run uses, why one was made, and which condition on sizes failed
  code,      // the source text of each kernel that is built
  cache,     // kernels on disk: found, missed and by which field, kept; and trouble with the folder
};

namespace logging {

inline constexpr std::array<std::string_view, 5> names = {"fusion", "schedule", "guards", "code", "cache"};
inline std::string_view name(Log log) { return names[static_cast<std::size_t>(log)]; }

// Lines of one event have '\n' between them, and none behind the last. Called by one thread at a time, inside
// the work that it hears of: it must not run or compile a graph.
using Sink = std::function<void(Log log, std::string_view text)>;

// From here on these logs are on and no others, whatever the environment says; they go to the sink, or to the
// error stream where there is none. `given`: names with commas between them, or `all`, or nothing. Error for
// another name, and nothing changes. When this returns no earlier sink is being called, but by this thread.
void set(std::string_view given, Sink sink = {});

// Bits of `enabled`: one a log, and one that says that the environment was not read yet.
inline constexpr std::uint32_t UNREAD = 1U << names.size();
inline std::uint32_t bit_of(Log log) { return 1U << static_cast<unsigned>(log); }
extern std::atomic<std::uint32_t> enabled;
bool is_on_by_environment(Log log);
void write(Log log, std::string_view text);

inline bool is_on(Log log) {
  const std::uint32_t bits = enabled.load(std::memory_order_relaxed);
  return (bits & (bit_of(log) | UNREAD)) != 0 && ((bits & UNREAD) == 0 || is_on_by_environment(log));
}

// Says what text() gives, where the log is on.
template <class Text>
void event(Log log, const Text& text) {
  if (is_on(log)) write(log, text());
}

}  // namespace logging

}  // namespace twinloom
