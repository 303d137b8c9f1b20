#include "worker/units/renewed_votes.hpp"

#include <cstddef>
#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace renewed_votes_test {

Digest key_of(std::size_t vote) {
  return sha256(std::to_string(vote));
}

TEST(RenewedVotesTest, HoldsWhatWasInsertedAndNothingElse) {
  RenewedVotes votes;
  EXPECT_FALSE(votes.contains(key_of(0)));
  constexpr std::size_t count = 10'000;
  for (std::size_t vote = 0; vote < count; ++vote) {
    votes.insert(key_of(vote));
    votes.insert(key_of(vote / 2));
  }
  EXPECT_EQ(votes.size(), count);
  for (std::size_t vote = 0; vote < count; ++vote) {
    EXPECT_TRUE(votes.contains(key_of(vote)));
    EXPECT_FALSE(votes.contains(key_of(count + vote)));
  }
}

TEST(RenewedVotesTest, AKeyThatBeginsWithZerosIsNoFreeSlot) {
  RenewedVotes votes;
  votes.insert(key_of(1));
  EXPECT_FALSE(votes.contains(Digest{}));
  votes.insert(Digest{});
  EXPECT_TRUE(votes.contains(Digest{}));
}

// A node of a set for each vote: 3 million of them took 240 MB of a worker.
TEST(RenewedVotesTest, AVoteTakesTwoDozenBytesAtMost) {
  RenewedVotes votes;
  for (std::size_t vote = 0; vote < 10'000; ++vote) votes.insert(key_of(vote));
  EXPECT_LE(votes.bytes(), 24 * votes.size());
}

}  // namespace renewed_votes_test
}  // namespace sluice
