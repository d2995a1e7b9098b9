// Where the cache is, folders that must not be used, and disks that do not take what is written.
#include <gtest/gtest.h>

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/text.h"
#include "tests/object_cache/place.h"

namespace twinloom::tests {
namespace {

using namespace object_cache;
namespace fs = std::filesystem;

constexpr uid_t nobody = 65534;

// In a process with exactly these variables (NAME=VALUE).
int with_environment(const std::vector<const char*>& variables, const std::function<int()>& body) {
  return in_process([&] {
    clearenv();
    for (const char* variable : variables) putenv(const_cast<char*>(variable));
    return body();
  });
}

// Zero where the place from these variables is `path`, with a trouble that has these words.
int place_is(const std::vector<const char*>& variables, const std::string& path,
             const std::string& words = "") {
  return with_environment(variables, [&] {
    const Options options = options_from_environment();
    const bool fits =
        words.empty() ? options.trouble.empty() : options.trouble.find(words) != std::string::npos;
    return options.place.path() == path && fits ? 0 : 1;
  });
}

TEST(Place, FollowsTheEnvironment) {
  EXPECT_EQ(place_is({"TWINLOOM_CACHE_DIR=/a/b", "XDG_CACHE_HOME=/c", "HOME=/d"}, "/a/b"), 0);
  EXPECT_EQ(place_is({"XDG_CACHE_HOME=/c", "HOME=/d"}, "/c/twinloom"), 0);
  EXPECT_EQ(place_is({"HOME=/d"}, "/d/.cache/twinloom"), 0);
  EXPECT_EQ(place_is({"TWINLOOM_CACHE_DIR=", "XDG_CACHE_HOME=", "HOME=/d"}, "/d/.cache/twinloom"), 0);
  EXPECT_EQ(place_is({"XDG_CACHE_HOME=relative", "HOME=/d"}, "/d/.cache/twinloom"), 0);
  EXPECT_EQ(place_is({}, "", "none of TWINLOOM_CACHE_DIR, XDG_CACHE_HOME and HOME names a folder"), 0);
  EXPECT_EQ(place_is({"TWINLOOM_CACHE_DIR=x/y", "HOME=/d"}, "", "TWINLOOM_CACHE_DIR is 'x/y'"), 0);
}

TEST(Place, TheLimitIsANumberOfBytes) {
  const auto limit = [](const char* variable) {
    return with_environment({"HOME=/d", variable}, [] {
      const Options options = options_from_environment();
      if (!options.trouble.empty())
        return options.trouble.find("expected a number of bytes") != std::string::npos &&
                       options.most_bytes == default_most_bytes
                   ? 200
                   : 255;
      return static_cast<int>(options.most_bytes >> 20);
    });
  };
  EXPECT_EQ(limit("TWINLOOM_CACHE_BYTES=104857600"), 100);
  EXPECT_EQ(limit("TWINLOOM_CACHE_BYTES=0"), 0);
  for (const char* wrong : {"TWINLOOM_CACHE_BYTES=1G", "TWINLOOM_CACHE_BYTES=-1", "TWINLOOM_CACHE_BYTES=x",
                            "TWINLOOM_CACHE_BYTES=99999999999999999999"})
    EXPECT_EQ(limit(wrong), 200) << wrong;
}

// Nothing is found, nothing is written, nothing is thrown.
void expect_off(const ObjectCache& cache, const std::string& words) {
  for (int turn = 0; turn < 2; ++turn) {
    cache.store(key_of(turn), payload_of(turn));
    EXPECT_FALSE(cache.find(key_of(turn))) << words;
  }
  EXPECT_TRUE(cache.entries().empty());
  EXPECT_EQ(cache.clear().entries, 0);
  EXPECT_NE(cache.warning().find(words), std::string::npos) << cache.warning();
}

TEST(Place, WithoutOneTheCacheIsOff) {
  Options options;
  options.trouble = "there is none";
  expect_off(ObjectCache(options), "there is none");
  TestFolder folder;
  options = folder.options();
  options.most_bytes = 0;
  const ObjectCache none(options);
  expect_off(none, "");
  EXPECT_EQ(none.warning(), "");
  EXPECT_EQ(none.folder(), "");
  EXPECT_TRUE(folder.names().empty());
  options = folder.options();
  options.place.base += "/missing";
  expect_off(ObjectCache(options), "No such file or directory");
  EXPECT_FALSE(fs::exists(options.place.base)) << "a home that is missing is not made";
}

class Layout : public testing::Test {
 protected:
  // The cache in base/one/two.
  ObjectCache deep() const {
    Options options = folder.options();
    options.place.below = "one/two";
    return ObjectCache(options);
  }
  void expect_refused(const std::string& words) const {
    const std::vector<fs::path> before = everything();
    expect_off(deep(), words);
    EXPECT_EQ(everything(), before);
  }
  std::vector<fs::path> everything() const {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) paths.push_back(entry.path());
    return paths;
  }
  void SetUp() override { fs::create_directories(folder.path() / "one" / "two"); }

  TestFolder folder;
};

TEST_F(Layout, OwnFoldersAreUsed) {
  const ObjectCache cache = deep();
  cache.store(key_of(1), payload_of(1));
  EXPECT_EQ(cache.find(key_of(1)), payload_of(1));
  EXPECT_EQ(cache.warning(), "");
  EXPECT_EQ(cache.folder(), (folder.path() / "one" / "two").string());
}

// As /home is where users must not see each other.
TEST_F(Layout, FoldersOnTheWayNeedNotBeReadable) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a folder that this user can enter and not read";
  fs::permissions(folder.path(), fs::perms(0711));
  for (const char* name : {"one", "one/two"})
    ASSERT_EQ(chown((folder.path() / name).c_str(), nobody, nobody), 0);
  EXPECT_EQ(in_process([&] {
              if (setresuid(nobody, nobody, nobody) != 0) return 100;
              deep().store(key_of(1), payload_of(1));
              return deep().find(key_of(1)) == payload_of(1) ? 0 : 1;
            }),
            0);
}

TEST_F(Layout, FoldersThatOthersMayWriteAreRefused) {
  for (const char* name : {"one", "one/two"}) {
    for (const fs::perms who : {fs::perms::group_write, fs::perms::others_write}) {
      fs::permissions(folder.path() / name, who, fs::perm_options::add);
      expect_refused("can be written by other users");
      fs::permissions(folder.path() / name, who, fs::perm_options::remove);
    }
  }
  // As /tmp is: others may not take our folder away there, but the last one must be ours alone.
  const auto sticky = fs::perms::all | fs::perms::sticky_bit;
  fs::permissions(folder.path() / "one", sticky);
  EXPECT_EQ(deep().find(key_of(1)), std::nullopt);
  EXPECT_EQ(deep().warning(), "");
  fs::permissions(folder.path() / "one" / "two", sticky);
  expect_refused("can be written by other users");
}

TEST_F(Layout, LinksAreRefused) {
  const fs::path one = folder.path() / "one", real = folder.path() / "real";
  fs::rename(one, real);
  fs::create_directory_symlink(real, one);
  expect_refused("is a symbolic link or no folder");
  fs::remove(one);
  fs::rename(real, one);
  fs::rename(one / "two", real);
  fs::create_directory_symlink(real, one / "two");
  expect_refused("is a symbolic link or no folder");
  fs::remove(one / "two");
  write_bytes(one / "two", "a file");
  expect_refused("is a symbolic link or no folder");
}

TEST_F(Layout, FoldersOfOthersAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  for (const char* name : {"one", "one/two"}) {
    ASSERT_EQ(chown((folder.path() / name).c_str(), nobody, nobody), 0);
    expect_refused("belongs to user 65534; expected 0");
    ASSERT_EQ(chown((folder.path() / name).c_str(), 0, 0), 0);
  }
}

TEST_F(Layout, AFileOfAnotherIsAMiss) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  deep().store(key_of(1), payload_of(1));
  const auto file = *fs::directory_iterator(folder.path() / "one" / "two");
  ASSERT_EQ(chown(file.path().c_str(), nobody, nobody), 0);
  EXPECT_FALSE(deep().find(key_of(1)));
  EXPECT_FALSE(fs::exists(file.path()));
}

// Zero where what was kept is found, storing fails once with these words, and nothing else happens.
int only_reads(const Options& options, const std::string& words) {
  const ObjectCache cache(options);
  if (cache.find(key_of(0)) != payload_of(0)) return 1;
  if (!cache.warning().empty()) return 2;
  for (int number = 1; number < 3; ++number) {
    cache.store(key_of(number), payload_of(number));
    if (cache.find(key_of(number))) return 3;
  }
  if (cache.find(key_of(0)) != payload_of(0)) return 4;
  return cache.warning().find(words) != std::string::npos ? 0 : 5;
}

TEST(Disk, AFolderWithoutTheRightToWriteIsRead) {
  TestFolder folder;
  ObjectCache(folder.options()).store(key_of(0), payload_of(0));
  const bool root = geteuid() == 0;
  for (const fs::path& path : {folder.path(), folder.cache_path(), folder.only_file()})
    ASSERT_TRUE(!root || chown(path.c_str(), nobody, nobody) == 0);
  fs::permissions(folder.cache_path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(in_process([&] {
              if (root && setresuid(nobody, nobody, nobody) != 0) return 100;
              return only_reads(folder.options(), "Permission denied");
            }),
            0);
  fs::permissions(folder.cache_path(), fs::perms::owner_all);
}

// Files beyond the limit fail as on a full disk: in the middle of a write.
TEST(Disk, AWriteThatFailsHalfwayLeavesNothing) {
  for (const Temporary way : {Temporary::unnamed, Temporary::named}) {
    TestFolder folder;
    Options options = folder.options();
    options.temporary = way;
    ObjectCache(options).store(key_of(0), payload_of(0));
    EXPECT_EQ(in_process([&] {
                signal(SIGXFSZ, SIG_IGN);
                const rlimit limit{200, 200};
                if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 100;
                return only_reads(options, "File too large");
              }),
              0);
    EXPECT_EQ(folder.names().size(), 1u);
  }
}

// In a process that has `options` of a tmpfs on the folder; 77 where it may not mount one.
int on_small_disk(const TestFolder& folder, const std::string& options, const std::function<int()>& body) {
  return in_process([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return 77;
    if (mount("none", folder.path().c_str(), "tmpfs", 0, options.c_str()) != 0) return 77;
    return body();
  });
}

TEST(Disk, AFullDiskIsRead) {
  TestFolder folder;
  const int code = on_small_disk(folder, "size=16k,mode=0700", [&] {
    ObjectCache(folder.options()).store(key_of(0), payload_of(0));
    write_bytes(folder.path() / "rest", std::string(100'000, 'x'));
    const int result = only_reads(folder.options(), "No space left on device");
    if (folder.names().size() != 1) return 50;
    fs::remove(folder.path() / "rest");
    const ObjectCache later(folder.options());
    later.store(key_of(1), payload_of(1));
    return later.find(key_of(1)) ? result : 60;
  });
  if (code == 77) GTEST_SKIP() << "only root can mount a small disk";
  EXPECT_EQ(code, 0);
}

TEST(Disk, AReadOnlyDiskIsRead) {
  TestFolder folder;
  const int code = on_small_disk(folder, "size=1m,mode=0700", [&] {
    ObjectCache(folder.options()).store(key_of(0), payload_of(0));
    if (mount(nullptr, folder.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, "mode=0700") != 0) return 78;
    return only_reads(folder.options(), "Read-only file system");
  });
  if (code == 77) GTEST_SKIP() << "only root can mount a disk";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace twinloom::tests
