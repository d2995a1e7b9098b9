// Logs by the C API and by the header over it.
#include <gtest/gtest.h>

#include <twinloom/twinloom.hpp>

#include <array>
#include <map>

#include "tests/api/failures.h"

namespace twinloom {
namespace {

// Softmax of rows, compiled and run once for each number of rows.
void run_rows(std::initializer_list<std::int64_t> heights) {
  Builder builder("rows");
  const Node x = builder.input("x", float32, {"n", 4});
  builder.output(softmax(x * 2.0, -1));
  const Executable executable(builder.take(), Device("cpu", {"", /*cache=*/false}));
  for (const std::int64_t height : heights) {
    std::vector<float> rows(static_cast<std::size_t>(height) * 4, 1.0F);
    executable.run({Tensor::view(rows.data(), {height, 4})});
  }
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + '\n';
  return all;
}

TEST(ApiLog, ACallbackHearsWhatBecomesOfAGraph) {
  std::map<std::string, std::vector<std::string>> heard;
  set_log("all",
          [&](std::string_view log, std::string_view text) { heard[std::string(log)].emplace_back(text); });
  run_rows({3, 3, 0});
  set_log("");
  run_rows({3});
  EXPECT_NE(joined(heard["fusion"]).find(" computes 'mul', '_softmax'"), std::string::npos)
      << joined(heard["fusion"]);
  EXPECT_NE(joined(heard["schedule"]).find(" us: split "), std::string::npos) << joined(heard["schedule"]);
  EXPECT_EQ(joined(heard["guards"]),
            "the first variant is made: n = 3, row-major\n"
            "the variant of the same arguments before serves\n"
            "a variant is made, for none of 1 has these strides and zero sizes: n = 0, row-major\n");
  EXPECT_NE(joined(heard["code"]).find(":\n"), std::string::npos);
  EXPECT_NE(joined(heard["code"]).find("extern \"C\""), std::string::npos) << joined(heard["code"]);
  EXPECT_TRUE(heard["cache"].empty()) << "the device has none";
}

TEST(ApiLog, AnUnknownNameIsAnError) {
  c::expect_invalid(
      twinloom_set_log("cache,gards", nullptr, nullptr),
      "there is no log 'gards'; logs are fusion, schedule, guards, code, cache and all; did you "
      "mean 'guards'?");
  EXPECT_THROW(set_log("gards"), Error);
}

TEST(ApiLog, InCTheContextIsHandedOnAndNullTurnsAllOff) {
  struct Heard {
    int events = 0;
    std::string last;
  } heard;
  const twinloom_log count = [](void* context, const char* log, const char* text) {
    auto* into = static_cast<Heard*>(context);
    ++into->events;
    into->last = std::string(log) + ": " + text;
  };
  c::expect_ok(twinloom_set_log("guards", count, &heard));
  run_rows({5});
  c::expect_ok(twinloom_set_log(nullptr, nullptr, nullptr));
  run_rows({5});
  EXPECT_EQ(heard.events, 1);
  EXPECT_EQ(heard.last, "guards: the first variant is made: n = 5, row-major");
}

}  // namespace
}  // namespace twinloom
