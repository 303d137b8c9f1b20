#pragma once

#include "common/finding.hpp"
#include "coordinator/gate/json_source.hpp"
#include "coordinator/gate/json_value.hpp"
#include "coordinator/report/report_scores.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// Takes the events of a JSON parser and makes the scores of a report of them (report_reader.hpp). Each event
/// says whether to go on; the first problem ends it.
class ReportReader {
 public:
  static constexpr std::size_t max_depth = 64;

  ReportReader(const JsonSource& source, std::string file) : source_(source), file_(std::move(file)) {}

  bool key(std::string_view name);
  bool value(const JsonValue& value);  ///< Of an object or list its beginning.
  bool close();                        ///< The end of the innermost object or list.
  /// The text is no JSON at `token`; `out_of_range` for a number that is too large.
  void broken(std::string_view token, bool out_of_range);

  /// Once there are no more events.
  tl::expected<ReportScores, Finding> finish();

  /// What an open object or list is.
  enum class Context : std::uint8_t {
    report,
    results,
    result,
    metrics,
    metric,
    thresholding,
    repeats,  ///< What the repeats of a metric came to.
    claims,   ///< A list of which only the length matters.
    run,
    stability,
    figures,
    stability_gate,
    perturbations,
    perturbation,
    other,
  };
  enum class Field : std::uint8_t {
    none,
    schema_version,
    suite,
    config_fingerprint,
    timestamp,
    reason_code,
    stability,
    stability_details,
    fixture_results,
    run,
    sluice_version,
    id,
    status,
    metrics,
    missing,
    unexpected,
    forbidden,
    true_positives,
    false_negatives,
    category,
    name,
    score,
    passed,
    asked_by_name,
    repeat_scores,
    repeat_passed,
    thresholding,
    mode,
    max_drop,
    min_floor,
    min_score,
    confidence,
    min_effect,
    unit,
    repeats,
    perturbed_trials,
    overall,
    gate,
    perturbations,
    cases,
    answers,
    min_stability,
    stability_max_drop,
    perturbation_name,
    perturbation_version,
    selection,
    run_min_stability,
  };

 private:
  bool problem(std::string message);
  bool expected(const JsonValue& value, std::string_view what);
  std::string place() const;  ///< Like `fixture_results[3].metrics[0].score`.
  std::string in_place() const;

  bool take(Context context, const JsonValue& value);
  bool take_of_report(const JsonValue& value);
  bool take_of_result(const JsonValue& value);
  bool take_of_metric(const JsonValue& value);
  bool take_of_thresholding(const JsonValue& value);
  bool take_of_run(const JsonValue& value);
  bool take_mode(const JsonValue& value, Thresholding& target);
  bool take_confidence(const JsonValue& value, std::optional<double>& target);
  bool take_min_effect(const JsonValue& value, std::optional<double>& target);
  bool take_repeat(const JsonValue& value);
  bool take_of_stability(const JsonValue& value);
  bool take_of_figures(const JsonValue& value);
  bool take_of_stability_gate(const JsonValue& value);
  bool take_of_perturbation(const JsonValue& value);
  bool begin_perturbation(const JsonValue& value);
  bool begin_result(const JsonValue& value);
  bool begin_metric(const JsonValue& value);
  bool schema_version(const JsonValue& value);
  bool text(const JsonValue& value, std::string& target);
  bool status(const JsonValue& value);
  bool fraction(const JsonValue& value, std::optional<double>& target);
  bool truth(const JsonValue& value, bool& target);
  bool count_of_expected(const JsonValue& value);
  bool count(const JsonValue& value, std::uint64_t& target);
  bool open(const JsonValue& value, JsonValue::Kind kind, Context context);

  bool finish_metric();
  bool finish_result();
  bool settle(ComparedMetric& metric, std::size_t index);
  bool settle_repeats();
  bool finish_perturbation();
  void finish_stability();
  static std::uint64_t bit(Field field) { return std::uint64_t{1} << static_cast<std::uint32_t>(field); }
  bool has(Field field) const { return (seen_ & bit(field)) != 0; }
  void forget(Field first, Field last);
  bool require(Field first, Field last, const std::string& where);

  const JsonSource& source_;
  std::string file_;
  ReportScores scores_;
  std::optional<Finding> problem_;

  std::vector<Context> contexts_;
  Context opened_ = Context::other;  ///< What the value at hand opens.
  Field field_ = Field::none;        ///< Of the value that comes next.
  std::string name_;                 ///< Ditto, also of an unknown one.
  std::uint64_t seen_ = 0;           ///< Bit set of fields, of each kind of object the one at hand.
  bool report_closed_ = false;

  ComparedCase result_;
  std::vector<std::optional<bool>> passed_;  ///< Of each metric of the result.
  std::size_t missing_ = 0;
  std::size_t unexpected_ = 0;
  std::size_t forbidden_ = 0;
  std::size_t* claims_ = nullptr;  ///< The one that counts the list at hand.
  std::size_t zero_counts_ = 0;    ///< Of true_positives and false_negatives.

  std::optional<double> stability_;
  BaselineStability figures_;  ///< But for the score.
  std::string perturbation_;   ///< The name of the one at hand.
  std::string version_;        ///< Ditto.
};

}  // namespace sluice
