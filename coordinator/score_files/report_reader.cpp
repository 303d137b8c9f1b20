#include "common/defaults.hpp"
#include "common/model/metrics.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/billionths.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/score_files/json_pieces.hpp"
#include "coordinator/score_files/score_file.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <utility>

namespace sluice {
namespace {

using Kind = JsonNode::Kind;
using Member = JsonPieces::Member;
constexpr std::array report_members{Member{"", "schema_version"},
                                    Member{"", "suite"},
                                    Member{"", "config_fingerprint"},
                                    Member{"", "fingerprint_parts"},
                                    Member{"fingerprint_parts", ""},
                                    Member{"", "timestamp"},
                                    Member{"", "reason_code"},
                                    Member{"", "arms"},
                                    Member{"", "stability"},
                                    Member{"", "stability_details"},
                                    Member{"stability_details", "repeats"},
                                    Member{"stability_details", "perturbed_trials"},
                                    Member{"stability_details", "overall"},
                                    Member{"stability_details", "gate"},
                                    Member{"stability_details", "perturbations"},
                                    Member{"", "run"},
                                    Member{"run", "sluice_version"},
                                    Member{"run", "mode"},
                                    Member{"run", "selection"},
                                    Member{"run", "min_stability"},
                                    Member{"run", "min_pass_rate"},
                                    Member{"run", "min_pass_rates"},
                                    Member{"run", "statistical_gate"},
                                    Member{"fixture_results", "id"},
                                    Member{"fixture_results", "status"},
                                    Member{"fixture_results", "metrics"},
                                    Member{"fixture_results", "missing"},
                                    Member{"fixture_results", "unexpected"},
                                    Member{"fixture_results", "forbidden"},
                                    Member{"fixture_results", "true_positives"},
                                    Member{"fixture_results", "false_negatives"},
                                    Member{"fixture_results", "category"},
                                    Member{"fixture_results", "known_failure"},
                                    Member{"fixture_results", "meta"}};

/// A report of a million cases is a few gigabytes, and quotes whole answers.
constexpr JsonPieces::Shape report_shape{
    .kind = "report",
    .written_by = "--format json",
    .how_to_write = "run the suite again",
    .if_not_json = "so no report: `sluice run SUITE --format json --output FILE` writes one",
    .list = "fixture_results",
    .wanted = report_members,
    .limits = {.text_bytes = defaults::max_report_bytes, .piece_bytes = defaults::max_report_piece_bytes}};

std::size_t repeats_of(const ComparedMetric& metric) {
  return metric.repeat_scores.size() + metric.repeat_passed.size();
}

class ReportReader : public JsonPieces {
 public:
  ReportReader(std::istream& text, const std::string& file) : JsonPieces(text, file, report_shape) {}

  tl::expected<ReportScores, Finding> finish() {
    if (is_whole()) read_header();
    if (problem()) return tl::unexpected(*problem());
    if (const auto twice = scores_.seal()) {
      return tl::unexpected(Finding{file(), 0,
                                    "`fixture_results[" + std::to_string(twice->second) +
                                        "]` has the id of `fixture_results[" + std::to_string(twice->first) +
                                        "]`: keep one of the two"});
    }
    return std::move(scores_);
  }

 private:
  // --- Values that a report alone has ---

  bool fraction(const JsonAt& at, std::optional<double>& target) {
    if (!at) return expected(at, "");
    if (at.is(Kind::null)) return true;
    if (!at.is(Kind::number) || at->number < 0.0 || at->number > 1.0) {
      return expected(at, "a number from 0 to 1, or null");
    }
    target = at->number;
    return true;
  }
  bool fraction_if_there(const JsonAt& at, std::optional<double>& target) {
    return !at || fraction(at, target);
  }

  /// Between two bounds, both excluded.
  bool inner_if_there(const JsonAt& at, double low, const char* what, std::optional<double>& target) {
    if (!at) return true;
    if (!at.is(Kind::number) || at->number <= low || at->number >= 1.0) return expected(at, what);
    target = at->number;
    return true;
  }

  bool length_if_there(const JsonAt& at, std::size_t& target) {
    if (!at) return true;
    target = at->members.size();
    return list(at);
  }

  // --- Cases ---

  void take(const JsonAt& at) override {
    if (!object(at)) return;
    result_ = {};
    scored_.clear();
    std::size_t missing_claims = 0;
    std::size_t unexpected = 0;
    std::size_t forbidden = 0;
    if (!text(at["id"], result_.test_id) || !read_status(at["status"]) ||
        !length_if_there(at["missing"], missing_claims) || !length_if_there(at["unexpected"], unexpected) ||
        !length_if_there(at["forbidden"], forbidden) || !read_expects_nothing(at)) {
      return;
    }
    if (const auto category = at["category"]) {
      if (!category.is(Kind::text)) return void(expected(category, "a text"));
      result_.category = category->text;
    }
    const auto metrics = at["metrics"];
    if (!list(metrics)) return;
    for (std::size_t i = 0; i < metrics->members.size(); ++i) {
      if (!read_metric(metrics[i], missing_claims == 0, forbidden == 0, unexpected + forbidden == 0)) return;
    }
    if (!check_repeats(metrics) || !read_votes(at)) return;
    drop_needless_words();
    scores_.add(result_);
  }

  /// What a check expects tells it from others of the case by the same metric.
  void drop_needless_words() {
    for (ComparedMetric& metric : result_.metrics) {
      if (std::ranges::count(result_.metrics, metric.name, &ComparedMetric::name) < 2)
        metric.expected.clear();
    }
  }

  /// Those of judge metrics, which decide beside the scores.
  bool read_votes(const JsonAt& at) {
    const auto meta = at["meta"];
    if (!meta) return true;
    if (!object(meta)) return false;
    const auto assay = meta["assay"];
    if (!assay) return true;
    if (!object(assay)) return false;
    const auto judge = assay["judge"];
    if (!judge) return true;
    if (!object(judge)) return false;
    for (ComparedMetric& metric : result_.metrics) {
      const MetricInfo* known = find_metric(metric.name);
      if (known == nullptr || !is_judge_metric(known->id)) continue;
      const auto judged = judge[metric.name];
      if (judged && !read_votes_of(judged, metric)) return false;
    }
    return true;
  }

  bool read_votes_of(const JsonAt& judged, ComparedMetric& metric) {
    if (!object(judged) || !read_calibration(judged["calibration"], metric.calibration)) return false;
    const auto repeats = judged["repeats"];
    if (!repeats) {
      if (!read_tally(judged, metric.votes.emplace_back())) return false;
    } else if (!list(repeats)) {
      return false;
    }
    for (std::size_t i = 0; repeats && i < repeats->members.size(); ++i) {
      const auto one = repeats[i];
      if (!object(one) || !read_tally(one, metric.votes.emplace_back())) return false;
    }
    std::optional<double> min_score;
    if (!fraction_if_there(judged["min_score"], min_score)) return false;
    for (VoteTally& tally : metric.votes) tally.min_score = min_score;
    const std::size_t assessed = std::max<std::size_t>(metric.repeat_scores.size(), 1);
    if (metric.votes.size() == assessed) return true;
    return problem(judged->line, "`" + judged.place() + "` has the votes of " +
                                     std::to_string(metric.votes.size()) +
                                     " repeats, and the metric the scores of " + std::to_string(assessed) +
                                     ": use the sluice that wrote it, or run the suite again");
  }

  bool read_calibration(const JsonAt& at, std::optional<CalibrationStanding>& target) {
    if (!at) return true;
    using enum CalibrationStanding;
    for (const CalibrationStanding one : {calibrated, missing, fake, kappa_low}) {
      if (at.is(Kind::text) && to_string(one) == at->text) target = one;
    }
    return target || expected(at, "calibrated, missing, fake or kappa_low");
  }

  bool read_tally(const JsonAt& judged, VoteTally& tally) {
    const auto samples = judged["samples"];
    if (!list(samples)) return false;
    const std::size_t count = samples->members.size();
    if (count == 0 || count > defaults::max_judge_samples) {
      return problem(samples->line, "`" + samples.place() + "` holds " + std::to_string(count) +
                                        " votes, expected 1 to " +
                                        std::to_string(defaults::max_judge_samples));
    }
    for (std::size_t i = 0; i < count; ++i) {
      bool passed = false;
      if (!truth(samples[i], passed)) return false;
      tally.passed += passed ? 1 : 0;
    }
    tally.samples = tally.votes = static_cast<std::uint32_t>(count);
    tally.disagree = tally.passed > 0 && tally.passed < tally.votes;
    return true;
  }

  bool read_status(const JsonAt& at) {
    constexpr std::array all{CaseStatus::pass, CaseStatus::warn, CaseStatus::flaky, CaseStatus::fail,
                             CaseStatus::error};
    const bool is_known = at.is(Kind::text) && std::ranges::any_of(all, [&](CaseStatus one) {
                            return to_string(one) == at->text;
                          });
    if (!is_known) return expected(at, "pass, warn, flaky, fail or error");
    result_.is_error = at->text == to_string(CaseStatus::error);
    return true;
  }

  bool read_expects_nothing(const JsonAt& at) {
    std::size_t zeros = 0;
    for (const char* name : {"true_positives", "false_negatives"}) {
      const auto count = at[name];
      if (!count || count.is(Kind::null)) continue;  // Of a text, or an error.
      if (!count->whole) return expected(count, "a whole number from 0, or null");
      zeros += *count->whole == 0 ? 1 : 0;
    }
    result_.expects_nothing = zeros == 2;
    result_.is_known_failure = static_cast<bool>(at["known_failure"]);
    return true;
  }

  bool read_metric(const JsonAt& at, bool required, bool forbidden, bool absent) {
    if (!object(at)) return false;
    ComparedMetric& metric = result_.metrics.emplace_back();
    const auto passed = at["passed"];
    if (!text(at["name"], metric.name) || !fraction(at["score"], metric.score)) return false;
    if (!passed || !(passed.is(Kind::null) || passed.is(Kind::boolean))) {
      return expected(passed, "true, false or null");
    }
    if (!truth(at["asked_by_name"], metric.asked_by_name) || !read_repeats(at, metric) ||
        !read_thresholding(at["thresholding"], metric)) {
      return false;
    }
    if (const auto check = at["check"]) {
      const auto digest = check.is(Kind::text) ? check_from_text(check->text) : std::nullopt;
      if (!digest) return expected(check, "16 hex digits");
      metric.check = *digest;
    }
    if (const auto words = at["expected"]; words.is(Kind::text))
      metric.expected = excerpt(words->text, defaults::compared_check_bytes);
    if (is_scored(metric) && !scored_.insert(metric.name).second) {
      return problem(at->line, "`fixture_results[" + std::to_string(taken()) + "]` has the scored metric " +
                                   backquoted(metric.name) + " twice");
    }
    if (is_scored(metric) || !metric.repeat_passed.empty()) return true;
    // Whether it did, also where the report leaves that to a score.
    const MetricId id = find_metric(metric.name)->id;
    if (passed.is(Kind::boolean)) {
      metric.passed = passed->boolean;
    } else if (id == MetricId::claims_required) {
      metric.passed = required;
    } else if (id == MetricId::claims_forbidden) {
      metric.passed = forbidden;
    } else if (id == MetricId::claims_absent) {
      metric.passed = absent;
    } else {
      return expected(passed, "true or false");
    }
    return true;
  }

  bool read_repeats(const JsonAt& at, ComparedMetric& metric) {
    for (const char* name : {"repeat_scores", "repeat_passed"}) {
      const auto repeats = at[name];
      if (!repeats) continue;
      if (!list(repeats)) return false;
      if (repeats->members.size() > defaults::max_read_repeats) {
        return problem(repeats->line, "`" + repeats.place() + "` holds more than " +
                                          std::to_string(defaults::max_read_repeats) + " repeats");
      }
    }
    const auto scores = at["repeat_scores"];
    for (std::size_t i = 0; scores && i < scores->members.size(); ++i) {
      if (!fraction(scores[i], metric.repeat_scores.emplace_back())) return false;
    }
    const auto passed = at["repeat_passed"];
    for (std::size_t i = 0; passed && i < passed->members.size(); ++i) {
      bool one = false;
      if (!truth(passed[i], one)) return false;
      metric.repeat_passed.push_back(one);
    }
    return true;
  }

  bool read_thresholding(const JsonAt& at, ComparedMetric& metric) {
    if (!at || at.is(Kind::null)) return true;
    Thresholding& target = metric.thresholding;
    if (!object(at)) return false;
    if (const auto mode = at["mode"]) {
      for (const auto one : {ThresholdMode::relative, ThresholdMode::absolute, ThresholdMode::statistical}) {
        if (mode.is(Kind::text) && mode->text == to_string(one)) target.mode = one;
      }
      if (!target.mode) return expected(mode, "\"relative\", \"absolute\" or \"statistical\"");
    }
    // `min_score` is in effect in this mode or beside it: it holds whatever the mode.
    return fraction_if_there(at["max_drop"], target.max_drop) &&
           fraction_if_there(at["min_floor"], target.min_floor) &&
           fraction_if_there(at["min_score"], metric.min_score) && read_test_rules(at, target);
  }

  bool read_test_rules(const JsonAt& at, Thresholding& target) {
    if (const auto unit = at["unit"]) {
      target.cluster_by_category = unit.is(Kind::text) && unit->text == "category";
      const bool is_case = unit.is(Kind::text) && unit->text == "case";
      if (!target.cluster_by_category && !is_case) return expected(unit, "\"case\" or \"category\"");
    }
    // As of a suite: no suite is large enough to exclude a drop of 0, and none of all points is found.
    return inner_if_there(at["confidence"], 0.5, "a number above 0.5 and below 1", target.confidence) &&
           inner_if_there(at["min_effect"], 0.0, "a number above 0 and below 1", target.min_effect);
  }

  /// All metrics of a case have as many repeats, and scored ones scores.
  bool check_repeats(const JsonAt& metrics) {
    for (std::size_t i = 0; i < result_.metrics.size(); ++i) {
      const ComparedMetric& metric = result_.metrics[i];
      const std::string where = "`" + metrics[i].place() + "`";
      if (!(is_scored(metric) ? metric.repeat_passed.empty() : metric.repeat_scores.empty())) {
        return problem(metrics->line,
                       where + (is_scored(metric) ? " is a score and has `repeat_passed`"
                                                  : " only passes or fails and has `repeat_scores`"));
      }
      const std::size_t expected = repeats_of(result_.metrics.front());
      if (repeats_of(metric) == expected) continue;
      return problem(metrics->line, where + " tells of " + std::to_string(repeats_of(metric)) +
                                        " repeats, and the first metric of the case of " +
                                        std::to_string(expected) +
                                        ": use the sluice that wrote it, or run the suite again");
    }
    return true;
  }

  // --- The report ---

  void read_header() {
    const JsonAt file = root();
    BaselineHeader& header = scores_.header;
    const auto version = file["schema_version"];
    if (version && !version->whole) {
      expected(version, std::to_string(report_schema_version) + ", written without a point or an exponent");
    } else if (version && *version->whole != report_schema_version) {
      problem(version->line, "is a report with schema_version " + std::to_string(*version->whole) +
                                 ", and this sluice reads " + std::to_string(report_schema_version) +
                                 ": use the sluice that wrote it, or run the suite again");
    }
    if (file["suite"]) text(file["suite"], header.suite);
    if (file["config_fingerprint"]) text(file["config_fingerprint"], header.config_fingerprint);
    if (file["fingerprint_parts"]) texts(file["fingerprint_parts"], header.fingerprint_parts);
    if (file["timestamp"]) time(file["timestamp"], header.created_at);
    if (const auto reason = file["reason_code"]; reason && !reason.is(Kind::null))
      text(reason, scores_.reason_code);
    if (file["fixture_results"])
      expected(file["fixture_results"], "a list");  // A list is handed on, not kept.
    StabilityQuestion& question = scores_.stability_question;
    const auto run = file["run"];
    if (run && object(run)) {
      if (run["sluice_version"]) text(run["sluice_version"], header.assay_version);
      std::string mode;
      scores_.names_mode = run["mode"] && text(run["mode"], mode);
      if (mode == "mock") header.mode = mode;  // As in the baseline of such a run.
      if (run["selection"]) truth(run["selection"], scores_.is_selection);
      fraction_if_there(run["min_stability"], question.min_stability);
      fraction_if_there(run["min_pass_rate"], scores_.min_pass_rates.general);
      if (run["min_pass_rates"]) read_category_rates(run["min_pass_rates"]);
      if (const auto tests = run["statistical_gate"]; tests && object(tests)) {
        scores_.tests.mode = ThresholdMode::statistical;
        read_test_rules(tests, scores_.tests);
      }
    }
    if (file["arms"]) read_arms(file["arms"]);
    fraction_if_there(file["stability"], question.score);
    if (file["stability_details"]) read_stability(file["stability_details"]);
    for (const char* name : {"schema_version", "suite", "config_fingerprint", "timestamp"}) {
      if (!problem() && !file[name]) missing(file, name, line());
    }
    if (!problem() && !has_list()) missing(file, "fixture_results", line());
    if (!problem() && !run) missing(file, "run", line());
    if (!problem() && !run["sluice_version"]) missing(file, "sluice_version", line());
    finish_stability();
  }

  bool read_category_rates(const JsonAt& at) {
    if (!object(at)) return false;
    for (const auto& [category, node] : at->members) {
      if (!number(at[category], scores_.min_pass_rates.by_category[category])) return false;
    }
    return true;
  }

  bool read_arms(const JsonAt& at) {
    if (!list(at)) return false;
    for (std::size_t i = 0; i < at->members.size(); ++i) {
      const auto arm = at[i];
      if (!object(arm) || !text(arm["name"], scores_.arms.emplace_back())) return false;
    }
    return true;
  }

  bool read_stability(const JsonAt& at) {
    if (!object(at)) return false;
    StabilityQuestion& question = scores_.stability_question;
    const auto count_if_there = [&](const JsonAt& value, std::uint64_t& target) {
      return !value || count(value, target);
    };
    std::uint64_t repeats = 1;
    if (!count_if_there(at["repeats"], repeats) ||
        !count_if_there(at["perturbed_trials"], question.planned)) {
      return false;
    }
    figures_.repeats =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(repeats, defaults::max_read_repeats));
    const auto overall = at["overall"];
    if (overall && (!object(overall) || !count_if_there(overall["cases"], figures_.cases) ||
                    !count_if_there(overall["answers"], figures_.answers))) {
      return false;
    }
    const auto gate = at["gate"];
    if (gate && !gate.is(Kind::null)) {
      if (!object(gate) || !fraction_if_there(gate["min_stability"], question.min_stability) ||
          !fraction_if_there(gate["max_drop"], question.suite.max_drop)) {
        return false;
      }
      // Without a largest drop no baseline assesses.
      if (gate["max_drop"])
        question.suite.mode = question.suite.max_drop ? ThresholdMode::relative : ThresholdMode::absolute;
    }
    const auto perturbations = at["perturbations"];
    if (!perturbations) return true;
    if (!list(perturbations)) return false;
    for (std::size_t i = 0; i < perturbations->members.size(); ++i) {
      const auto one = perturbations[i];
      std::string name;
      std::string version;
      std::uint64_t changed = 1;
      std::uint64_t failed = 0;
      if (!object(one) || !text(one["name"], name) || !text(one["version"], version) ||
          !count_if_there(one["changed"], changed) || !count_if_there(one["failed"], failed))
        return false;
      question.perturbations.push_back(name + " " + version);
      if (changed == 0 && failed == 0) question.idle.push_back(question.perturbations.back());
    }
    return true;
  }

  /// As a baseline of the same run would have it.
  void finish_stability() {
    StabilityQuestion& question = scores_.stability_question;
    question.is_selection = scores_.is_selection;
    question.answers = figures_.answers;
    if (!question.score) return;
    figures_.score = from_billionths(billionths(*question.score));
    figures_.perturbations = question.perturbations;
    scores_.stability = figures_;
  }

  ReportScores scores_;
  ComparedCase result_;                     ///< The one at hand.
  std::unordered_set<std::string> scored_;  ///< Its scored metrics so far.
  BaselineStability figures_;               ///< But for the score.
};

}  // namespace

tl::expected<ReportScores, Finding> parse_report(std::istream& text, const std::string& file) {
  ReportReader reader(text, file);
  reader.read();
  return reader.finish();
}

}  // namespace sluice
