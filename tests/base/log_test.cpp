// Named logs: which events are heard, and by whom. That of the environment is tested with the program.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/log.h"

namespace twinloom {
namespace {

class Logs : public testing::Test {
 protected:
  ~Logs() override { logging::set(""); }
  void hear(std::string_view names) {
    logging::set(names, [this](Log log, std::string_view text) {
      heard.push_back(cat(logging::name(log), ": ", text));
    });
  }
  std::vector<std::string> heard;
};

TEST_F(Logs, OnlyThoseThatAreAskedForAreHeardAndMade) {
  int made = 0;
  const auto say = [&](Log log) { logging::event(log, [&] { return cat("text ", ++made); }); };
  hear("cache,fusion");
  for (const Log log : {Log::fusion, Log::schedule, Log::guards, Log::code, Log::cache}) say(log);
  EXPECT_EQ(heard, (std::vector<std::string>{"fusion: text 1", "cache: text 2"}));
  EXPECT_TRUE(logging::is_on(Log::cache));
  EXPECT_FALSE(logging::is_on(Log::code));
  hear("");
  say(Log::fusion);
  EXPECT_EQ(made, 2);
  hear("all");
  for (const std::string_view name : logging::names) EXPECT_TRUE(logging::is_on(Log::code)) << name;
}

TEST_F(Logs, AnUnknownNameIsAnErrorAndChangesNothing) {
  hear("guards");
  try {
    logging::set("guards,fusoin");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "there is no log 'fusoin'; logs are fusion, schedule, guards, code, cache and all; did you mean "
        "'fusion'?");
  }
  logging::event(Log::guards, [] { return "still"; });
  EXPECT_EQ(heard, std::vector<std::string>{"guards: still"});
}

TEST_F(Logs, WithoutASinkAnEventIsALineOnTheErrorStream) {
  logging::set("code");
  testing::internal::CaptureStderr();
  logging::event(Log::code, [] { return "kernel a:\nint b;"; });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "twinloom code: kernel a:\n  int b;\n");
}

TEST_F(Logs, ASinkMaySetAnother) {
  logging::set("cache", [this](Log, std::string_view) { hear("cache"); });
  for (int time = 0; time < 2; ++time) logging::event(Log::cache, [] { return "event"; });
  EXPECT_EQ(heard, std::vector<std::string>{"cache: event"});
}

// The sink is alone with what it changes, and is not called any more when set() returns.
TEST_F(Logs, EventsOfThreadsComeOneByOne) {
  std::vector<std::thread> threads;
  std::atomic<bool> stop = false;
  hear("cache");
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      while (!stop) logging::event(Log::cache, [] { return "event"; });
    });
  for (int time = 0; time < 100; ++time) {
    logging::set("");
    const std::size_t count = heard.size();
    std::this_thread::yield();
    EXPECT_EQ(heard.size(), count);
    hear("cache");
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace twinloom
