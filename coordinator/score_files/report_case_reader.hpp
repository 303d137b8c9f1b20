#pragma once

#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/judge_pin.hpp"
#include "coordinator/score_files/json_values.hpp"
#include "coordinator/suite/thresholding.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

namespace sluice {

/// Reads what a comparison needs of a JSON report's cases (`fixture_results`), one by one. Not thread-safe.
class ReportCaseReader {
 public:
  /// What is wrong with a case becomes a problem of `values`, which must outlive the reader.
  explicit ReportCaseReader(JsonValues& values) : values_(values) {}

  /// The case, until the next one is read; null: there is a problem.
  const ComparedCase* read(const JsonAt& at);

 private:
  bool length_if_there(const JsonAt& at, std::size_t& target);
  bool read_status(const JsonAt& at);
  bool read_expects_nothing(const JsonAt& at);
  bool read_metric(const JsonAt& at, bool required, bool forbidden, bool absent);
  bool read_repeats(const JsonAt& at, ComparedMetric& metric);
  bool read_thresholding(const JsonAt& at, ComparedMetric& metric);
  bool check_repeats(const JsonAt& metrics);
  bool read_tally_of_repeats(const JsonAt& at);
  bool read_votes(const JsonAt& at);
  bool read_votes_of(const JsonAt& judged, ComparedMetric& metric);
  bool read_rubric(const JsonAt& judged, ComparedMetric& metric);
  bool read_calibration(const JsonAt& at, std::optional<CalibrationStanding>& target);
  bool read_tally(const JsonAt& judged, VoteTally& tally);
  void drop_needless_words();

  JsonValues& values_;
  ComparedCase result_;                                              ///< The one at hand.
  std::unordered_set<std::string> scored_;                           ///< Its scored metrics so far.
  std::map<std::pair<std::string, std::string>, JudgePin> rubrics_;  ///< By version and hash.
};

/// What a statistical test counts by, and how sure of how much it is to be: of a metric, or of a whole run.
/// False, with a problem of `values`, where it cannot be that.
bool read_test_rules(JsonValues& values, const JsonAt& at, Thresholding& target);

}  // namespace sluice
