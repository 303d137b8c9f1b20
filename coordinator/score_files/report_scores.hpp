#pragma once

#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/judge_pin.hpp"
#include "coordinator/gate/stability_gate.hpp"
#include "coordinator/suite/thresholding.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// Version of the JSON report's format (docs/report.md, config/schemas/report.schema.json).
inline constexpr int report_schema_version = 1;

/// What a comparison needs of a JSON report: the cases and what their metrics came to, and the
/// run's stability. Some 40 bytes a metric, 8 a repeat of it (10 of a judge metric), and 60 a case beside its
/// id, so that a million fit; and the words of checks where a case has several by one metric.
class ReportScores {
 public:
  BaselineHeader header;      ///< `assay_version` is the version of sluice, `created_at` the end of the run.
  std::string reason_code;    ///< Why the run was cut short; empty if it was not.
  bool is_selection = false;  ///< A part of the suite. An older report does not have it, and counts as whole.
  bool names_mode = false;    ///< `header.mode` says what the run was. An older report does not say it.
  MinPassRates min_pass_rates{};    ///< As the run asked for them.
  std::vector<std::string> arms{};  ///< Their names, in the order of the report.
  Thresholding tests;  ///< `statistical`, and by what all cases were tested, if the run's suite says so.
  std::optional<BaselineStability> stability;  ///< Where a perturbed answer was assessed.
  /// What the run's stability was assessed by; `perturbations` is empty for a run that perturbs nothing.
  StabilityQuestion stability_question;

  std::size_t size() const { return cases_.size(); }
  /// The case at a place, by id once sealed.
  void read(std::size_t index, ComparedCase& into) const;

  /// Who judged in the whole report.
  void judged_by(JudgeIdentity judge);
  /// In any order. REQUIRES: either no metric has repeats, or all have as many; so with votes, where there
  /// are any, of which no answer has more than defaults::max_judge_samples.
  void add(const ComparedCase& added);
  /// Sorts by id. Returns the positions of `add` of two cases with the same id. Call once, after the last
  /// `add`.
  std::optional<Baseline::Duplicate> seal();

 private:
  struct StoredCase {
    std::uint64_t id_begin = 0;  ///< In ids_.
    std::uint64_t first_metric = 0;
    std::uint32_t id_length = 0;
    std::uint32_t metric_count = 0;
    std::uint32_t added = 0;
    std::uint64_t first_repeat = 0;  ///< In repeats_: those of the first metric, then those of the next.
    std::uint32_t repeats = 0;       ///< Of each metric; 0: there was one.
    std::uint32_t category = 0;      ///< In names_.
    std::uint32_t answers = 0;       ///< ComparedCase
    std::uint32_t non_answers = 0;   ///< ComparedCase
    std::uint32_t lost_repeats = 0;  ///< ComparedCase
    bool is_error = false;
    bool not_started = false;
    bool expects_nothing = false;
    bool is_known_failure = false;
  };
  struct StoredMetric {
    double score = 0.0;
    std::uint32_t name = 0;    ///< In names_.
    std::uint32_t limits = 0;  ///< In limits_.
    std::uint32_t votes = 0;   ///< 1 + those of the first repeat in votes_, or 0: there are none.
    bool has_score = false;
    bool passed = true;
    bool asked_by_name = false;
    bool is_scored = true;
    std::optional<CalibrationStanding> calibration;
    std::uint32_t expected = 0;  ///< 1 + its place in expected_, or 0: none.
    std::uint64_t digest = 0;    ///< ComparedMetric::check, or ::asks of a score.
  };
  struct StoredVotes {
    std::uint8_t votes = 0;
    std::uint8_t passed = 0;
  };
  /// The distinct thresholds, and rubrics: most metrics share one.
  struct Limits {
    Thresholding thresholding;
    std::optional<double> min_score;
    std::optional<double> of_each_vote;  ///< VoteTally::min_score
    std::uint32_t rubric = 0;            ///< Of a judge metric: 1 + its place in rubrics_.
    friend bool operator==(const Limits&, const Limits&) = default;
  };

  std::string_view id_of(const StoredCase& stored) const;
  std::string_view expected_of(const StoredMetric& metric) const;
  std::uint32_t place_of(const std::string& expected);
  void read_votes(const StoredCase& stored, const StoredMetric& metric, std::vector<VoteTally>& into) const;
  std::uint32_t number_of(const std::string& name);
  std::uint32_t number_of(const Limits& limits);
  std::uint32_t rubric_of(const ComparedMetric& metric);

  // In pieces: doubling would hold twice the memory for a moment.
  std::deque<StoredCase> cases_;
  std::deque<StoredMetric> metrics_;
  std::deque<double> repeats_;     ///< Scores, not a number where undefined; 1 for passed, 0 for not.
  std::deque<StoredVotes> votes_;  ///< Of a judge metric, repeat by repeat.
  std::string ids_;
  std::string expected_;  ///< What checks expect, each after a byte with its length.
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> name_numbers_;
  std::vector<Limits> limits_;
  std::map<std::string, std::uint32_t> limit_numbers_;  ///< By their numbers as text.
  std::deque<JudgePin> rubrics_;                        ///< Each with who judged; others point to them.
  std::map<std::pair<std::string, std::string>, std::uint32_t> rubric_numbers_;  ///< By version and hash.
};

/// The cases by id. The scores must be sealed and outlive the function.
NextCase cases_of(const ReportScores& scores);

}  // namespace sluice
