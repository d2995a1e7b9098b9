// What a run costs the host besides its kernels: chains of kernels that do nothing, on the host and on a
// device that does nothing, with new and with the caller's outputs, and bound to their sizes.
//   host_cost [ROUNDS]
// Exit code 1: above 3 microseconds a kernel of the longest chain.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "api/twinloom.h"
#include "core/machine/gpu.h"
#include "core/measure/measure.h"
#include "core/runtime/bound_run.h"
#include "core/runtime/memory_pool.h"
#include "perf/exit_code.h"

namespace twinloom::perf {

namespace {

constexpr double BOUND_SECONDS = 3e-6;
constexpr int RUNS = 1000;  // between two looks at the clock

class IdleKernel final : public runtime::Kernel {
 public:
  std::optional<runtime::Failure> run(std::span<const runtime::Memory>, std::span<const std::int64_t>,
                                      const RunSettings&) const override {
    return std::nullopt;
  }
};

class IdleEvent final : public runtime::Event {
 public:
  bool reached() const override { return true; }
  void wait() const override {}
};

class IdleWork final : public runtime::Work {
 public:
  runtime::Stream stream() const override { return nullptr; }
  void close() override {}
  bool done() const override { return true; }
  bool failed() const override { return false; }
  std::optional<runtime::Failure> wait() override { return std::nullopt; }
};

class IdleSpace final : public runtime::Space {
 public:
  int device() const override { return 0; }
  runtime::Block allocate(std::int64_t bytes, runtime::Stream) const override {
    return runtime::new_block(bytes);
  }
  void trim() const override {}
  std::int64_t free_bytes() const override { return 0; }
  void order(runtime::Stream, runtime::Stream) const override {}
  void upload(void*, const void*, std::int64_t) const override {}
  void download(void*, const void*, std::int64_t) const override {}
  void wait() const override {}
  std::unique_ptr<runtime::Work> begin(runtime::Stream) const override {
    return std::make_unique<IdleWork>();
  }
  std::unique_ptr<runtime::Event> record(runtime::Stream) const override {
    return std::make_unique<IdleEvent>();
  }
  double seconds(const runtime::Event&, const runtime::Event&) const override { return 0; }
  void copy(void*, const void*, std::int64_t, runtime::Stream) const override {}
  void clear(void*, std::int64_t, runtime::Stream) const override {}
};

class IdleBackend final : public runtime::Backend {
 public:
  explicit IdleBackend(const runtime::Space* space) : space_(space), machine_(machine::h200()) {}
  std::string name() const override { return "idle"; }
  std::string describe() const override { return "idle: does nothing"; }
  const machine::Machine& machine() const override { return machine_; }
  const runtime::Space* space() const override { return space_; }
  runtime::Built build(const loops::Program&) const override {
    return {std::make_unique<const IdleKernel>(), {}, 0};
  }

 private:
  const runtime::Space* space_;
  machine::Machine machine_;
};

// So many kernels, with sizes that each run finds.
Graph chain(int kernels) {
  Builder builder("chain");
  const Symbol rows("rows"), columns("columns");
  Value x = builder.input("x", DType::f32, {rows, columns});
  const Value y = builder.input("y", DType::f32, {columns});
  for (int k = 0; k < kernels; ++k) x = graph::realize(graph::tanh(x) + y);
  builder.output(x);
  return builder.take();
}

// Seconds of one run.
double seconds_of(const Executable& executable, bool own_outputs, int rounds) {
  Tensor x = allocate(DType::f32, {64, 1024}), y = allocate(DType::f32, {1024});
  if (executable.space() != nullptr) x.device = y.device = executable.space()->device();
  const std::vector<Argument> arguments = {x, y};
  std::vector<Tensor> outputs;
  if (own_outputs) outputs = {std::get<Tensor>(executable.run(arguments).front())};
  const auto durations = measure::repeat({.warm_up = 1, .least = rounds, .most = rounds, .seconds = 0}, [&] {
    for (int k = 0; k < RUNS; ++k) executable.run(arguments, {}, outputs);
  });
  return measure::median(durations) / RUNS;
}

// Of one start where all but the addresses is known.
double bound_seconds_of(const Executable& executable, int rounds) {
  Tensor x = allocate(DType::f32, {64, 1024}), y = allocate(DType::f32, {1024});
  Tensor output = allocate(DType::f32, {64, 1024});
  if (executable.space() != nullptr) x.device = y.device = output.device = executable.space()->device();
  const auto bound = executable.bind(std::vector<Argument>{x, y}, std::vector{output});
  const std::vector<void*> addresses = {x.data, y.data, output.data};
  const auto durations = measure::repeat({.warm_up = 1, .least = rounds, .most = rounds, .seconds = 0}, [&] {
    for (int k = 0; k < RUNS; ++k) bound->start(addresses, nullptr, {});
  });
  return measure::median(durations) / RUNS;
}

int run(int rounds) {
  static const auto* const space = new IdleSpace;  // as long as the process
  double longest_chain = 0;
  std::cout << fmt::format("{:>8}{:>14}{:>18}{:>10}{:>14}{:>18}{:>10}   microseconds a run\n", "kernels",
                           "host", "own outputs", "bound", "device", "own outputs", "bound");
  for (const int kernels : {1, 4, 16, 64}) {
    std::cout << fmt::format("{:>8}", kernels);
    for (const runtime::Space* where :
         {static_cast<const runtime::Space*>(nullptr), static_cast<const runtime::Space*>(space)}) {
      const Executable executable = pipeline::compile(chain(kernels), std::make_shared<IdleBackend>(where));
      const double fresh = seconds_of(executable, false, rounds);
      const double own = seconds_of(executable, true, rounds);
      const double bound = bound_seconds_of(executable, rounds);
      std::cout << fmt::format("{:>14.2f}{:>18.2f}{:>10.2f}", fresh * 1e6, own * 1e6, bound * 1e6);
      longest_chain = std::max({fresh, own}) / kernels;
    }
    std::cout << std::endl;
  }
  std::cout << fmt::format("{:.3f} microseconds a kernel of the longest chain\n", longest_chain * 1e6);
  return longest_chain > BOUND_SECONDS ? 1 : 0;
}

}  // namespace

}  // namespace twinloom::perf

int main(int count, char** words) {
  return twinloom::perf::exit_code_of(
      [&] { return twinloom::perf::run(count > 1 ? std::max(1, std::atoi(words[1])) : 11); });
}
