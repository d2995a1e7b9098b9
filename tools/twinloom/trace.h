// What a command does and when, as a file of Chrome's trace event format, which chrome://tracing and
// ui.perfetto.dev show: one process is this program, a row a thread; another a GPU, a row for its stream.
//   phase   what a command does, one after the other: read the model, compile, run, ...
//   pass    of the compiler
//   build   a kernel that is compiled or found on disk, on the thread that does it
//   kernel  one that runs, and its tasks on the threads that run them
// On a row, spans are nested or apart, and times are microseconds since the trace began.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/twinloom.h"
#include "tools/twinloom/progress.h"

namespace twinloom::tool {

class Trace {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  // The calling thread is the row "main". Error where the file cannot be written.
  explicit Trace(const std::filesystem::path& file);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // A span of the calling thread. Thread-safe.
  void add(std::string_view category, std::string name, Time begin, Time end);
  // A kernel of a GPU.
  void add_to_stream(std::string name, Time begin, Time end);

  // Into the file. Error where that fails. `device`: whose stream the spans of add_to_stream() are on.
  void write(const std::string& device);

 private:
  struct Span {
    std::string_view category;
    std::string name;
    Time begin, end;
    int process, row;
  };
  int row_of(std::thread::id thread);

  std::string file_;
  std::ofstream stream_;
  Time begun_ = Clock::now();
  std::mutex mutex_;
  std::vector<Span> spans_;
  std::map<std::thread::id, int> rows_;
};

// Traces passes and kernels that are built, and hands them on.
using HearProgress = std::function<void(const pipeline::Progress&)>;
HearProgress traced(Trace& trace, HearProgress next);

// What a command does, one after the other: said, and traced where there is a trace.
class Phases {
 public:
  Phases(Progress& progress, Trace* trace) : progress_(progress), trace_(trace) {}
  template <class Work>
  auto operator()(const char* name, const Work& work) const {
    progress_.say(name);
    const Trace::Time begin = Trace::Clock::now();
    auto result = work();
    if (trace_ != nullptr) trace_->add("phase", name, begin, Trace::Clock::now());
    return result;
  }

 private:
  Progress& progress_;
  Trace* trace_;
};

// Traces the kernels of one run, and their tasks on a CPU's threads. Lives as long as the run.
class TracedRun {
 public:
  // Sets what `options` say of threads and of each step.
  TracedRun(Trace& trace, const runtime::Variant& variant, bool on_gpu, RunOptions& options);
  TracedRun(const TracedRun&) = delete;
  TracedRun& operator=(const TracedRun&) = delete;
  // The kernels of a GPU's stream, when the run is done.
  void finish();

 private:
  void after_step(std::size_t step, double seconds);
  void run_tasks(std::int64_t tasks, int threads, runtime::ParallelBody body, void* context);
  const std::string& name_of(std::size_t step) const { return variant_.steps[step].program.name; }

  Trace& trace_;
  const runtime::Variant& variant_;
  bool on_gpu_;
  Trace::Time last_ = Trace::Clock::now();  // of a CPU: the end of the last step
  std::size_t next_ = 0;                    // the step that runs
  runtime::ParallelFor parallel_for_;
  std::vector<std::pair<std::size_t, double>> laps_;  // of a GPU: steps and their seconds
};

}  // namespace twinloom::tool
