// See calibrate.h. Of several measurements the shortest counts: what else runs only makes them longer.
#include "core/measure/calibrate.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cmath>
#include <thread>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/machine/calibration.h"
#include "core/measure/measure.h"
#include "core/measure/passes.h"

namespace twinloom::measure {

namespace {

constexpr std::int64_t LINE = 64;

// Seconds until the last of so many threads has done its work, all of which begin at once.
double side_by_side(int workers, const std::function<void(int worker)>& work) {
  std::barrier begin(workers);
  std::vector<double> taken(static_cast<std::size_t>(workers));
  const auto timed = [&](int worker) {
    begin.arrive_and_wait();
    Stopwatch stopwatch;
    work(worker);
    taken[static_cast<std::size_t>(worker)] = stopwatch.lap();
  };
  {
    std::vector<std::jthread> others;
    for (int worker = 1; worker < workers; ++worker) others.emplace_back(timed, worker);
    timed(0);
  }
  return *std::ranges::max_element(taken);
}

double shortest_of(int samples, const std::function<double()>& measure) {
  double shortest = measure();
  for (int sample = 1; sample < samples; ++sample) shortest = std::min(shortest, measure());
  return shortest;
}

// Keeps the compiler from knowing the number.
template <class Number>
void hide(Number& number) {
  asm volatile("" : "+r"(number));
}

// Additions that wait for each other take a cycle each, on every CPU that is known.
double clock_hertz() {
  constexpr int ROUNDS = 1 << 18, EACH = 16;
  const double seconds = shortest_of(5, [] {
    std::uint64_t sum = 1, step = 3;
    Stopwatch stopwatch;
    for (int round = 0; round < ROUNDS; ++round) {
      // Written out: a loop of one addition takes longer than its addition.
#pragma GCC unroll 16
      for (int at = 0; at < EACH; ++at) {
        sum += step;
        hide(sum), hide(step);
      }
    }
    return stopwatch.lap();
  });
  return ROUNDS * EACH / seconds;
}

// Loads from memory, each of which decides by what it finds where the next one looks; `mask` keeps the places
// within it. Without loads what deciding takes.
double chain_seconds(const std::uint64_t* memory, std::uint64_t mask, bool loads) {
  constexpr int HOPS = 1 << 16;
  constexpr std::uint64_t FACTOR = 6364136223846793005u, STEP = 1442695040888963407u, LINE_WORDS = 8;
  std::uint64_t state = 1;
  Stopwatch stopwatch;
  for (int hop = 0; hop < HOPS; ++hop) {
    const std::uint64_t place = ((state >> 32) & mask) * LINE_WORDS;
    // What is found goes first into all that follows, so that nothing is done beside the load.
    state = (state + (loads ? memory[place] : place)) * FACTOR + STEP;
    hide(state);
  }
  return stopwatch.lap() / HOPS;
}

class CpuCalibration {
 public:
  explicit CpuCalibration(const runtime::Backend& backend)
      : machine_(backend.machine()),
        workers_(std::max(machine_.blocks_at_once, 1)),
        slice_(passed_bytes(buffer_bytes() / workers_)),
        buffer_(runtime::allocate(ops::DType::u8, {slice_ * workers_})),
        arithmetic_(backend.build(cpu_arithmetic(machine_)).kernel),
        tasks_(backend.build(cpu_tasks()).kernel) {
    for (const Pass pass : {Pass::copy, Pass::read, Pass::write, Pass::stream})
      passes_[index(pass)] = backend.build(cpu_pass(pass, machine_)).kernel;
  }

  machine::Machine measured() {
    seconds(Pass::write, workers_, slice_, 1);  // each worker's memory is where it runs
    machine_.clock_hertz = clock_hertz();
    machine_.issue_each = issue_rate() / machine_.clock_hertz;
    for (std::size_t level = 0; level < machine_.memory.size(); ++level) measure_level(level);
    machine_.streamed_per_second = rate(Pass::stream, 1, slice_ * workers_);
    measure_starts();
    return machine::rounded(machine_);
  }

 private:
  static std::size_t index(Pass pass) { return static_cast<std::size_t>(pass); }

  // What no cache holds, of half of the memory that is free at most.
  static std::int64_t buffer_bytes() {
    constexpr std::int64_t CACHES = 4, MOST = std::int64_t{1} << 30;
    const std::int64_t free = sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE);
    const std::int64_t wanted = std::min(CACHES * last_level_cache_bytes(), MOST);
    if (free / 2 < std::min(wanted, 2 * last_level_cache_bytes()))
      throw Error(cat("calibrate: ", free, " bytes of memory are free; its caches of ",
                      last_level_cache_bytes(), " bytes ask for ", 4 * last_level_cache_bytes()));
    return std::min(wanted, free / 2);
  }
  // Whole iterations of two halves.
  std::int64_t passed_bytes(std::int64_t bytes) const {
    const std::int64_t unit = 2 * passed_elements(machine_) * static_cast<std::int64_t>(sizeof(float));
    return std::max(bytes / unit, std::int64_t{1}) * unit;
  }

  // Of passes over so many bytes for each worker, those of a copy read and written.
  double seconds(Pass pass, int workers, std::int64_t bytes, std::int64_t rounds) const {
    const std::int64_t elements =
        bytes / (pass == Pass::copy ? 2 : 1) / static_cast<std::int64_t>(sizeof(float));
    const std::vector<std::int64_t> sizes = {elements, rounds};
    return side_by_side(workers, [&](int worker) {
      std::byte* const first = static_cast<std::byte*>(buffer_.data) + worker * slice_;
      std::array<std::int32_t, LINE / sizeof(std::int32_t)> result{};
      std::vector<runtime::Memory> memory = {{first, 0, elements}};
      if (pass == Pass::copy) memory.push_back({first + bytes / 2, 0, elements});
      if (pass == Pass::read) memory.push_back({result.data(), 0, 1});
      passes_[index(pass)]->run(memory, sizes, {.threads = 1});
    });
  }
  // Bytes a second of all workers.
  double rate(Pass pass, int workers, std::int64_t bytes) const {
    constexpr std::int64_t LEAST = std::int64_t{64} << 20;  // of a sample
    constexpr int SAMPLES = 5, SAMPLES_OF_MUCH = 3;
    const std::int64_t rounds = std::max(LEAST / bytes, std::int64_t{1});
    const double taken = shortest_of(bytes > LEAST ? SAMPLES_OF_MUCH : SAMPLES,
                                     [&] { return seconds(pass, workers, bytes, rounds); });
    return static_cast<double>(bytes * rounds * workers) / taken;
  }

  // Bytes that the level holds and those nearer do not, for each of so many workers.
  std::int64_t bytes_within(std::size_t level, int workers) const {
    const auto share = [&](std::size_t at) {
      const bool shared = at + 2 == machine_.memory.size();  // the last cache
      return static_cast<double>(machine_.memory[at].bytes) * (shared ? double(workers_) / workers : 1);
    };
    if (level + 1 == machine_.memory.size()) return slice_ * (workers == 1 ? workers_ : 1);
    if (level == 0) return passed_bytes(static_cast<std::int64_t>(share(0) / 2));
    constexpr double BEYOND = 1.5;
    const double bytes = std::max(std::sqrt(share(level - 1) * share(level)), BEYOND * share(level - 1));
    return passed_bytes(std::min(static_cast<std::int64_t>(bytes), slice_));
  }

  void measure_level(std::size_t number) {
    machine::MemoryLevel& level = machine_.memory[number];
    const std::int64_t bytes = bytes_within(number, 1);
    level.bytes_per_second = rate(Pass::copy, 1, bytes);
    level.read_per_second = rate(Pass::read, 1, bytes);
    level.written_per_second = rate(Pass::write, 1, bytes);
    const double all = rate(Pass::copy, workers_, bytes_within(number, workers_));
    level.workers = std::clamp(all / level.bytes_per_second, 1.0, static_cast<double>(workers_));
    level.latency_seconds = latency(bytes);
  }

  double latency(std::int64_t bytes) const {
    const auto lines = static_cast<std::uint64_t>(bytes / LINE);
    const std::uint64_t mask = std::bit_floor(std::max<std::uint64_t>(lines, 1)) - 1;
    const auto* memory = static_cast<const std::uint64_t*>(buffer_.data);
    const auto chain = [&](bool loads) {
      return shortest_of(3, [&] { return chain_seconds(memory, mask, loads); });
    };
    return std::max(chain(true) - chain(false), 0.0);
  }

  // Vector instructions a second.
  double issue_rate() const {
    const std::int64_t bytes = bytes_within(0, 1), elements = bytes / 2 / std::int64_t{sizeof(float)};
    constexpr std::int64_t ROUNDS = 256;
    const std::vector<std::int64_t> sizes = {elements, ROUNDS};
    auto* const first = static_cast<std::byte*>(buffer_.data);
    const std::vector<runtime::Memory> memory = {{first, 0, elements}, {first + bytes / 2, 0, elements}};
    const double taken = shortest_of(
        5, [&] { return side_by_side(1, [&](int) { arithmetic_->run(memory, sizes, {.threads = 1}); }); });
    const double vectors = static_cast<double>(bytes / 2) / machine_.vector_bytes * ROUNDS;
    return vectors * ARITHMETIC / taken;
  }

  // Of one task on this thread, and of one for each worker; the whole buffer is worth waking them. The lower
  // quartile: what waits for a core that something else has is no start.
  void measure_starts() {
    constexpr int RUNS = 64;
    const auto start = [&](std::int64_t tasks) {
      const std::vector<std::int64_t> sizes = {tasks, 1};
      const std::vector<runtime::Memory> memory = {{buffer_.data, 0, slice_ / 4 * workers_}};
      const auto run = [&] { tasks_->run(memory, sizes, {.threads = static_cast<int>(tasks)}); };
      return quantile(repeat({RUNS, RUNS, 16 * RUNS, 0.05}, run), 0.25);
    };
    machine_.launch_seconds = start(1);
    if (workers_ > 1) machine_.wake_seconds = std::max(start(workers_) - machine_.launch_seconds, 0.0);
  }

  machine::Machine machine_;
  int workers_;
  std::int64_t slice_;  // bytes of a worker
  runtime::Tensor buffer_;
  std::array<std::unique_ptr<const runtime::Kernel>, 4> passes_;
  std::unique_ptr<const runtime::Kernel> arithmetic_, tasks_;
};

}  // namespace

machine::Machine calibrate(const runtime::Backend& backend) {
  if (backend.runs_nests() || backend.space() != nullptr)
    throw Error(cat("calibrate: there is nothing to measure of the device '", backend.name(),
                    "'; it is for cpu and cuda:N"));
  return CpuCalibration(backend).measured();
}

}  // namespace twinloom::measure
