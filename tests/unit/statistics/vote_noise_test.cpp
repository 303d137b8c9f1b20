#include "coordinator/statistics/vote_noise.hpp"

#include "coordinator/statistics/random_stream.hpp"
#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::vote_noise_test {

std::vector<VoteCount> counted(std::uint32_t votes, std::initializer_list<std::uint32_t> passes) {
  std::vector<VoteCount> answers;
  for (const std::uint32_t one : passes) answers.push_back({votes, one});
  return answers;
}

TEST(MajorityFlipRate, IsAsCalculatedByHand) {
  // One chance for all: 2 m (1 - m), with m = 0.8 and m = 0.8^3 + 3 * 0.8^2 * 0.2 = 0.896.
  EXPECT_NEAR(majority_flip_rate(0.8, 0.0, 1), 0.32, 1e-12);
  EXPECT_NEAR(majority_flip_rate(0.8, 0.0, 3), 2.0 * 0.896 * 0.104, 1e-12);
  EXPECT_NEAR(majority_flip_rate(0.5, 0.0, 25), 0.5, 1e-12);
  // Each answer clear.
  EXPECT_EQ(majority_flip_rate(0.7, 1.0, 3), 0.0);
  // Chances uniform in 0..1 (correlation 1/3): E[2 p (1 - p)] = 1/3, and with m = 3 p^2 - 2 p^3,
  // 2 E[m] - 2 E[m^2] = 1 - 2 (9/5 - 2 + 4/7) = 9/35.
  EXPECT_NEAR(majority_flip_rate(0.5, 1.0 / 3.0, 1), 1.0 / 3.0, 1e-12);
  EXPECT_NEAR(majority_flip_rate(0.5, 1.0 / 3.0, 3), 9.0 / 35.0, 1e-12);
  // Two votes: both must pass. 2 E[p^2 (1 - p^2)] = 2 (1/3 - 1/5).
  EXPECT_NEAR(majority_flip_rate(0.5, 1.0 / 3.0, 2), 4.0 / 15.0, 1e-12);
  EXPECT_EQ(majority_flip_rate(0.0, 0.5, 3), 0.0);
  EXPECT_EQ(majority_flip_rate(1.0, 0.5, 3), 0.0);
}

TEST(VoteNoise, IsAsCalculatedByHand) {
  // Four answers with 3, 3, 0 and 2 of 3. Two votes on one differ in 0, 0, 0 and 2 of 3 pairs: 1/6. On
  // different answers: passes 1, 1, 0, 2/3; of the six pairs 0, 1, 1/3, 1, 1/3 and 2/3: 10/18. Correlation 1
  // - 3/10.
  const auto noise = vote_noise(counted(3, {3, 3, 0, 2}), 3);
  ASSERT_TRUE(noise);
  EXPECT_EQ(noise->answers, 4u);
  EXPECT_NEAR(noise->pair_disagreement, 1.0 / 6.0, 1e-12);
  EXPECT_NEAR(noise->flip_rate, majority_flip_rate(2.0 / 3.0, 0.7, 3), 1e-12);
  EXPECT_GT(noise->flip_rate_upper, noise->flip_rate);
}

TEST(VoteNoise, OneVoteTellsNothingOfItsNoise) {
  EXPECT_FALSE(vote_noise({}, 3));
  EXPECT_FALSE(vote_noise(counted(1, {1, 0, 1, 1}), 1));
  EXPECT_FALSE(vote_noise(counted(3, {2}), 3));
  // Answers with one vote are left out.
  auto answers = counted(3, {3, 1, 0});
  const auto without = vote_noise(answers, 3);
  answers.push_back({1, 1});
  const auto with = vote_noise(answers, 3);
  ASSERT_TRUE(with && without);
  EXPECT_EQ(with->answers, 3u);
  EXPECT_EQ(with->flip_rate, without->flip_rate);
}

TEST(VoteNoise, UnanimousVotesNeedOneVoteButAFewAnswersProveLittle) {
  const auto few = vote_noise(counted(3, {3, 3, 0}), 3);
  EXPECT_EQ(few->flip_rate, 0.0);
  EXPECT_EQ(few->enough_votes, 1u);
  EXPECT_GT(few->flip_rate_upper, 0.2);
  const auto all_pass = vote_noise(counted(3, {3, 3, 3, 3}), 3);
  EXPECT_EQ(all_pass->flip_rate, 0.0);
  EXPECT_GT(all_pass->flip_rate_upper, 0.1);
  std::vector<VoteCount> many(1000, VoteCount{3, 3});
  for (std::size_t i = 0; i < 500; ++i) many[i].passes = 0;
  EXPECT_LT(vote_noise(many, 3)->flip_rate_upper, 0.01);
}

TEST(VoteNoise, NamesTheSmallestOddNumberOfVotesThatWouldDo) {
  // All answers have the chance 0.8: binomial, and 2 m (1 - m) falls below 5 % for m > 0.9743: at nine votes
  // m is 0.9804, at seven 0.9667.
  std::vector<VoteCount> answers;
  for (int i = 0; i < 1000; ++i) answers.push_back({5, 4});
  for (std::size_t i = 0; i < 1000; ++i) {
    // 5 votes with 0.8: 0.328, 0.410, 0.205, 0.051, 0.006 for 5, 4, 3, 2, 1 passes.
    answers[i].passes = i < 328 ? 5 : i < 738 ? 4 : i < 943 ? 3 : i < 994 ? 2 : 1;
  }
  EXPECT_EQ(vote_noise(answers, 5)->enough_votes, 9u);
  // Coins: no number will do.
  const auto coins = vote_noise(counted(3, {0, 1, 1, 1, 2, 2, 2, 3}), 3);
  EXPECT_FALSE(coins->enough_votes);
  EXPECT_GT(coins->flip_rate, 0.4);
}

constexpr std::uint64_t seed = 20251123;

double normal(RandomStream& random) {
  return normal_quantile(random.unit() + 0x1p-54);
}

/// Chances to pass: beta distributed as Phi of a normal deviate nearly is, or a share of toss-ups among clear
/// ones.
std::vector<VoteCount> drawn_votes(int answers, std::uint32_t votes, double toss_ups, RandomStream& random) {
  std::vector<VoteCount> counts;
  for (int i = 0; i < answers; ++i) {
    const double chance = toss_ups < 0.0             ? normal_cdf(1.0 + 1.5 * normal(random))
                          : random.unit() < toss_ups ? 0.5
                          : random.unit() < 0.7      ? 0.99
                                                     : 0.01;
    VoteCount one{votes, 0};
    for (std::uint32_t vote = 0; vote < votes; ++vote) one.passes += random.unit() < chance;
    counts.push_back(one);
  }
  return counts;
}

TEST(VoteNoiseSimulation, TheNoiseOfVotesIsWhatAFreshVoteShows) {
  for (const double toss_ups : {-1.0, 0.1, 0.3}) {
    for (const std::uint32_t votes : {3u, 5u}) {
      // The truth: majorities of the same answers drawn twice.
      RandomStream again(seed, 1u << 20);
      double truth = 0.0;
      constexpr int many = 20'000;
      for (int i = 0; i < many; ++i) {
        const auto both = drawn_votes(1, 2 * votes, toss_ups, again)[0];
        // Of so many passes of both halves together, how often the halves' majorities differ.
        double differ = 0.0;
        for (std::uint32_t first = 0; first <= std::min(votes, both.passes); ++first) {
          if (both.passes - first > votes) continue;
          const bool pass = 2 * first > votes;
          const bool other = 2 * (both.passes - first) > votes;
          if (pass != other)
            differ += binomial_coefficient(votes, first) * binomial_coefficient(votes, both.passes - first);
        }
        truth += differ / binomial_coefficient(2 * votes, both.passes) / many;
      }
      for (const int answers : {20, 100, 400}) {
        const std::uint64_t runs = 300;
        double mean = 0.0;
        std::uint64_t held = 0;
        for (std::uint64_t run = 0; run < runs; ++run) {
          RandomStream random(seed, run);
          const auto found = vote_noise(drawn_votes(answers, votes, toss_ups, random), votes);
          mean += found->flip_rate / runs;
          held += truth <= found->flip_rate_upper;
        }
        // The beta distribution fits the first kind; of toss-ups among clear answers it sees too little.
        EXPECT_NEAR(mean, truth, toss_ups < 0.0 ? 0.01 : 0.45 * truth)
            << toss_ups << ", " << votes << " votes, " << answers << " answers";
        EXPECT_GE(static_cast<double>(held) / static_cast<double>(runs), 0.93)
            << toss_ups << ", " << votes << " votes, " << answers << " answers";
      }
    }
  }
}

TEST(MajorityFlipRate, HoldsForAsManyVotesAsThereMayBe) {
  for (const double correlation : {0.0, 0.6, 0.9, 0.95}) {
    double before = 0.5;
    for (const std::uint32_t votes : {1u, 3u, 25u, 85u, 87u, 99u}) {
      const double rate = majority_flip_rate(0.8, correlation, votes);
      EXPECT_GE(rate, 0.0) << votes << " votes, correlation " << correlation;
      EXPECT_LE(rate, before + 1e-12) << votes << " votes, correlation " << correlation;
      before = rate;
    }
  }
}

}  // namespace sluice::vote_noise_test
