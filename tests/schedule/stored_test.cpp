// Schedules in files: kept, replayed by nests that are the same, refused in words, written side by side; and
// texts of schedules that are damaged.
#include "core/schedule/stored.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <filesystem>
#include <random>
#include <sstream>
#include <thread>

#include "core/base/error.h"
#include "core/base/files.h"
#include "tests/schedule/nests.h"
#include "tests/schedule/run.h"
#include "tests/support/schedules/random_schedule.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {

namespace {

using schedule::StoredFile;
using schedule::StoredSchedule;

constexpr std::string_view SOFTMAX =
    R"(program k0_softmax(in0: f32[64*m], out1: written f32[64*m]; m in 1..512) {
  for i < m { start t0: max f32 for k < 64 { t0 += in0[64*i + k] at k }
    for k1 < 64 { out1[64*i + k1] = sub(in0[64*i + k1], t0) } } })";
constexpr std::string_view RENAMED =
    R"(program k9_other(a: f32[64*n], b: written f32[64*n]; n in 1..512 ~ 99) {
  for i < n { start t0: max f32 for k < 64 { t0 += a[64*i + k] at k }
    for k1 < 64 { b[64*i + k1] = sub(a[64*i + k1], t0) } } })";
constexpr std::string_view PLAN = R"(schedule
  split 0 k : 8 exact
  split 1 k1 : 8 exact
  loop -1 i.0 block
  loop 0 k.0 serial
  loop 0 k.1 vector
  loop 1 k1.0 serial
  loop 1 k1.1 vector
  prefetch in0 in 0 ahead 1
  stream out1
)";

constexpr std::string_view PRODUCT =
    R"(program k0_sum(a: f32[64*128], w: f32[128*32], y: written f32[64*32]) {
  for i < 64 { for j < 32 { start t0: sum f32 free
    for r < 128 { t0 += mul(a[i*128 + r], w[r*32 + j]) at r } y[i*32 + j] = t0 } } })";
constexpr std::string_view PRODUCT_PLAN = R"(schedule
  split i 8 exact
  split j 8 exact
  split r 16 exact
  reorder i.0, j.0, r.0, i.1, r.1, j.1
  cache w at r.0 in scratch
  cache t0 at r.0 in registers
  bind i.0 block
  bind j.1 vector
)";

class Stored : public testing::Test {
 protected:
  StoredFile file(const loops::Program& of, int threads = 2) const {
    return StoredFile(folder, of, machine, threads);
  }
  std::string kept() const {
    file(nest).write({schedule::parse(PLAN), 1.234e-5, 2e-5});
    return read_bytes(file(nest).path(), 1 << 20);
  }
  std::string message_for(const std::string& text) const {
    write_whole(file(nest).path(), text);
    return words_of<Error>([&] { file(nest).read(); });
  }

  ScratchFolder scratch;
  std::filesystem::path folder = scratch.path();
  const loops::Program nest = loops::parse(SOFTMAX), renamed = loops::parse(RENAMED);
  const machine::Machine machine = machines().front();
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in\n" << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST_F(Stored, IsTextAndReadBack) {
  EXPECT_EQ(file(nest).read(), std::nullopt);
  const std::string text = kept();
  EXPECT_TRUE(text.starts_with("twinloom_schedule 1\nnest \"")) << text;
  EXPECT_NE(text.find("\nmachine \"cpu-avx2, 2 threads, "), std::string::npos) << text;
  EXPECT_NE(
      text.find("\nsizes \"size0 in 1..512\"\nseconds 1.23e-05 usual 2.00e-05\nschedule\n  split 0 k : 8"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  prefetch b0 in 0 ahead 1\n  stream b1\n# program nest(b0: f32[64*size0]"),
            std::string::npos)
      << text;
  const auto stored = file(nest).read();
  ASSERT_TRUE(stored);
  EXPECT_EQ(print(stored->schedule), PLAN);
  EXPECT_EQ(stored->seconds, 1.23e-5);
  EXPECT_EQ(stored->usual_seconds, 2e-5);
}

TEST_F(Stored, ServesNestsOfOtherNames) {
  kept();
  const auto stored = file(renamed).read();
  ASSERT_TRUE(stored);
  EXPECT_EQ(print(stored->schedule), replaced(replaced(std::string(PLAN), "in0", "a"), "out1", "b"));
  EXPECT_EQ(file(renamed).path(), file(nest).path());
}

TEST_F(Stored, StepsServeNestsOfOtherNames) {
  const loops::Program one = loops::parse(PRODUCT);
  loops::Program other = one;
  other.name = "k7_sum";
  for (loops::BufferInfo& buffer : other.buffers) buffer.name = cat("t", buffer.name.front() - 'a');
  ASSERT_EQ(schedule::why_illegal(one, schedule::parse(PRODUCT_PLAN)), std::nullopt);
  file(one).write({schedule::parse(PRODUCT_PLAN), 1e-5, 2e-5});
  EXPECT_NE(read_bytes(file(one).path(), 1 << 20).find("  cache b1 at r.0 in scratch\n  cache t0 at r.0 in"),
            std::string::npos);
  EXPECT_EQ(print(file(one).read()->schedule), PRODUCT_PLAN);
  const std::string of_other = print(file(other).read()->schedule);
  EXPECT_EQ(of_other, replaced(std::string(PRODUCT_PLAN), "cache w", cat("cache t", 'w' - 'a')));
}

TEST_F(Stored, OthersHaveFilesOfTheirOwn) {
  kept();
  EXPECT_EQ(file(nest, 3).read(), std::nullopt);
  machine::Machine calibrated = machine;
  calibrated.clock_hertz *= 1.1;
  EXPECT_EQ(StoredFile(folder, nest, calibrated, 2).read(), std::nullopt);
  const loops::Program wider = loops::parse(replaced(std::string(SOFTMAX), "1..512", "1..4096"));
  EXPECT_EQ(file(wider).read(), std::nullopt);
  // Whatever it is called: a file says itself what it is for.
  std::filesystem::rename(file(nest).path(), file(wider).path());
  EXPECT_EQ(file(wider).read(), std::nullopt);
}

TEST_F(Stored, WhatIsEditedIsUsed) {
  const std::string text = replaced(kept(), "  stream b1\n", "  # as usual\n");
  write_whole(file(nest).path(), text);
  EXPECT_EQ(print(file(nest).read()->schedule), replaced(std::string(PLAN), "  stream out1\n", ""));
}

TEST_F(Stored, MistakesAreSaidWithFileAndLine) {
  const std::string text = kept(), name = cat("'", file(nest).path().string(), "': ");
  struct Case {
    std::string text, words;
  };
  const std::string illegal = "the schedule in line 6 is not legal for kernel 'k0_softmax': ";
  for (const Case& one : {
           Case{"", "schedule file line 1 column 1: expected 'twinloom_schedule'"},
           Case{replaced(text, "schedule 1", "schedule 2"),
                "schedule file line 1: its version is 2; this Twinloom reads version 1"},
           Case{replaced(text, "vector", "vectr"),
                "schedule file line 11 column 14: expected serial or unroll or"},
           Case{text.substr(0, text.find("seconds")), "schedule file line 5 column 1: expected 'seconds'"},
           Case{text.substr(0, text.find("exact")), "schedule file line 7 column 17: expected exact or mask"},
           Case{replaced(text, "\nschedule\n", "\n"), "schedule file line 6 column 3: expected 'schedule'"},
           Case{replaced(text, "stream b1", "stream in0"),
                illegal + "the nest has no buffer 'in0'; its buffers are b0, b1"},
           Case{replaced(text, "loop -1 i.0 block\n", "\n"),
                illegal + "piece i.0 of the common loops has no loop"},
           Case{replaced(text, "k : 8", "k : 7"),
                illegal + "loop k.1: a vector loop needs a power of two of turns; it has 7"},
           Case{replaced(replaced(text, "0 k.1 vector", "0 k.1 thread"), "split 0 k : 8", "split 0 k : 16"),
                illegal + "its blocks have threads, and those of cpu-avx2 have none"},
           Case{replaced(text, "loop 0 ", "loop 4294967296 "),
                "schedule file line 10 column 19: expected an integer from -1073741824 to "
                "1073741824 before this"},
       })
    EXPECT_TRUE(message_for(one.text).starts_with(name + one.words)) << message_for(one.text) << "\n"
                                                                     << one.words;
}

// Each lane has two quotients by a size of its own.
TEST_F(Stored, MoreTextThanACompilerIsGivenIsRefused) {
  const loops::Program looked_up =
      loops::parse(R"(program k0_copy(in0: f32[1024], out1: written f32[512]; m in 1..32) {
  for i < 512 { out1[i] = in0[floor_div(i, m) + 16*floor_mod(i, m)] } })");
  const std::string_view plan = "schedule\n  loop -1 i.0 vector\n";
  ASSERT_FALSE(schedule::why_illegal(looked_up, schedule::parse(plan)));
  file(looked_up).write({schedule::parse(plan), 1e-5, 2e-5});
  const std::string words = words_of<Error>([&] { file(looked_up).read(); });
  EXPECT_TRUE(words.ends_with(
      "is not legal for kernel 'k0_copy': its text would have about 99546 instructions where loops are "
      "written out; a compiler is given at most 65536"))
      << words;
}

TEST_F(Stored, WritersSideBySideLeaveAWholeFile) {
  const std::string other = replaced(std::string(PLAN), "  stream out1\n", "");
  std::atomic<bool> done = false;
  std::vector<std::jthread> writers;
  kept();
  for (const std::string& plan : {std::string(PLAN), other})
    writers.emplace_back([&, plan] {
      for (int round = 0; round < 300; ++round) file(nest).write({schedule::parse(plan), 1e-5, 2e-5});
      done = true;
    });
  while (!done) {
    const auto stored = file(nest).read();
    ASSERT_TRUE(stored);
    EXPECT_TRUE(print(stored->schedule) == PLAN || print(stored->schedule) == other);
  }
  writers.clear();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(Stored, WhatCannotBeWrittenIsAnError) {
  const StoredFile nowhere(folder / "missing", nest, machine, 2);
  EXPECT_NE(words_of<Error>([&] {
              nowhere.write({schedule::parse(PLAN), 1e-5, 2e-5});
            }).find("cannot write '"),
            std::string::npos);
}

bool is_number(const std::string& token) { return std::isdigit(static_cast<unsigned char>(token[0])) != 0; }

// A text with a token or two replaced: a number mostly by a number, a word by a word.
std::string damaged(const std::string& text, std::mt19937_64& random) {
  std::vector<std::string> tokens, numbers = {"0", "-1", "3", "8", "1024", "1048576", "1073741824"},
                                   words = {"mask", "clip", "vector", "thread"};
  std::istringstream stream(text);
  for (std::string token; stream >> token;) {
    (is_number(token) ? numbers : words).push_back(token);
    tokens.push_back(token);
  }
  for (std::size_t times = 1 + random() % 2; times > 0; --times) {
    std::string& token = tokens[random() % tokens.size()];
    const auto& others = is_number(token) != (random() % 10 == 0) ? numbers : words;
    token = others[random() % others.size()];
  }
  return join(tokens, " ", [](const std::string& token) { return token; });
}

struct Fates {
  int broken = 0, illegal = 0, legal = 0;
};

// Of what is read and is legal the programs can be made.
void read_and_apply(const loops::Program& nest, const std::string& text, Fates& fates) {
  SCOPED_TRACE(cat(nest.name, ": ", text));
  try {
    const schedule::Schedule plan = schedule::parse(text);
    if (schedule::why_illegal(nest, plan)) {
      ++fates.illegal;
      return;
    }
    for (const loops::Program& program : schedule::apply(nest, plan))
      loops::verify(program, loops::Stage::program);
    ++fates.legal;
  } catch (const Error&) {
    ++fates.broken;
  } catch (const std::exception& problem) {
    ADD_FAILURE() << problem.what();
  }
}

TEST(DamagedSchedules, EndAsProgramsOrInWords) {
  std::mt19937_64 random(11);
  Fates fates;
  for (const NestCase& one : nest_cases()) {
    const loops::Program nest = loops::parse(one.text);
    std::vector<std::string> texts(one.schedules.begin(), one.schedules.end());
    for (const machine::Machine& machine : machines())
      texts.push_back(print(schedule::choose(nest, machine)));
    for (int round = 0; round < 400; ++round)
      read_and_apply(nest, damaged(texts[random() % texts.size()], random), fates);
  }
  const loops::Program product = loops::parse(PRODUCT);
  for (int round = 0; round < 400; ++round)
    read_and_apply(product, damaged(std::string(PRODUCT_PLAN), random), fates);
  EXPECT_GT(fates.broken, 300);
  EXPECT_GT(fates.illegal, 300);
  EXPECT_GT(fates.legal, 300);
}

}  // namespace
}  // namespace twinloom::tests
