// The bytes of an entry, and keys in words.
#include <gtest/gtest.h>

#include "core/object_cache/entry.h"
#include "tests/object_cache/place.h"

namespace twinloom::tests {
namespace {

using namespace object_cache;

TEST(Entry, ReadsBackWhatWasPacked) {
  for (const Key& key : {Key{}, Key{{"", ""}}, Key{{"a", "b"}, {"", "c"}}, key_of(1)}) {
    for (const std::string& payload : {std::string(), std::string("\0\xff", 2), payload_of(1)}) {
      const auto content = unpack(pack(key, payload));
      ASSERT_TRUE(content);
      EXPECT_EQ(content->key, key);
      EXPECT_EQ(content->payload, payload);
    }
  }
}

TEST(Entry, AnyFlippedBitIsSeen) {
  const std::string good = pack(key_of(1), payload_of(1));
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      EXPECT_FALSE(unpack(bad)) << "byte " << at << " bit " << bit;
    }
  }
}

TEST(Entry, AnyOtherLengthIsSeen) {
  const std::string good = pack(key_of(1), payload_of(1));
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(unpack(good.substr(0, length))) << length;
  EXPECT_FALSE(unpack(good + '\0'));
  EXPECT_FALSE(unpack(good + good));
}

TEST(Entry, HalvesOfTwoAreSeen) {
  const std::string one = pack(key_of(1), payload_of(1)), two = pack(key_of(2), payload_of(2));
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t cut = 1; cut < one.size(); ++cut) {
    const std::string both = one.substr(0, cut) + two.substr(cut);
    if (both == one || both == two) continue;
    EXPECT_FALSE(unpack(both)) << cut;
  }
}

TEST(Entry, WhereAFieldEndsIsPartOfTheKey) {
  EXPECT_NE(pack({{"ab", "c"}}, ""), pack({{"a", "bc"}}, ""));
  EXPECT_NE(file_name({{"ab", "c"}}, 32), file_name({{"a", "bc"}}, 32));
  EXPECT_NE(file_name({{"a", "b"}, {"c", "d"}}, 32), file_name({{"c", "d"}, {"a", "b"}}, 32));
}

TEST(Entry, NamesOfFiles) {
  const std::string name = file_name(key_of(1), 32);
  EXPECT_TRUE(is_file_name(name, 32));
  EXPECT_EQ(name.size(), 32 + std::string(".object").size());
  EXPECT_EQ(file_name(key_of(1), 4), name.substr(0, 4) + ".object");
  for (const char* other : {"", ".object", "notes.txt", "0123456789abcdef0123456789abcdeG.object",
                            "0123456789abcdef0123456789abcdef.object2", ".tmp-0123456789abcdef"})
    EXPECT_FALSE(is_file_name(other, 32)) << other;
}

TEST(Key, DifferencesInWords) {
  const Key asked = key_of(1);
  EXPECT_EQ(describe_differences(asked, asked), "");
  Key kept = asked;
  kept[2].text = "-O2 -g -x c++";
  EXPECT_EQ(describe_differences(asked, kept), "flags differ at word 2: '-x' is asked for, '-g' is kept");
  kept[3].text = "void kernel() {\n  return 7;\n}\n";
  EXPECT_EQ(describe_differences(asked, kept),
            "flags differ at word 2: '-x' is asked for, '-g' is kept; "
            "source differs at line 2: '  return 1;' is asked for, '  return 7;' is kept");
  EXPECT_EQ(count_differences(asked, kept), 2);
  kept = asked;
  kept[2].text = "-O2";
  EXPECT_EQ(describe_differences(asked, kept), "flags differ at word 2: '-x' is asked for, '' is kept");
  kept[2].text = "-O2 -x c++ ";
  EXPECT_EQ(describe_differences(asked, kept), "flags differ at the end");
  kept.erase(kept.begin() + 2);
  EXPECT_EQ(describe_differences(asked, kept), "flags differ at word 1: '-O2' is asked for, '' is kept");
}

TEST(Key, WhyMissNamesTheFieldOfTheNearestEntry) {
  Entry other{key_of(2), 0, 0, 0}, far{key_of(1), 0, 0, 0}, near{key_of(1), 0, 0, 0};
  EXPECT_EQ(why_miss(key_of(1), {other}), "no entry is of a kernel of this name");
  far.key[1].text = "cpu avx512";
  far.key[2].text = "-O3";
  near.key[2].text = "-O3";
  EXPECT_EQ(why_miss(key_of(1), {far, other, near}),
            "flags differ at word 1: '-O2' is asked for, '-O3' is kept");
  EXPECT_EQ(why_miss(key_of(1), {far, {key_of(1), 0, 0, 0}}), "");
}

}  // namespace
}  // namespace twinloom::tests
