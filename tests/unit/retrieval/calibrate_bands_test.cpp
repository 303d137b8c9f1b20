#include "coordinator/retrieval/calibrate_bands.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/statistics/random_stream.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::calibrate_bands_test {

constexpr double drift = 0.005;

/// How often cases pass by the band that they are really in.
struct Truth {
  Floors floors;
  double miss = 0.3;
  double degraded = 0.6;
  double hit = 0.92;
};

std::vector<BandEvidence> simulated(const Truth& truth, std::size_t cases, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<BandEvidence> evidence;
  for (std::size_t i = 0; i < cases; ++i) {
    const double score = 0.3 + 0.7 * random.unit();
    const double rate = score >= truth.floors.high       ? truth.hit
                        : score >= truth.floors.degraded ? truth.degraded
                                                         : truth.miss;
    evidence.push_back({score, random.unit() < rate});
  }
  return evidence;
}

bool holds(const ProposedFloor& floor, double truth) {
  return floor.low - 1e-12 <= truth && truth <= floor.high + 1e-12;
}

/// Of 100 seeds, how many intervals hold both true floors; and how many evidences made a proposal at all.
struct Coverage {
  int proposed = 0;
  int held = 0;
  double width = 0.0;
};
Coverage coverage_of(const Truth& truth, std::size_t cases) {
  Coverage coverage;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto result = calibrate_bands(simulated(truth, cases, seed), drift);
    const auto* proposal = std::get_if<BandProposal>(&result);
    if (proposal == nullptr) continue;
    ++coverage.proposed;
    coverage.width += proposal->high.high - proposal->high.low;
    if (holds(proposal->high, truth.floors.high) && holds(proposal->degraded, truth.floors.degraded))
      ++coverage.held;
    EXPECT_TRUE(holds(proposal->high, proposal->high.floor)) << "seed " << seed;
    EXPECT_EQ(problem_with({proposal->high.floor, proposal->degraded.floor}, drift), "") << "seed " << seed;
  }
  coverage.width /= coverage.proposed;
  return coverage;
}

TEST(CalibrateBands, TheIntervalsHoldTheTrueFloors) {
  const Coverage coverage = coverage_of({{0.82, 0.61}}, 600);
  EXPECT_EQ(coverage.proposed, 100);
  EXPECT_GE(coverage.held, 95);
  EXPECT_LT(coverage.width, 0.15) << "an interval that holds everything says nothing";
}

TEST(CalibrateBands, AlsoWhereBandsAreNarrowOrUnevenlyFilled) {
  for (const Floors& floors : {Floors{0.95, 0.85}, Floors{0.6, 0.45}}) {
    const Coverage coverage = coverage_of({floors, 0.2, 0.6, 0.95}, 1000);
    EXPECT_GE(coverage.proposed, 95) << floors.high;
    EXPECT_GE(coverage.held, coverage.proposed * 95 / 100) << floors.high;
  }
}

TEST(CalibrateBands, MoreEvidenceNarrowsTheIntervals) {
  const Truth truth{{0.82, 0.61}};
  EXPECT_LT(coverage_of(truth, 2000).width, coverage_of(truth, 500).width / 2);
}

TEST(CalibrateBands, TooFewCasesSayHowManyAreMissing) {
  const auto few = calibrate_bands(simulated({{0.82, 0.61}}, 40, 1), drift);
  ASSERT_TRUE(std::holds_alternative<EvidenceMissing>(few));
  EXPECT_EQ(std::get<EvidenceMissing>(few).cases, defaults::min_calibration_cases - 40);
  const auto none = calibrate_bands(std::vector<BandEvidence>(), drift);
  EXPECT_EQ(std::get<EvidenceMissing>(none).cases, defaults::min_calibration_cases);
}

// A proposal out of noise would be worse than none.
TEST(CalibrateBands, RatesThatDoNotRiseWithTheSimilarityGiveNoProposal) {
  int proposed = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto result = calibrate_bands(simulated({{0.8, 0.6}, 0.6, 0.6, 0.6}, 400, seed), drift);
    proposed += std::holds_alternative<BandProposal>(result) ? 1 : 0;
  }
  EXPECT_LE(proposed, 5);
}

TEST(CalibrateBands, CasesThatAreNotToldApartEnoughSayAboutHowManyMoreWouldDo) {
  const Truth truth{{0.8, 0.6}, 0.3, 0.5, 0.7};
  int missing = 0;
  int proposed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto few = calibrate_bands(simulated(truth, 150, seed), drift);
    if (const auto* more = std::get_if<EvidenceMissing>(&few)) missing += more->cases > 0 ? 1 : 0;
    proposed += std::holds_alternative<BandProposal>(calibrate_bands(simulated(truth, 1500, seed), drift));
  }
  EXPECT_GE(missing, 18);
  EXPECT_GE(proposed, 18) << "where they are there";
}

// Two bands are no three.
TEST(CalibrateBands, OneStepAloneGivesNoProposal) {
  int proposed = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto result = calibrate_bands(simulated({{0.8, 0.6}, 0.2, 0.2, 0.9}, 400, seed), drift);
    proposed += std::holds_alternative<BandProposal>(result) ? 1 : 0;
  }
  EXPECT_LE(proposed, 5);
}

TEST(CalibrateBands, CountsTheCasesAsTheFloorsPartThem) {
  std::vector<BandEvidence> evidence;
  for (int i = 0; i < 100; ++i) {
    evidence.push_back({0.4, i < 10});
    evidence.push_back({0.7, i < 60});
    evidence.push_back({0.9, i < 95});
  }
  const auto result = calibrate_bands(evidence, drift);
  const auto* proposal = std::get_if<BandProposal>(&result);
  ASSERT_NE(proposal, nullptr);
  EXPECT_EQ(proposal->high.floor, 0.9);
  EXPECT_EQ(proposal->high.low, 0.701) << "between 0.7 and 0.9 nothing was seen";
  EXPECT_EQ(proposal->high.high, 0.9);
  EXPECT_EQ(proposal->degraded.floor, 0.7);
  EXPECT_EQ(proposal->bands, (RetrievalCounts{{{100, 95}, {100, 60}, {100, 10}}}));
}

TEST(CalibrateBands, EventsAreCalibratedByTriple) {
  const Plugin plugin = parse_plugin("overrides:\n  - {language: java, high_floor: 0.9}\n", "p", "f").value();
  std::vector<RetrievalEvent> events;
  RandomStream random(7);
  for (const BandEvidence& one : simulated({{0.82, 0.61}}, 600, 3)) {
    RetrievalEvent event;
    event.language = "java";
    event.score = one.score;
    event.status = one.passed ? (random.unit() < 0.5 ? "pass" : "warn") : "flaky";
    events.push_back(event);
  }
  RetrievalEvent without_score;
  without_score.language = "java";
  without_score.status = "pass";
  events.push_back(without_score);
  RetrievalEvent other;
  other.score = 0.5;
  other.status = "fail";
  events.push_back(other);
  const auto calibrations = calibrate_bands(events, plugin);
  ASSERT_EQ(calibrations.size(), 2u);
  EXPECT_EQ(calibrations[0].triple, TaskTriple{});
  EXPECT_EQ(calibrations[0].cases, 1u);
  EXPECT_EQ(calibrations[0].current, (Floors{0.85, 0.65}));
  EXPECT_EQ(calibrations[1].triple.language, "java");
  EXPECT_EQ(calibrations[1].cases, 600u);
  EXPECT_EQ(calibrations[1].current, (Floors{0.9, 0.65}));
  EXPECT_TRUE(std::holds_alternative<BandProposal>(calibrations[1].result));
}

}  // namespace sluice::calibrate_bands_test
