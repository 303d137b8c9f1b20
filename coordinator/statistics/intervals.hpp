#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>

namespace sluice {

/// A confidence interval; of a proportion within 0..1.
struct Interval {
  double low = 0.0;
  double high = 1.0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Wilson's score interval (Wilson 1927), two-sided. `trials` need not be whole: an effective number. Without
/// trials nothing is known: 0..1. REQUIRES: 0 <= proportion <= 1; 0 < confidence < 1.
Interval wilson_interval(double proportion, double trials, double confidence);

/// The exact interval of Clopper and Pearson (1934), two-sided. The counts need not be whole: those of an
/// effective number.
Interval clopper_pearson_interval(double successes, double failures, double confidence);

/// A proportion over trials that come in clusters: answers that share a case share its reference, and are no
/// independent evidence. Memory: an entry for each distinct cluster; the order of `add` matters in the last
/// bits alone.
class ClusteredProportion {
 public:
  struct Cluster {
    double successes = 0.0;
    double trials = 0.0;
    friend auto operator<=>(const Cluster&, const Cluster&) = default;
  };

  /// A cluster of `trials` > 0 with so many successes; fractions count in part. Nothing without trials.
  void add(double successes, double trials);
  /// So much more of a cluster that this proportion has, or (without trials) of a new one.
  void grow(Cluster& cluster, double successes, double trials);

  std::uint64_t clusters() const { return clusters_; }
  double trials() const { return trials_; }
  std::optional<double> proportion() const;

  /// By how much the variance over clusters exceeds that of as many independent trials: that of the ratio of
  /// sums, K / (K - 1) sum (s - p t)^2 / (sum t)^2, over p (1 - p) / sum t. Where the data do not show it
  /// (fewer than two clusters, or a proportion of 0 or 1), the largest it can be, sum t^2 / sum t: as if all
  /// trials of a cluster were one. 1 without trials.
  double design_effect() const;

  /// Wilson's with n_eff = trials / max(1, design effect), and at least as wide as a few failures or
  /// successes more or less make it: they say little about the design effect, so that it jumps with them.
  /// The lower end is p times the least that this end is of its proportion for the clusters with most
  /// failures alone, from none of them to all. So with clusters of equal sizes no failure more can raise it.
  /// Time: O(clusters).
  Interval interval(double confidence) const;

  /// The number of independent trials by which Wilson's interval has that lower end: at least 1, and no more
  /// than trials / max(1, design effect). 0 without trials.
  double effective_trials(double confidence) const;

 private:
  double least_share(double confidence) const;
  double low(double confidence) const;

  std::uint64_t clusters_ = 0;
  double successes_ = 0.0;
  double trials_ = 0.0;
  double success_squares_ = 0.0;
  double trial_squares_ = 0.0;
  double products_ = 0.0;
  std::map<Cluster, std::uint64_t> by_kind_;  ///< How many there are of each.
};

}  // namespace sluice
