// Values by key, made once as long as there are not too many.
#include "core/base/bounded_cache.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace twinloom {
namespace {

TEST(BoundedCache, MakesEachValueOnce) {
  BoundedCache<int, int> cache(8);
  int made = 0;
  for (int time = 0; time < 2; ++time)
    for (const int key : {1, 2}) EXPECT_EQ(cache.get(key, [&] { return ++made, 10 * key; }), 10 * key);
  EXPECT_EQ(made, 2);
}

TEST(BoundedCache, ForgetsAllWhereThereAreTooMany) {
  BoundedCache<int, int> cache(2);
  int made = 0;
  const auto make = [&] { return ++made; };
  for (const int key : {1, 2, 3}) cache.get(key, make);
  EXPECT_EQ(cache.get(3, make), 3);
  EXPECT_EQ(cache.get(1, make), 4);
}

TEST(BoundedCache, WhatIsThrownIsNotCached) {
  BoundedCache<int, int> cache(2);
  EXPECT_THROW(cache.get(1, []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(cache.get(1, [] { return 5; }), 5);
}

}  // namespace
}  // namespace twinloom
