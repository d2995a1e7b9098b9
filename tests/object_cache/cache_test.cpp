// One process: what is found, what is not, what is healed, what has to go.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "core/object_cache/entry.h"
#include "tests/object_cache/place.h"

namespace twinloom::tests {
namespace {

using namespace object_cache;

class Cache : public testing::Test {
 protected:
  void fill(int count) const {
    for (int number = 0; number < count; ++number) cache.store(key_of(number), payload_of(number));
  }
  // The file is a miss and goes; what is stored then is found again.
  void expect_healed(int number, const std::string& words) const {
    EXPECT_FALSE(cache.find(key_of(number))) << words;
    EXPECT_TRUE(folder.names().empty()) << words;
    cache.store(key_of(number), payload_of(number));
    EXPECT_EQ(cache.find(key_of(number)), payload_of(number)) << words;
    EXPECT_EQ(cache.warning(), "") << words;
  }
  // As if the file had last been used so many seconds ago.
  void make_old(int number, std::int64_t seconds) const {
    const timespec then{std::time(nullptr) - seconds, 0};
    const timespec times[2] = {then, then};
    const auto file = folder.cache_path() / file_name(key_of(number), 32);
    ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }

  TestFolder folder;
  ObjectCache cache{folder.options()};
};

TEST_F(Cache, FindsWhatWasStoredAndNothingElse) {
  EXPECT_FALSE(cache.find(key_of(1)));
  EXPECT_FALSE(std::filesystem::exists(folder.cache_path())) << "looking writes nothing";
  cache.store(key_of(1), payload_of(1));
  EXPECT_EQ(cache.find(key_of(1)), payload_of(1));
  EXPECT_FALSE(cache.find(key_of(2)));
  EXPECT_EQ(ObjectCache(folder.options()).find(key_of(1)), payload_of(1));
  cache.remove(key_of(1));
  EXPECT_FALSE(cache.find(key_of(1)));
  EXPECT_EQ(cache.warning(), "");
  struct stat status {};
  ASSERT_EQ(stat(folder.cache_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(Cache, AnotherTextInAnyFieldIsAMiss) {
  cache.store(key_of(1), payload_of(1));
  for (std::size_t at = 0; at < key_of(1).size(); ++at) {
    Key text = key_of(1), name = key_of(1), fewer = key_of(1);
    text[at].text += ' ';
    name[at].name += 's';
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
    for (const Key& other : {text, name, fewer}) EXPECT_FALSE(cache.find(other)) << at;
  }
  EXPECT_EQ(cache.find(key_of(1)), payload_of(1));
}

// With names of one digit many keys share a file; the keys themselves are compared.
TEST_F(Cache, KeysWhoseNamesMeetAreNotMixedUp) {
  Options options = folder.options();
  options.name_digits = 1;
  const ObjectCache crowded(options);
  int hits = 0;
  for (int round = 0; round < 2; ++round) {
    for (int number = 0; number < 200; ++number) {
      const auto found = crowded.find(key_of(number));
      EXPECT_EQ(found.value_or(payload_of(number)), payload_of(number));
      hits += found.has_value();
      crowded.store(key_of(number), payload_of(number));
    }
  }
  EXPECT_EQ(folder.names().size(), 16u);
  EXPECT_EQ(hits, 16);
}

TEST_F(Cache, DamageIsAMissAndIsHealed) {
  cache.store(key_of(1), payload_of(1));
  const std::string good = read_bytes(folder.only_file());
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    write_bytes(folder.only_file(), bad);
    expect_healed(1, "byte " + std::to_string(at));
  }
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{48},
                                   good.size() / 2, good.size() - 16, good.size() - 1}) {
    write_bytes(folder.only_file(), good.substr(0, length));
    expect_healed(1, "length " + std::to_string(length));
  }
  write_bytes(folder.only_file(), std::string(good.size(), '\0'));
  expect_healed(1, "zeros");
  write_bytes(folder.only_file(), "something else altogether");
  expect_healed(1, "foreign");
}

TEST_F(Cache, ExchangedFilesAreMissesAndGo) {
  fill(2);
  const auto one = folder.cache_path() / file_name(key_of(0), 32);
  const auto two = folder.cache_path() / file_name(key_of(1), 32);
  const std::string bytes = read_bytes(one);
  write_bytes(one, read_bytes(two));
  write_bytes(two, bytes);
  EXPECT_FALSE(cache.find(key_of(0)));
  EXPECT_FALSE(cache.find(key_of(1)));
  EXPECT_TRUE(folder.names().empty());
}

TEST_F(Cache, WhatIsNoFileIsAMiss) {
  fill(1);
  const auto file = folder.only_file();
  const auto elsewhere = folder.path() / "elsewhere";
  std::filesystem::rename(file, elsewhere);
  std::filesystem::create_symlink(elsewhere, file);
  expect_healed(0, "link");
  EXPECT_TRUE(std::filesystem::exists(elsewhere));
  std::filesystem::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  expect_healed(0, "pipe");
  std::filesystem::permissions(file, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  expect_healed(0, "written by others");
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  EXPECT_FALSE(cache.find(key_of(0)));
  cache.store(key_of(0), payload_of(0));
  EXPECT_FALSE(cache.find(key_of(0)));
}

TEST_F(Cache, ListsAndClearsItsFilesOnly) {
  EXPECT_TRUE(cache.entries().empty());
  EXPECT_EQ(cache.clear().entries, 0);
  fill(3);
  write_bytes(folder.cache_path() / "notes.txt", "mine");
  write_bytes(folder.cache_path() / file_name(key_of(7), 32), "damaged");
  const auto entries = cache.entries();
  ASSERT_EQ(entries.size(), 3u);
  for (const Entry& entry : entries) {
    EXPECT_EQ(entry.payload_bytes, static_cast<std::int64_t>(payload_of(0).size()));
    EXPECT_GT(entry.file_bytes, entry.payload_bytes);
    EXPECT_NEAR(static_cast<double>(entry.stored_seconds), static_cast<double>(std::time(nullptr)), 60);
    EXPECT_EQ(text_of(entry.key, target_field), "cpu avx2");
  }
  write_bytes(folder.cache_path() / file_name(key_of(7), 32), "");
  EXPECT_EQ(cache.clear().entries, 4);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"notes.txt"});
}

TEST_F(Cache, TheLeastRecentlyUsedGo) {
  fill(1);
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(folder.only_file()));
  Options options = folder.options();
  options.most_bytes = 8 * bytes;
  const ObjectCache small(options);
  for (int number = 1; number < 8; ++number) small.store(key_of(number), payload_of(number));
  EXPECT_EQ(folder.names().size(), 8u);
  for (int number = 0; number < 8; ++number) make_old(number, 1000 - number);
  EXPECT_EQ(small.entries().size(), 8u);            // which uses none
  EXPECT_EQ(small.find(key_of(0)), payload_of(0));  // which makes it the youngest but one
  small.store(key_of(8), payload_of(8));
  EXPECT_EQ(folder.names().size(), 7u);
  for (const int number : {1, 2}) EXPECT_FALSE(small.find(key_of(number))) << number;
  for (const int number : {0, 3, 4, 5, 6, 7, 8}) EXPECT_TRUE(small.find(key_of(number))) << number;
  for (int number = 100; number < 200; ++number) {
    small.store(key_of(number), payload_of(number));
    EXPECT_LE(folder.names().size(), 8u);
    EXPECT_TRUE(small.find(key_of(number)));
  }
}

TEST_F(Cache, WhatIsLargerThanTheLimitIsNotKept) {
  Options options = folder.options();
  options.most_bytes = 100;
  const ObjectCache tiny(options);
  tiny.store(key_of(1), payload_of(1));
  EXPECT_TRUE(folder.names().empty());
  EXPECT_EQ(tiny.warning(), "");
}

TEST_F(Cache, TheFolderMayGoAtAnyTime) {
  fill(2);
  std::filesystem::remove_all(folder.cache_path());
  EXPECT_FALSE(cache.find(key_of(0)));
  fill(1);
  EXPECT_EQ(cache.find(key_of(0)), payload_of(0));
  EXPECT_EQ(cache.warning(), "");
}

TEST_F(Cache, ManyThreadsMayUseIt) {
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int self = 0; self < 8; ++self) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 100; ++turn) {
        const int number = turn % 10;
        const auto found = cache.find(key_of(number));
        if (found && *found != payload_of(number)) ++wrong;
        if (!found) cache.store(key_of(number), payload_of(number));
        if (turn % 37 == 0) cache.clear();
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache.warning(), "");
}

}  // namespace
}  // namespace twinloom::tests
