#include "coordinator/retrieval/calibrate_bands.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/gate/billionths.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>

namespace sluice {
namespace {

/// Floors are whole thousandths: what people write, and finer than any evidence.
constexpr std::int64_t billionths_a_step = 1'000'000;
constexpr int steps = 1000;
constexpr double no_likelihood = -std::numeric_limits<double>::infinity();

/// Cases and passes of some band.
struct Tally {
  std::uint64_t cases = 0;
  std::uint64_t passed = 0;

  double rate() const { return static_cast<double>(passed) / static_cast<double>(cases); }
  /// Of the passes under the likeliest rate.
  double log_likelihood() const {
    const auto part = [&](std::uint64_t count) {
      return count == 0 ? 0.0
                        : static_cast<double>(count) *
                              std::log(static_cast<double>(count) / static_cast<double>(cases));
    };
    return part(passed) + part(cases - passed);
  }
  friend Tally operator-(const Tally& a, const Tally& b) { return {a.cases - b.cases, a.passed - b.passed}; }
};

/// What the evidence says of every pair of floors. A floor is one of the similarities that occur: any other
/// parts the cases in the same way as the next higher one that does.
class FloorSearch {
 public:
  FloorSearch(std::span<const BandEvidence> evidence, double drift_envelope)
      : drift_(static_cast<int>(billionths(drift_envelope) / billionths_a_step)) {
    std::map<int, Tally> by_step;
    for (const BandEvidence& one : evidence) {
      Tally& tally = by_step[static_cast<int>(billionths(one.score) / billionths_a_step)];
      ++tally.cases;
      tally.passed += one.passed ? 1 : 0;
      ++all_.cases;
      all_.passed += one.passed ? 1 : 0;
    }
    Tally below;
    for (const auto& [step, tally] : by_step) {
      floors_.push_back(step);
      below_.push_back(below);
      below.cases += tally.cases;
      below.passed += tally.passed;
    }
    best_with_high_.assign(floors_.size(), no_likelihood);
    best_with_degraded_.assign(floors_.size(), no_likelihood);
  }

  BandCalibration run() {
    if (all_.cases < defaults::min_calibration_cases)
      return EvidenceMissing{defaults::min_calibration_cases - all_.cases};
    search_pairs();
    if (best_ == no_likelihood) return missing_bands();
    const double gain = 2.0 * (best_ - best_single());
    if (gain <= 0.0) return EvidenceMissing{};
    if (gain < defaults::min_floor_gain) {
      // The gain grows with the number of cases.
      const double factor = defaults::min_floor_gain / gain;
      return EvidenceMissing{
          static_cast<std::uint64_t>(std::ceil(static_cast<double>(all_.cases) * (factor - 1.0)))};
    }
    return proposal();
  }

 private:
  Tally between(std::size_t from, std::size_t to) const {
    return (to == floors_.size() ? all_ : below_[to]) - below_[from];
  }

  void search_pairs() {
    for (std::size_t degraded = 0; degraded < floors_.size(); ++degraded) {
      const Tally miss = below_[degraded];
      if (miss.cases < defaults::min_band_cases) continue;
      const double of_miss = miss.log_likelihood();
      for (std::size_t high = degraded + 1; high < floors_.size(); ++high) {
        if (floors_[high] - floors_[degraded] <= drift_) continue;
        const Tally middle = between(degraded, high);
        const Tally hit = between(high, floors_.size());
        if (hit.cases < defaults::min_band_cases) break;
        if (middle.cases < defaults::min_band_cases) continue;
        if (miss.rate() > middle.rate() || middle.rate() > hit.rate()) continue;
        take(degraded, high, of_miss + middle.log_likelihood() + hit.log_likelihood());
      }
    }
  }

  /// Of equally likely floors the higher ones: below them there is no evidence.
  void take(std::size_t degraded, std::size_t high, double likelihood) {
    best_with_high_[high] = std::max(best_with_high_[high], likelihood);
    best_with_degraded_[degraded] = std::max(best_with_degraded_[degraded], likelihood);
    if (likelihood < best_) return;
    best_ = likelihood;
    degraded_ = degraded;
    high_ = high;
  }

  /// The likeliest single floor, or none at all.
  double best_single() const {
    double best = all_.log_likelihood();
    for (std::size_t at = 1; at < floors_.size(); ++at) {
      const Tally above = all_ - below_[at];
      best = std::max(best, below_[at].log_likelihood() + above.log_likelihood());
    }
    return best;
  }

  /// No floors leave enough cases in each band, or rates that rise.
  EvidenceMissing missing_bands() const {
    const bool is_spread = floors_.size() >= 3 && floors_.back() - floors_.front() > drift_;
    return EvidenceMissing{is_spread ? 0 : 2 * std::uint64_t{defaults::min_band_cases}};
  }

  BandProposal proposal() const {
    BandProposal found;
    found.high = floor_at(high_, best_with_high_);
    found.degraded = floor_at(degraded_, best_with_degraded_);
    const auto counted = [](const Tally& tally) { return RetrievedCases{tally.cases, tally.passed}; };
    found.bands[static_cast<std::size_t>(RetrievalKind::hit)] = counted(between(high_, floors_.size()));
    found.bands[static_cast<std::size_t>(RetrievalKind::degraded)] = counted(between(degraded_, high_));
    found.bands[static_cast<std::size_t>(RetrievalKind::miss)] = counted(below_[degraded_]);
    return found;
  }

  /// The interval has every floor that the evidence does not rule out, by the likelihood ratio of a change at
  /// an unknown place (Hansen 2000), whose distribution is (1 - exp(-x / 2))^2. Each floor takes half of the
  /// error that both may have.
  ProposedFloor floor_at(std::size_t best, const std::vector<double>& likelihoods) const {
    const double each = 1.0 - (1.0 - defaults::calibration_confidence) / 2.0;
    const double most = -2.0 * std::log(1.0 - std::sqrt(each));
    std::size_t low = best;
    std::size_t high = best;
    for (std::size_t at = 0; at < floors_.size(); ++at) {
      if (2.0 * (best_ - likelihoods[at]) > most) continue;
      low = std::min(low, at);
      high = std::max(high, at);
    }
    const int lowest = low > 0 ? floors_[low - 1] + 1 : 0;
    return {in_thousandths(floors_[best]), in_thousandths(lowest), in_thousandths(floors_[high])};
  }

  static double in_thousandths(int step) { return static_cast<double>(step) / steps; }

  int drift_;
  Tally all_;
  std::vector<int> floors_;   ///< Ascending.
  std::vector<Tally> below_;  ///< Of the cases below each.
  double best_ = no_likelihood;
  std::size_t degraded_ = 0;
  std::size_t high_ = 0;
  std::vector<double> best_with_high_;  ///< By floor: with the best other one.
  std::vector<double> best_with_degraded_;
};

}  // namespace

BandCalibration calibrate_bands(std::span<const BandEvidence> evidence, double drift_envelope) {
  return FloorSearch(evidence, drift_envelope).run();
}

std::vector<TripleCalibration> calibrate_bands(std::span<const RetrievalEvent> events, const Plugin& plugin) {
  std::map<TaskTriple, std::vector<BandEvidence>> by_triple;
  for (const RetrievalEvent& event : events) {
    if (!event.score) continue;
    by_triple[{event.task_class, event.language, event.build_system}].push_back(
        {*event.score, event.status == "pass" || event.status == "warn"});
  }
  std::vector<TripleCalibration> calibrations;
  for (const auto& [triple, evidence] : by_triple) {
    calibrations.push_back({triple, plugin.floors_of(triple), evidence.size(),
                            calibrate_bands(evidence, plugin.drift_envelope)});
  }
  return calibrations;
}

}  // namespace sluice
