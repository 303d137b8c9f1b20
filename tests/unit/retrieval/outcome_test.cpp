#include "coordinator/retrieval/outcome.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::outcome_test {

const SolvedExample example{"e-1", "the task", "the solution", {}};
constexpr Floors shipped{0.85, 0.65};

/// 2 a hit, 1 a near match, 0 a miss.
std::size_t confidence(double similarity, const Floors& floors = shipped) {
  return 2 - classify(example, similarity, floors).index();
}

TEST(RetrievalOutcome, BandsOfTheShippedFloors) {
  EXPECT_EQ(shipped_plugin().floors, shipped);
  EXPECT_TRUE(std::holds_alternative<Hit>(classify(example, 0.95, shipped)));
  EXPECT_TRUE(std::holds_alternative<Degraded>(classify(example, 0.75, shipped)));
  EXPECT_TRUE(std::holds_alternative<Miss>(classify(example, 0.40, shipped)));
}

TEST(RetrievalOutcome, AFloorBelongsToTheBandAboveIt) {
  EXPECT_EQ(confidence(0.85), 2u);
  EXPECT_EQ(confidence(0.849999999), 1u);
  EXPECT_EQ(confidence(0.65), 1u);
  EXPECT_EQ(confidence(0.649999999), 0u);
  EXPECT_EQ(confidence(1.0), 2u);
  EXPECT_EQ(confidence(0.0), 0u);
}

TEST(RetrievalOutcome, HoldsTheExampleAndTheScore) {
  const auto hit = std::get<Hit>(classify(example, 0.91, shipped));
  EXPECT_EQ(hit.example, &example);
  EXPECT_EQ(hit.score, 0.91);
  const auto degraded = std::get<Degraded>(classify(example, 0.7, shipped));
  EXPECT_EQ(degraded.near_match, &example);
  EXPECT_EQ(degraded.score, 0.7);
}

// What machines compute differently beyond the billionth does not decide.
TEST(RetrievalOutcome, TheScoreIsRoundedToABillionthFirst) {
  EXPECT_EQ(confidence(std::nextafter(0.85, 0.0)), 2u);
  EXPECT_EQ(confidence(0.85 - 4e-10), 2u);
  EXPECT_EQ(confidence(0.85 - 6e-10), 1u);
  EXPECT_EQ(std::get<Hit>(classify(example, 0.1 + 0.8, shipped)).score, 0.9);
  EXPECT_EQ(confidence(std::numeric_limits<double>::quiet_NaN()), 0u);
}

/// Floors that a plugin file may have, with their drift envelope.
struct Band {
  Floors floors;
  double drift;
};
Band some_band() {
  const int drift = *rc::gen::inRange(1, 50);  // thousandths
  const int degraded = *rc::gen::inRange(0, 1000 - drift - 1);
  const int high = *rc::gen::inRange(degraded + drift + 1, 1001);
  return {{high / 1000.0, degraded / 1000.0}, drift / 1000.0};
}
double some_similarity() {
  return *rc::gen::inRange(0, 1'000'000'001) / 1e9;
}

RC_GTEST_PROP(RetrievalOutcome, HigherSimilarityNeverLowersTheOutcome, ()) {
  const Band band = some_band();
  RC_ASSERT(problem_with(band.floors, band.drift).empty());
  const double a = some_similarity();
  const double b = some_similarity();
  RC_ASSERT(confidence(std::min(a, b), band.floors) <= confidence(std::max(a, b), band.floors));
}

RC_GTEST_PROP(RetrievalOutcome, ExactlyOneRuleHolds, ()) {
  const Band band = some_band();
  const double score = some_similarity();
  const bool hit = is_hit(score, band.floors);
  const bool degraded = is_degraded(score, band.floors);
  RC_ASSERT(!(hit && degraded));
  RC_ASSERT(confidence(score, band.floors) == (hit ? 2u : degraded ? 1u : 0u));
}

// Machines differ in the fifth decimal: within a band that is one outcome, and no difference within the drift
// envelope makes a hit of a miss.
RC_GTEST_PROP(RetrievalOutcome, DriftNeverTurnsAHitIntoAMiss, ()) {
  const Band band = some_band();
  const double score = some_similarity();
  const double other = std::clamp(score + *rc::gen::inRange(-1000, 1001) / 1000.0 * band.drift, 0.0, 1.0);
  const auto one = static_cast<int>(confidence(score, band.floors));
  const auto two = static_cast<int>(confidence(other, band.floors));
  RC_ASSERT(std::abs(one - two) <= 1);
  const auto is_between = [&](double floor) {
    return std::min(score, other) < floor + 1e-9 && std::max(score, other) > floor - 1e-9;
  };
  if (!is_between(band.floors.high) && !is_between(band.floors.degraded)) RC_ASSERT(one == two);
}

TEST(RetrievalOutcome, ValuesThatDifferInTheFifthDecimalWithinABandAreOneOutcome) {
  EXPECT_EQ(confidence(0.85012), confidence(0.85018));
  EXPECT_EQ(confidence(0.84982), confidence(0.84991));
  EXPECT_EQ(confidence(0.64991), confidence(0.64998));
  // On both sides of the high floor an example is shown, and on the lower one as a near match.
  EXPECT_EQ(confidence(0.85001), 2u);
  EXPECT_EQ(confidence(0.84998), 1u);
}

TEST(RetrievalOutcome, IsShownAsAnExampleAsGuidanceOrNotAtAll) {
  const std::string hit = render(classify(example, 0.9, shipped), shipped_plugin());
  const std::string degraded = render(classify(example, 0.7, shipped), shipped_plugin());
  EXPECT_EQ(hit,
            "Here is a similar task and how it was solved.\n\nTask:\nthe task\n\nSolution:\nthe solution\n\n"
            "Now the task to solve:");
  EXPECT_EQ(degraded,
            "The following example is a near match with low confidence: take it as guidance, not as a "
            "template.\n\n" +
                hit);
  EXPECT_EQ(render(classify(example, 0.5, shipped), shipped_plugin()), "");
}

}  // namespace sluice::outcome_test
