// Runs that are started and waited for later, on a device that works only when somebody waits: what lives how
// long, when failures are said, whose memory is used again, what happens when there is none.
#include <gtest/gtest.h>

#include <numeric>

#include "api/twinloom.h"
#include "core/runtime/memory_pool.h"
#include "tests/runtime/far.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {

namespace {

using runtime::Pending;

// y = the rows of `table` at the places, doubled; two kernels, the second reads what the first leaves.
Graph rows_graph() {
  Builder builder("rows");
  const Symbol n("n");
  const Value table = builder.input("table", DType::f32, {n, 4});
  const Value places = builder.input("places", DType::i64, {3});
  builder.output(graph::realize(graph::take(table, 0, places)) * 2.0);
  return builder.take();
}

struct Rows {
  explicit Rows(const runtime::Space& space, std::vector<std::int64_t> chosen = {4, 0, 2}) {
    std::vector<float> table(5 * 4);
    std::iota(table.begin(), table.end(), 1.0f);
    arguments = {runtime::uploaded(view_of(table.data(), DType::f32, {5, 4}), space),
                 runtime::uploaded(view_of(chosen.data(), DType::i64, {3}), space)};
  }
  std::vector<Argument> arguments;
};
const std::vector<float> EXPECTED = {34, 36, 38, 40, 2, 4, 6, 8, 18, 20, 22, 24};

std::vector<float> numbers(const std::vector<Output>& outputs, const runtime::Space& space) {
  const Tensor tensor = contiguous(runtime::downloaded(std::get<Tensor>(outputs.front()), space));
  const auto* data = static_cast<const float*>(tensor.data);
  return {data, data + runtime::element_count(tensor)};
}

Executable rows_on(const FarSpace& space) { return pipeline::compile(rows_graph(), far_backend(space)); }

TEST(Pending, IsNotReadyBeforeItIsWaitedFor) {
  const FarSpace space;
  const Executable executable = rows_on(space);
  const Rows rows(space);
  Pending pending = executable.start(rows.arguments);
  EXPECT_FALSE(pending.ready());
  EXPECT_EQ(numbers(pending.wait(), space), EXPECTED);
  EXPECT_TRUE(pending.ready());
  EXPECT_EQ(numbers(executable.run(rows.arguments), space), EXPECTED);
}

TEST(Pending, OutputsServeTheNextRunOfTheStream) {
  const FarSpace space;
  const Executable executable = rows_on(space);
  const Rows rows(space);
  Pending first = executable.start(rows.arguments);
  Pending second = executable.start(std::vector<Argument>{
      std::get<Tensor>(first.outputs().front()),
      runtime::uploaded(view_of(std::vector<std::int64_t>{2, 1, 0}.data(), DType::i64, {3}), space)});
  EXPECT_EQ(numbers(second.wait(), space).front(), 2 * EXPECTED[8]);
}

TEST(Pending, SaysAFailedIndexWhenItIsWaitedFor) {
  const FarSpace space;
  const Executable executable = rows_on(space);
  const Rows wrong(space, {4, 7, 2}), right(space);
  Pending failed = executable.start(wrong.arguments);
  Pending next = executable.start(right.arguments);
  for (int time = 0; time < 2; ++time) {
    EXPECT_NE(
        words_of<Error>([&] {
          failed.wait();
        }).find("index 7 is out of range; expected 0 <= index < 5; it is element 1 of its tensor's memory"),
        std::string::npos);
  }
  EXPECT_EQ(numbers(next.wait(), space), EXPECTED);
  EXPECT_NE(words_of<Error>([&] { executable.run(wrong.arguments); }).find("index 7"), std::string::npos);
}

TEST(Pending, KeepsWhatItNeeds) {
  const FarSpace space;
  std::optional<Pending> pending;
  {
    const Executable executable = rows_on(space);
    const Rows rows(space);
    pending.emplace(executable.start(rows.arguments));
  }
  EXPECT_EQ(numbers(pending->wait(), space), EXPECTED);
}

TEST(Pending, GivesAllMemoryBackAlsoWhenNobodyWaits) {
  const FarSpace space;
  {
    const Executable executable = rows_on(space);
    const Rows rows(space);
    executable.start(rows.arguments);
    const Rows wrong(space, {9, 9, 9});
    executable.start(wrong.arguments);
  }
  space.memory()->release();
  EXPECT_EQ(space.used_bytes(), 0);
}

TEST(Pending, IsReadyAtOnceOnTheHost) {
  const Executable executable = compile(rows_graph(), Device::cpu({.cache = false}));
  std::vector<float> table(5 * 4, 1.0f);
  std::vector<std::int64_t> places = {4, 0, 5};
  const std::vector<Argument> arguments = {view_of(table.data(), DType::f32, {5, 4}),
                                           view_of(places.data(), DType::i64, {3})};
  Pending failed = executable.start(arguments);
  EXPECT_TRUE(failed.ready());
  EXPECT_NE(words_of<Error>([&] { failed.wait(); }).find("index 5"), std::string::npos);
  places[2] = 1;
  EXPECT_EQ(std::get<Tensor>(executable.start(arguments).wait().front()).sizes,
            (std::vector<std::int64_t>{3, 4}));
}

TEST(Pending, WaitsForOutputsThatAreCopied) {
  const FarSpace space;
  const Executable executable = rows_on(space);
  const Rows rows(space);
  const Tensor turned = runtime::allocate(DType::f32, {3, 4}, {1, 3}, space.memory().get());
  Pending pending = executable.start(rows.arguments, {}, std::vector{turned});
  EXPECT_TRUE(pending.ready());
  EXPECT_EQ(numbers(pending.wait(), space), EXPECTED);
}

TEST(Pending, HearsOfEachStepWhenAllAreDone) {
  const FarSpace space;
  const Executable executable = rows_on(space);
  const Rows rows(space);
  std::vector<std::size_t> steps;
  RunOptions options;
  options.after_step = [&](std::size_t step, double seconds) {
    EXPECT_EQ(seconds, 1);
    steps.push_back(step);
  };
  Pending pending = executable.start(rows.arguments, options);
  EXPECT_TRUE(steps.empty());
  pending.wait();
  EXPECT_EQ(steps, (std::vector<std::size_t>{0, 1}));
}

TEST(Streams, HaveWorkAndMemoryOfTheirOwn) {
  const FarSpace space;
  const Executable executable = rows_on(space);
  const Rows rows(space);
  FarQueue one, other;
  RunOptions on_one, on_other;
  on_one.stream = &one;
  on_other.stream = &other;
  Pending first = executable.start(rows.arguments, on_one);
  Pending second = executable.start(rows.arguments, on_other);
  EXPECT_EQ(numbers(second.wait(), space), EXPECTED);
  EXPECT_EQ(one.done, 0u);
  EXPECT_EQ(numbers(first.wait(), space), EXPECTED);
}

TEST(Streams, UseMemoryAgainInTheirOrder) {
  const FarSpace space;
  runtime::MemoryPool& pool = *space.memory();
  FarQueue one, other;
  const auto* const of_one = pool.take(1000, &one).get();
  EXPECT_NE(pool.take(1000, &other).get(), of_one);
  EXPECT_NE(pool.take(1000).get(), of_one);
  EXPECT_EQ(pool.take(1000, &one).get(), of_one);
  EXPECT_EQ(space.orders(), 0);
  pool.release();
  const auto* const own = pool.take(1000).get();
  EXPECT_EQ(pool.take(1000, &one).get(), own);
  EXPECT_EQ(space.orders(), 1);  // the caller's stream waits for the GPU's own
}

TEST(Memory, IsAskedForOnceMoreWhenWhatIsKeptIsGivenBack) {
  const FarSpace space(3000);
  runtime::MemoryPool& pool = *space.memory();
  pool.take(1000).reset();
  EXPECT_EQ(space.used_bytes(), 1000);
  EXPECT_NE(pool.take(2500), nullptr);
  EXPECT_EQ(space.trims(), 1);
  EXPECT_EQ(pool.take(3500), nullptr);
}

TEST(Memory, ThatIsNotThereIsAnErrorAndTheNextRunIsRight) {
  const FarSpace space(4096);
  const Executable executable = rows_on(space);
  const Rows rows(space);
  const auto large = [&] { allocate(DType::f32, {1000, 10}, {10, 1}, space.memory().get()); };
  const std::string words = words_of<runtime::OutOfMemory>(large);
  EXPECT_EQ(words, cat("no memory for a tensor of f32[1000, 10] (40000 bytes); GPU 3 has ",
                       space.free_bytes(), " bytes free"));
  EXPECT_EQ(numbers(executable.run(rows.arguments), space), EXPECTED);
}

TEST(LostDevice, IsAnErrorOfItsOwnAndTheHostGoesOn) {
  const FarSpace space;
  const Executable executable = rows_on(space);
  const Rows rows(space);
  Pending pending = executable.start(rows.arguments);
  space.lose();
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ(words_of<runtime::DeviceLost>([&] { pending.wait(); }), "the far device is lost");
  EXPECT_EQ(words_of<runtime::DeviceLost>([&] { executable.run(rows.arguments); }), "the far device is lost");
  const Executable on_host = compile(rows_graph(), Device::reference());
  std::vector<float> table(5 * 4, 1.0f);
  const std::vector<std::int64_t> places = {4, 0, 2};
  EXPECT_NO_THROW(
      on_host.run(std::vector<Argument>{view_of(table.data(), DType::f32, {5, 4}),
                                        view_of(const_cast<std::int64_t*>(places.data()), DType::i64, {3})}));
}

}  // namespace

}  // namespace twinloom::tests
