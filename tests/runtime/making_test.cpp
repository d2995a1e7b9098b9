// While a variant is made others run; one that two threads want is made once; one that could not be made is
// tried again.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include "api/twinloom.h"
#include "core/base/error.h"

namespace twinloom::tests {
namespace {

using Variant = std::shared_ptr<const runtime::Variant>;

// Makes variants that cannot run; of transposed tensors it waits for `go_on` first.
class SlowMaker {
 public:
  Executable executable() {
    Builder builder("rows");
    const Symbol n("n"), m("m");
    builder.output(builder.input("x", DType::f32, {n, m}) * 2.0);
    return {builder.take(), [this](const runtime::Request& asked) { return make(asked); }};
  }

  std::atomic<int> made = 0, failures_left = 0;
  std::latch begun{1}, go_on{1};

 private:
  Variant make(const runtime::Request& asked) {
    ++made;
    if (failures_left-- > 0) throw Error("it cannot be made");
    if (asked.layouts.empty()) return std::make_shared<const runtime::Variant>();
    if (made == 2) begun.count_down();
    go_on.wait();
    return std::make_shared<const runtime::Variant>();
  }
};

std::vector<Argument> matrix(bool transposed) {
  return {transposed ? view_of(nullptr, DType::f32, {5, 7}, {1, 5}) : view_of(nullptr, DType::f32, {5, 7})};
}

TEST(Making, OthersAreFoundMeanwhile) {
  SlowMaker maker;
  const Executable executable = maker.executable();
  const Variant known = executable.variant(matrix(false));
  auto slow = std::async(std::launch::async, [&] { return executable.variant(matrix(true)); });
  maker.begun.wait();
  EXPECT_EQ(executable.variant(matrix(false)), known);
  maker.go_on.count_down();
  EXPECT_NE(slow.get(), known);
  EXPECT_EQ(maker.made, 2);
}

TEST(Making, TwoThreadsThatWantOneHaveItMadeOnce) {
  SlowMaker maker;
  const Executable executable = maker.executable();
  executable.variant(matrix(false));
  const auto want = [&] { return executable.variant(matrix(true)); };
  auto first = std::async(std::launch::async, want), second = std::async(std::launch::async, want);
  maker.begun.wait();
  maker.go_on.count_down();
  EXPECT_EQ(first.get(), second.get());
  EXPECT_EQ(maker.made, 2);
}

TEST(Making, WhatFailedIsTriedAgain) {
  SlowMaker maker;
  maker.failures_left = 1;
  const Executable executable = maker.executable();
  EXPECT_THROW(executable.variant(matrix(false)), Error);
  EXPECT_NE(executable.variant(matrix(false)), nullptr);
  EXPECT_EQ(maker.made, 2);
}

}  // namespace
}  // namespace twinloom::tests
