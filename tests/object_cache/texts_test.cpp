// Texts beside the objects.
#include "core/object_cache/texts.h"

#include <gtest/gtest.h>

#include "core/object_cache/object_cache.h"
#include "tests/object_cache/place.h"

namespace twinloom::tests {
namespace {

using namespace object_cache;
namespace fs = std::filesystem;

TEST(Texts, AreFoundReplacedAndRemoved) {
  const TestFolder folder;
  const Place place = folder.options().place;
  EXPECT_EQ(read_text(place, "a.txt").text, std::nullopt);
  EXPECT_FALSE(remove_text(place, "a.txt"));
  for (const std::string text : {"one", "another\n", ""}) {
    EXPECT_EQ(write_text(place, "a.txt", text), "");
    EXPECT_EQ(read_text(place, "a.txt").text, text);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"a.txt"});
  }
  EXPECT_TRUE(remove_text(place, "a.txt"));
  EXPECT_EQ(read_text(place, "a.txt").text, std::nullopt);
}

TEST(Texts, StayWhenTheCacheIsCleared) {
  const TestFolder folder;
  const ObjectCache cache(folder.options());
  cache.store(key_of(1), payload_of(1));
  EXPECT_EQ(write_text(folder.options().place, "a.txt", "text"), "");
  EXPECT_EQ(cache.clear().entries, 1);
  EXPECT_EQ(read_text(folder.options().place, "a.txt").text, "text");
}

TEST(Texts, OfOthersOrOfNoFileAreNotRead) {
  const TestFolder folder;
  const Place place = folder.options().place;
  EXPECT_EQ(write_text(place, "a.txt", "text"), "");
  const fs::path file = folder.only_file();
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(read_text(place, "a.txt").text, std::nullopt);
  EXPECT_NE(read_text(place, "a.txt").trouble.find("a.txt' is no file that only this user can write"),
            std::string::npos);
  fs::remove(file);
  fs::create_symlink("/proc/version", file);
  EXPECT_EQ(read_text(place, "a.txt").text, std::nullopt);
  EXPECT_NE(read_text(place, "a.txt").trouble, "");
  fs::permissions(file.parent_path(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(read_text(place, "a.txt").trouble, "");
  EXPECT_NE(write_text(place, "b.txt", "text").find("can be written by other users"), std::string::npos);
}

TEST(Texts, WithoutAFolderThereAreNone) {
  const FoundText none = read_text({}, "a.txt");
  EXPECT_EQ(none.text, std::nullopt);
  EXPECT_EQ(none.trouble, "");
  EXPECT_FALSE(remove_text({}, "a.txt"));
}

}  // namespace
}  // namespace twinloom::tests
