// Processes that share a folder, and processes that are killed while they write.
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "core/base/text.h"
#include "core/object_cache/entry.h"
#include "tests/object_cache/place.h"

namespace twinloom::tests {
namespace {

using namespace object_cache;

constexpr int process_count = 16;

// Zero where whatever was found is what belongs there and the last one stored is found.
int use_cache(const Options& options, const std::function<int(int turn)>& number_of, bool all_stay) {
  const ObjectCache cache(options);
  for (int turn = 0; turn < 60; ++turn) {
    const int number = number_of(turn);
    const auto found = cache.find(key_of(number));
    if (found && *found != payload_of(number)) return 1;
    if (!found) cache.store(key_of(number), payload_of(number));
    if (all_stay && cache.find(key_of(number)) != payload_of(number)) return 2;
    if (turn % 20 == 7) cache.entries();
  }
  return cache.warning().empty() ? 0 : 3;
}

void expect_shared(const Options& options, const std::function<int(int self, int turn)>& number_of,
                   bool all_stay) {
  std::vector<int> processes;
  for (int self = 0; self < process_count; ++self) {
    processes.push_back(start_process([&] {
      return use_cache(
          options, [&](int turn) { return number_of(self, turn); }, all_stay);
    }));
  }
  for (const int process : processes) EXPECT_EQ(end_of(process), 0);
}

class Processes : public testing::TestWithParam<Temporary> {
 protected:
  Options options() const {
    Options options = folder.options();
    options.temporary = GetParam();
    return options;
  }
  // Files that are neither temporaries nor whole entries under their name.
  int bad_files() const {
    int bad = 0;
    for (const std::string& name : folder.names()) {
      const auto content = unpack(read_bytes(folder.cache_path() / name));
      bad += is_file_name(name, 32) && !(content && file_name(content->key, 32) == name);
    }
    return bad;
  }
  std::ptrdiff_t temporaries() const {
    return std::ranges::count_if(folder.names(),
                                 [](const std::string& name) { return !is_file_name(name, 32); });
  }

  TestFolder folder;
};

TEST_P(Processes, ShareTheSameKeys) {
  expect_shared(
      options(), [](int, int turn) { return turn % 7; }, true);
  EXPECT_EQ(folder.names().size(), 7u);
  EXPECT_EQ(bad_files(), 0);
}

TEST_P(Processes, HaveKeysOfTheirOwn) {
  expect_shared(
      options(), [](int self, int turn) { return 100 * self + turn; }, true);
  EXPECT_EQ(folder.names().size(), 60u * process_count);
  EXPECT_EQ(bad_files(), 0);
}

TEST_P(Processes, MakeRoomForEachOther) {
  Options small = options();
  small.most_bytes = 40 * static_cast<std::int64_t>(pack(key_of(1000), payload_of(1000)).size());
  expect_shared(
      small, [](int self, int turn) { return 1000 + (17 * self + turn) % 200; }, false);
  EXPECT_EQ(bad_files(), 0);
  EXPECT_EQ(temporaries(), 0);
  // Each process may be behind by a sixteenth of the limit; one that counts brings it down.
  const ObjectCache last(small);
  last.store(key_of(5000), payload_of(5000));
  EXPECT_LE(folder.names().size(), 40u);
}

// The writer stores entries of up to 300 kB as fast as it can and is killed at a random moment.
TEST_P(Processes, AKilledWriterDoesNoHarm) {
  const auto seed = static_cast<unsigned>(std::time(nullptr));
  SCOPED_TRACE(cat("seed ", seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 100; ++round) {
    const int writer = start_process([&] {
      const ObjectCache cache(options());
      for (int turn = 0; turn < 1'000'000; ++turn)
        cache.store(key_of(10'000 * round + turn),
                    std::string(static_cast<std::size_t>(turn % 30) * 10'000, 'x'));
      return 0;
    });
    usleep(static_cast<useconds_t>(random() % 12'000));
    kill(writer, SIGKILL);
    EXPECT_EQ(end_of(writer), 256 + SIGKILL);
    ASSERT_EQ(bad_files(), 0) << "round " << round;
    // The next writer that counts the folder cleans up.
    ASSERT_LE(temporaries(), round + 1);
    const ObjectCache reader(options());
    for (const Entry& entry : reader.entries()) ASSERT_TRUE(reader.find(entry.key));
    if (round % 10 == 9) {
      reader.store(key_of(-round), payload_of(round));
      EXPECT_EQ(temporaries(), 0);
      reader.clear();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Processes, testing::Values(Temporary::unnamed, Temporary::named),
                         [](const auto& way) {
                           return std::string(way.param == Temporary::unnamed ? "unnamed" : "named");
                         });

// A temporary that somebody still writes stays.
TEST(Temporaries, OnlyAbandonedOnesGo) {
  TestFolder folder;
  Options options = folder.options();
  options.temporary = Temporary::named;
  ObjectCache(options).store(key_of(0), payload_of(0));
  write_bytes(folder.cache_path() / ".tmp-1-0000000000000000", "half of an ent");
  ObjectCache(options).store(key_of(1), payload_of(1));
  EXPECT_EQ(folder.names().size(), 2u);
}

}  // namespace
}  // namespace twinloom::tests
