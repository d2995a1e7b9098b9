// On a GPU: runs that are started, streams of the caller, threads, failures, missing memory, copies.
#include <sys/wait.h>
#include <unistd.h>

#include <numeric>
#include <thread>

#include "core/runtime/errors.h"
#include "tests/streams/gpu_test.h"

namespace twinloom::tests {

namespace {

using runtime::Pending;

// Rows of x at the places, then a softmax of each and the totals over rows: kernels that read each other's
// results, one with a run-time index.
Graph rows_graph() {
  Builder builder("rows");
  const Symbol n("n"), m("m"), k("k");
  const Value x = builder.input("x", DType::f32, {n, m});
  const Value chosen = graph::realize(graph::take(x, 0, builder.input("places", DType::i64, {k})));
  const Value shares = graph::realize(softmax(chosen, 1));
  builder.output(shares);
  builder.output(graph::sum(shares * chosen, {0}));
  return builder.take();
}

struct Rows {
  Rows(const Device& device, std::int64_t rows, std::int64_t columns, float scale, std::int64_t last = 0) {
    std::vector<float> x(static_cast<std::size_t>(rows * columns));
    for (std::size_t at = 0; at < x.size(); ++at) x[at] = scale * static_cast<float>(at % 977) * 0.01f;
    std::vector<std::int64_t> places(static_cast<std::size_t>(rows));
    std::iota(places.rbegin(), places.rend(), 0);
    places.back() = last;
    here = {view_of(x.data(), DType::f32, {rows, columns}), view_of(places.data(), DType::i64, {rows})};
    for (Argument& argument : here) {
      argument = contiguous(std::get<Tensor>(argument));
      there.emplace_back(device.upload(std::get<Tensor>(argument)));
    }
  }
  std::vector<Argument> here, there;
};

std::vector<std::vector<float>> all_numbers(const std::vector<Output>& outputs, const Device& device) {
  std::vector<std::vector<float>> all;
  for (const Output& output : outputs) all.push_back(numbers(std::get<Tensor>(output), device));
  return all;
}

class Streams : public GpuTest {
 protected:
  Executable rows() const { return compile(rows_graph(), device(), {.mode = Mode::strict}); }
  // In strict mode the reference has the same bits.
  std::vector<std::vector<float>> expected(const Rows& given) const {
    const Device host = Device::cpu({.cache = false});
    return all_numbers(compile(rows_graph(), host, {.mode = Mode::strict}).run(given.here), host);
  }
};

TEST_F(Streams, AStartedRunGivesWhatARunGives) {
  const Executable executable = rows();
  const Rows given(device(), 700, 1000, 1);
  const auto right = expected(given);
  EXPECT_EQ(all_numbers(executable.run(given.there), device()), right);
  std::vector<Pending> pending;
  for (int run = 0; run < 20; ++run) pending.push_back(executable.start(given.there));
  for (Pending& run : pending) EXPECT_EQ(all_numbers(run.wait(), device()), right);
}

TEST_F(Streams, TheCallersStreamAndContextAreUsedAndLeftAsTheyWere) {
  const CallersStream callers;
  const cuda::Driver& driver = callers.gpu().driver();
  const cuda::Gpu::Scope scope(callers.gpu());
  CUcontext before = nullptr, after = nullptr;
  ASSERT_EQ(driver.cuCtxPopCurrent(&before), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuCtxPushCurrent(before), CUDA_SUCCESS);
  const Executable executable = rows();
  const Rows given(device(), 300, 2000, 2);
  Pending pending = executable.start(given.there, callers.options());
  // What the run leaves is there for what the caller puts on the stream next.
  const Tensor& shares = std::get<Tensor>(pending.outputs().front());
  std::vector<float> copied(300 * 2000);
  ASSERT_EQ(driver.cuMemcpyDtoHAsync(copied.data(), reinterpret_cast<CUdeviceptr>(shares.data),
                                     copied.size() * sizeof(float), callers.stream()),
            CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamSynchronize(callers.stream()), CUDA_SUCCESS);
  EXPECT_TRUE(pending.ready());
  EXPECT_EQ(copied, expected(given).front());
  EXPECT_EQ(all_numbers(pending.wait(), device()), expected(given));
  ASSERT_EQ(driver.cuCtxPopCurrent(&after), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuCtxPushCurrent(before), CUDA_SUCCESS);
  EXPECT_EQ(before, after);
}

TEST_F(Streams, ThreadsWithStreamsOfTheirOwnDoNotDisturbEachOther) {
  const Executable executable = rows();
  constexpr int THREADS = 4, RUNS = 40;
  std::vector<CallersStream> streams(THREADS - 1);  // the last uses the GPU's own
  std::vector<std::thread> threads;
  std::array<int, THREADS> wrong{};
  for (int thread = 0; thread < THREADS; ++thread) {
    threads.emplace_back([&, thread] {
      const auto at = static_cast<std::size_t>(thread);
      const RunOptions options = at < streams.size() ? streams[at].options() : RunOptions();
      const Rows given(device(), 200 + 50 * thread, 500, static_cast<float>(thread + 1));
      const auto right = expected(given);
      for (int run = 0; run < RUNS; ++run) {
        Pending first = executable.start(given.there, options);
        Pending second = executable.start(given.there, options);
        wrong[at] += all_numbers(second.wait(), device()) != right;
        wrong[at] += all_numbers(first.wait(), device()) != right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::array<int, THREADS>{}));
}

TEST_F(Streams, AFailedIndexIsSaidAtTheWaitAndTheNextRunIsRight) {
  const Executable executable = rows();
  const Rows wrong(device(), 100, 100, 1, 100), right(device(), 100, 100, 1, 99);
  Pending failed = executable.start(wrong.there);
  Pending next = executable.start(right.there);
  for (int time = 0; time < 2; ++time) {
    try {
      failed.wait();
      FAIL();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("index 100 is out of range; expected 0 <= index < 100"),
                std::string::npos)
          << error.what();
    }
  }
  EXPECT_EQ(all_numbers(next.wait(), device()), expected(right));
  EXPECT_THROW(executable.run(wrong.there), Error);
  EXPECT_EQ(all_numbers(executable.run(right.there), device()), expected(right));
}

TEST_F(Streams, MissingMemoryIsAnErrorAndTheNextRunIsRight) {
  Builder builder("outer");
  const Symbol n("n"), m("m");
  const Value x = builder.input("x", DType::f32, {n});
  builder.size_parameter("m", m);
  builder.output(graph::unsqueeze(x, 1) + graph::cast(builder.iota({n, m}, 1), DType::f32));
  const Executable executable = compile(builder.take(), device());
  const std::vector<float> ones(1000, 1.0f);
  const Tensor given = device().upload(view_of(const_cast<float*>(ones.data()), DType::f32, {1000}));
  constexpr std::int64_t TOO_MANY = std::int64_t{1} << 28;
  try {
    executable.run(std::vector<Argument>{given, TOO_MANY});
    FAIL();
  } catch (const runtime::OutOfMemory& error) {
    EXPECT_EQ(error.asked_bytes(), 4 * 1000 * TOO_MANY);
    EXPECT_NE(std::string(error.what()).find(" bytes free"), std::string::npos) << error.what();
  }
  const auto outputs = executable.run(std::vector<Argument>{given, std::int64_t{3}});
  EXPECT_EQ(numbers(std::get<Tensor>(outputs.front()), device())[5], 3.0f);
}

TEST_F(Streams, MemoryThatIsKeptIsGivenToTheDriverWhenAskedFor) {
  constexpr std::int64_t BYTES = std::int64_t{1} << 30;
  runtime::allocate(DType::u8, {BYTES}, {1}, space().memory().get());
  const std::int64_t kept = space().free_bytes();
  device().release_memory();
  EXPECT_GE(space().free_bytes(), kept + BYTES);
}

TEST_F(Streams, LargeCopiesComeBackAsTheyWere) {
  for (const std::int64_t count : {1, 1000, 1 << 20, (6 << 20) + 17}) {
    const Tensor here = allocate(DType::i64, {count});
    std::iota(static_cast<std::int64_t*>(here.data), static_cast<std::int64_t*>(here.data) + count, 7);
    const Tensor back = device().download(device().upload(here));
    EXPECT_TRUE(std::equal(static_cast<std::int64_t*>(here.data),
                           static_cast<std::int64_t*>(here.data) + count,
                           static_cast<std::int64_t*>(back.data)))
        << count;
  }
}

TEST_F(Streams, KernelsSayWhatTheyTake) {
  const Executable executable = rows();
  const Rows given(device(), 10, 10, 1);
  for (const runtime::Step& step : executable.variant(given.there)->steps) {
    const auto resources = step.kernel->resources();
    ASSERT_TRUE(resources);
    EXPECT_GT(resources->registers, 0);
    EXPECT_GT(resources->threads, 0);
    EXPECT_GT(resources->blocks_each, 0);
  }
}

TEST_F(Streams, StepsAreTimedByTheGpu) {
  const Executable executable = rows();
  const Rows given(device(), 1000, 1000, 1);
  std::vector<double> times;
  RunOptions options;
  options.after_step = [&](std::size_t, double seconds) { times.push_back(seconds); };
  executable.run(given.there, options);
  EXPECT_EQ(times.size(), executable.variant(given.there)->steps.size());
  for (const double seconds : times) EXPECT_GT(seconds, 0);
}

// In a process of its own, whose GPU is lost for good.
void lose_the_gpu() {
  const Device device = Device::cuda(0, false);
  const Executable executable = compile(rows_graph(), device, {.mode = Mode::strict});
  const Rows given(device, 64, 64, 1);
  executable.run(given.there);
  Tensor wild = std::get<Tensor>(given.there.front());
  wild.data = reinterpret_cast<void*>(std::uintptr_t{1} << 20);
  for (int time = 0; time < 3; ++time) {
    try {
      executable.run(std::vector<Argument>{time == 0 ? wild : std::get<Tensor>(given.there.front()),
                                           given.there.back()});
      std::exit(1);
    } catch (const runtime::DeviceLost& error) {
      if (std::string(error.what()).find("CUDA_ERROR") == std::string::npos) std::exit(2);
    }
  }
  compile(rows_graph(), Device::cpu({.cache = false})).run(given.here);
  std::exit(0);
}

TEST_F(Streams, ALostGpuIsSaidEachTimeAndTheHostGoesOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lose_the_gpu(), testing::ExitedWithCode(0), "");
}

// In a process of its own, which forks after use of its GPU.
void fork_after_use() {
  const Device device = Device::cuda(0, false);
  const Executable executable = compile(rows_graph(), device, {.mode = Mode::strict});
  const Rows given(device, 64, 64, 1);
  const auto expected = all_numbers(executable.run(given.there), device);
  const pid_t child = ::fork();
  if (child == 0) {
    int refused = 0;
    const auto use = [&](const auto& uses) {
      try {
        uses();
      } catch (const runtime::DeviceLost&) {
        ++refused;
      }
    };
    use([&] { executable.run(given.there); });
    use([&] { device.download(std::get<Tensor>(given.there.front())); });
    use([] { Device::cuda(0, false); });
    compile(rows_graph(), Device::cpu({.cache = false})).run(given.here);
    ::_exit(refused == 3 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  std::exit(status == 0 && all_numbers(executable.run(given.there), device) == expected ? 0 : 2);
}

TEST_F(Streams, AChildForkedAfterUseGetsErrorsAndTheParentGoesOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fork_after_use(), testing::ExitedWithCode(0), "");
}

}  // namespace

}  // namespace twinloom::tests
