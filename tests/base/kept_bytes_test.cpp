// Bytes with their keeper: what is known without reading them, and when they are checked.
#include "core/base/kept_bytes.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/error.h"

namespace twinloom {
namespace {

std::vector<std::byte> bytes_of(std::size_t count, int first) {
  std::vector<std::byte> bytes(count, std::byte{7});
  bytes.front() = static_cast<std::byte>(first);
  return bytes;
}

struct File {
  std::shared_ptr<const std::vector<std::byte>> owner;
  std::uint64_t hash;
  KeptBytes kept(std::function<void()> check) const { return {*owner, hash, owner, std::move(check)}; }
};

File file_of(std::vector<std::byte> bytes) {
  const std::uint64_t hash = KeptBytes(bytes).hash();
  return {std::make_shared<const std::vector<std::byte>>(std::move(bytes)), hash};
}

TEST(KeptBytes, AreEqualByWhatTheyHold) {
  const KeptBytes a(bytes_of(100000, 1)), same(bytes_of(100000, 1)), other(bytes_of(100000, 2));
  EXPECT_EQ(a, same);
  EXPECT_EQ(a.hash(), same.hash());
  EXPECT_NE(a, other);
  EXPECT_NE(a, KeptBytes(bytes_of(99999, 1)));
  EXPECT_EQ(KeptBytes(), KeptBytes(std::vector<std::byte>()));
  EXPECT_TRUE(KeptBytes().read().empty());
}

TEST(KeptBytes, OfAFileAreCheckedOnceAndWhenTheyAreRead) {
  int checks = 0;
  const KeptBytes bytes = file_of(bytes_of(100, 1)).kept([&] { ++checks; });
  const KeptBytes copy = bytes;
  EXPECT_EQ(bytes.size(), 100u);
  EXPECT_EQ(bytes, copy);
  EXPECT_NE(bytes, KeptBytes(bytes_of(100, 2)));
  EXPECT_EQ(checks, 0);
  EXPECT_EQ(bytes, KeptBytes(bytes_of(100, 1)));
  EXPECT_EQ(copy.read().front(), std::byte{1});
  EXPECT_EQ(checks, 1);
}

TEST(KeptBytes, ThatAreDamagedAreAnErrorToWhoeverReadsThem) {
  const KeptBytes bytes = file_of(bytes_of(100, 1)).kept([] { throw Error("damaged"); });
  EXPECT_THROW(bytes.read(), Error);
  EXPECT_THROW(bytes.read(), Error);
}

}  // namespace
}  // namespace twinloom
