// See guarded.h.
#include "tools/twinloom/guarded.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <vector>

#include "core/base/error.h"

namespace twinloom::tool {

namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  std::size_t number;
  pid_t process;
  int pipe;  // that it writes to
  Clock::time_point start;
  std::string said;
  bool timed_out = false;
};

void write_all(int file, const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t count = write(file, text.data() + at, text.size() - at);
    if (count <= 0) return;
    at += static_cast<std::size_t>(count);
  }
}

void limit_memory([[maybe_unused]] const GuardLimits& limits) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit limit = {static_cast<rlim_t>(limits.bytes), static_cast<rlim_t>(limits.bytes)};
  setrlimit(RLIMIT_DATA, &limit);
#endif
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

// Ends without destructors of what belongs to the parent.
[[noreturn]] void run_child(std::size_t number, int pipe, const GuardLimits& limits,
                            const std::function<std::string(std::size_t)>& work) {
  limit_memory(limits);
  try {
    write_all(pipe, work(number));
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

Child start(std::size_t number, const GuardLimits& limits, const std::vector<Child>& others,
            const std::function<std::string(std::size_t)>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw Error(cat("a pipe cannot be made: ", std::strerror(errno)));
  const pid_t process = fork();
  if (process < 0) throw Error(cat("a process cannot be started: ", std::strerror(errno)));
  if (process == 0) {
    close(ends[0]);
    for (const Child& other : others) close(other.pipe);
    run_child(number, ends[1], limits, work);
  }
  close(ends[1]);
  return {number, process, ends[0], Clock::now(), {}};
}

// Whether the pipe is at its end.
bool take_words(Child& child) {
  std::array<char, 4096> buffer{};
  const ssize_t count = read(child.pipe, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return false;
  if (count <= 0) return true;
  child.said.append(buffer.data(), static_cast<std::size_t>(count));
  return false;
}

Guarded ended(const Child& child, const GuardLimits& limits) {
  close(child.pipe);
  int status = 0;
  while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - child.start).count();
  if (child.timed_out) return {false, cat("took longer than ", limits.seconds, " s"), seconds};
  if (WIFSIGNALED(status)) return {false, cat("ended by signal ", WTERMSIG(status)), seconds};
  if (WEXITSTATUS(status) != 0) return {false, cat("ended with code ", WEXITSTATUS(status)), seconds};
  return {true, child.said, seconds};
}

// Waits until one says something or a while has passed, and ends those whose time is over.
void wait_for(std::vector<Child>& children, const GuardLimits& limits, std::vector<bool>& at_end) {
  constexpr int milliseconds = 100;
  std::vector<pollfd> watched;
  for (const Child& child : children) watched.push_back({child.pipe, POLLIN, 0});
  poll(watched.data(), watched.size(), milliseconds);
  at_end.assign(children.size(), false);
  for (std::size_t c = 0; c < children.size(); ++c) {
    if (watched[c].revents != 0) at_end[c] = take_words(children[c]);
    const std::chrono::duration<double> passed = Clock::now() - children[c].start;
    if (passed.count() < limits.seconds || children[c].timed_out) continue;
    children[c].timed_out = true;
    kill(children[c].process, SIGKILL);
  }
}

}  // namespace

void run_guarded(std::size_t count, const GuardLimits& limits,
                 const std::function<std::string(std::size_t)>& work,
                 const std::function<void(std::size_t, const Guarded&)>& done) {
  std::vector<Child> children;
  std::vector<bool> at_end;
  std::size_t next = 0;
  const auto jobs = static_cast<std::size_t>(std::max(1, limits.jobs));
  while (next < count || !children.empty()) {
    while (next < count && children.size() < jobs) {
      children.push_back(start(next, limits, children, work));
      ++next;
    }
    wait_for(children, limits, at_end);
    for (std::size_t c = children.size(); c-- > 0;) {
      if (!at_end[c]) continue;
      done(children[c].number, ended(children[c], limits));
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(c));
    }
  }
}

}  // namespace twinloom::tool
