// What threads ask for at the same time is made once.
#include "core/base/make_once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

namespace twinloom::tests {

TEST(MakeOnce, ThreadsThatAskAtTheSameTimeShareWhatIsMade) {
  constexpr int THREADS = 8;
  MakeOnce making;
  std::atomic<int> made = 0, same = 0;
  std::latch asked(THREADS - 1);
  const auto ask = [&] {
    same += making.get("key", [&] {
      ++made;
      asked.wait();  // until the others are about to ask
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return std::string("code");
    }) == "code";
  };
  std::thread first(ask);
  while (made == 0) std::this_thread::yield();
  std::vector<std::thread> others;
  for (int k = 1; k < THREADS; ++k)
    others.emplace_back([&] {
      asked.count_down();
      ask();
    });
  first.join();
  for (std::thread& other : others) other.join();
  EXPECT_EQ(same, THREADS);
  EXPECT_LT(made, THREADS);  // one that was stopped for long asks for it anew
}

TEST(MakeOnce, NothingIsKept) {
  MakeOnce making;
  int made = 0;
  for (int k = 0; k < 2; ++k) making.get("key", [&] { return std::to_string(++made); });
  EXPECT_EQ(made, 2);
}

TEST(MakeOnce, AFailureIsOfAllWhoWait) {
  MakeOnce making;
  const auto fail = []() -> std::string { throw std::runtime_error("no room"); };
  EXPECT_THROW(making.get("key", fail), std::runtime_error);
  EXPECT_EQ(making.get("key", [] { return std::string("code"); }), "code");
}

}  // namespace twinloom::tests
