// See trace.h.
#include "tools/twinloom/trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "backends/cpu/kernel.h"
#include "core/base/error.h"

namespace twinloom::tool {

namespace {

// Numbers of processes and rows. Perfetto takes the row of its process's number for the main thread, and has
// no row 0: with other numbers it puts two threads on one row.
constexpr int PROGRAM = 1, MAIN = PROGRAM;
constexpr int GPU = 1000, STREAM = GPU;  // further than threads are numbered

nlohmann::json name_of_row(const char* what, int process, int row, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", row}, {"args", {{"name", name}}}};
}

double microseconds_between(Trace::Time from, Trace::Time to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

}  // namespace

Trace::Trace(const std::filesystem::path& file) : file_(escaped(file.string())), stream_(file) {
  if (!stream_) throw Error(cat("cannot write '", file_, "'"));
  row_of(std::this_thread::get_id());
}

int Trace::row_of(std::thread::id thread) {
  return rows_.emplace(thread, MAIN + static_cast<int>(rows_.size())).first->second;
}

void Trace::add(std::string_view category, std::string name, Time begin, Time end) {
  const std::lock_guard lock(mutex_);
  const int row = row_of(std::this_thread::get_id());
  spans_.push_back({category, std::move(name), begin, end, PROGRAM, row});
}

void Trace::add_to_stream(std::string name, Time begin, Time end) {
  const std::lock_guard lock(mutex_);
  spans_.push_back({"kernel", std::move(name), begin, end, GPU, STREAM});
}

void Trace::write(const std::string& device) {
  const std::lock_guard lock(mutex_);
  nlohmann::json events = nlohmann::json::array({name_of_row("process_name", PROGRAM, MAIN, "twinloom")});
  for (const auto& [thread, row] : rows_)
    events.push_back(name_of_row("thread_name", PROGRAM, row, row == MAIN ? "main" : cat("thread ", row)));
  if (std::ranges::find(spans_, GPU, &Span::process) != spans_.end()) {
    events.push_back(name_of_row("process_name", GPU, STREAM, device));
    events.push_back(name_of_row("thread_name", GPU, STREAM, "stream"));
  }
  for (const Span& span : spans_)
    events.push_back({{"ph", "X"},
                      {"cat", span.category},
                      {"name", span.name},
                      {"pid", span.process},
                      {"tid", span.row},
                      {"ts", microseconds_between(begun_, span.begin)},
                      {"dur", microseconds_between(span.begin, span.end)}});
  stream_ << nlohmann::json{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}}.dump(1) << '\n';
  if (!stream_.flush()) throw Error(cat("cannot write '", file_, "'"));
}

HearProgress traced(Trace& trace, HearProgress next) {
  return [&trace, next = std::move(next)](const pipeline::Progress& progress) {
    const bool is_kernel = !progress.kernel.empty();
    trace.add(is_kernel ? "build" : "pass", std::string(is_kernel ? progress.kernel : progress.pass),
              progress.begin, progress.end);
    next(progress);
  };
}

TracedRun::TracedRun(Trace& trace, const runtime::Variant& variant, bool on_gpu, RunOptions& options)
    : trace_(trace), variant_(variant), on_gpu_(on_gpu) {
  options.after_step = [this](std::size_t step, double seconds) { after_step(step, seconds); };
  if (on_gpu) return;
  parallel_for_ = [this](std::int64_t tasks, int threads, runtime::ParallelBody body, void* context) {
    run_tasks(tasks, threads, body, context);
  };
  options.settings.parallel_for = &parallel_for_;
}

void TracedRun::after_step(std::size_t step, double seconds) {
  const Trace::Time now = Trace::Clock::now();
  if (on_gpu_) {  // where all are done
    if (laps_.empty()) last_ = now;
    laps_.emplace_back(step, seconds);
    return;
  }
  const auto lap = std::chrono::duration_cast<Trace::Clock::duration>(std::chrono::duration<double>(seconds));
  trace_.add("kernel", name_of(step), std::max(last_, now - lap), now);
  last_ = now;
  next_ = step + 1;
}

// A GPU's events say how long each kernel took, and not when by this clock: the last one has ended when it
// was waited for, and nothing lies between them.
void TracedRun::finish() {
  Trace::Time end = last_;
  for (auto lap = laps_.rbegin(); lap != laps_.rend(); ++lap) {
    const Trace::Time begin =
        end - std::chrono::duration_cast<Trace::Clock::duration>(std::chrono::duration<double>(lap->second));
    trace_.add_to_stream(name_of(lap->first), begin, end);
    end = begin;
  }
}

void TracedRun::run_tasks(std::int64_t tasks, int threads, runtime::ParallelBody body, void* context) {
  struct Traced {
    Trace& trace;
    const std::string& kernel;
    runtime::ParallelBody body;
    void* context;
  } traced{trace_, name_of(next_), body, context};
  const auto run = [](void* given, std::int64_t begin, std::int64_t end) {
    const auto& [trace, kernel, inner, inner_context] = *static_cast<const Traced*>(given);
    if (begin >= end) return;
    const Trace::Time from = Trace::Clock::now();
    inner(inner_context, begin, end);
    trace.add("tasks", cat(kernel, ": tasks ", begin, " to ", end - 1), from, Trace::Clock::now());
  };
  cpu::openmp_parallel_for(tasks, threads, run, &traced);
}

}  // namespace twinloom::tool
