#include "support/hash.h"

#include <gtest/gtest.h>
#include <unordered_set>

namespace tilewright {
namespace {

// What has once been written to a user's cache must be found again.
TEST(StableHash, does_not_change) {
  EXPECT_EQ(to_hex(stable_hash("")), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(to_hex(stable_hash("tilewright")), "f36fc683e25cd4b5f5e0a0c63469c4df");
}

TEST(StableHash, tells_texts_apart) {
  std::unordered_set<Hash128> hashes;
  for (int i = 0; i < 10000; ++i) hashes.insert(stable_hash(std::to_string(i)));
  EXPECT_EQ(hashes.size(), 10000u);
  EXPECT_NE(stable_hash("ab"), stable_hash(std::string_view("ab\0", 3)));
}

} // namespace
} // namespace tilewright
