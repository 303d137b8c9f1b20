#include "coordinator/defaults.hpp"
#include "coordinator/gate/billionths.hpp"
#include "coordinator/score_files/json_pieces.hpp"
#include "coordinator/score_files/report_case_reader.hpp"
#include "coordinator/score_files/score_file.hpp"

#include <algorithm>
#include <array>
#include <string>
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
                                    Member{"", "judge"},
                                    Member{"judge", "provider"},
                                    Member{"judge", "provider_name"},
                                    Member{"judge", "model"},
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
                                    Member{"fixture_results", "not_started"},
                                    Member{"fixture_results", "request"},
                                    Member{"fixture_results", "metrics"},
                                    Member{"fixture_results", "missing"},
                                    Member{"fixture_results", "unexpected"},
                                    Member{"fixture_results", "forbidden"},
                                    Member{"fixture_results", "true_positives"},
                                    Member{"fixture_results", "false_negatives"},
                                    Member{"fixture_results", "category"},
                                    Member{"fixture_results", "known_failure"},
                                    Member{"fixture_results", "repeats"},
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
  void take(const JsonAt& at) override {
    if (const ComparedCase* const one = cases_.read(at)) scores_.add(*one);
  }

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
        read_test_rules(*this, tests, scores_.tests);
      }
    }
    if (file["arms"]) read_arms(file["arms"]);
    if (file["judge"]) read_judge(file["judge"]);
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
    for (std::size_t i = 0; i < at->members.size(); ++i) {
      const JsonAt rate = at.member(i);
      if (!number(rate, scores_.min_pass_rates.by_category[std::string(rate.name())])) return false;
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

  bool read_judge(const JsonAt& at) {
    JudgeIdentity judge;
    const JsonAt model = at["model"];
    const bool is_of_the_fake = model.is(JsonNode::Kind::text) && model->text.empty();
    if (!object(at) || !text(at["provider"], judge.provider) ||
        (!is_of_the_fake && !text(model, judge.model)) ||
        (at["provider_name"] && !text(at["provider_name"], judge.name)))
      return false;
    scores_.judged_by(std::move(judge));
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
  ReportCaseReader cases_{*this};
  BaselineStability figures_;  ///< But for the score.
};

}  // namespace

tl::expected<ReportScores, Finding> parse_report(std::istream& text, const std::string& file) {
  ReportReader reader(text, file);
  reader.read();
  return reader.finish();
}

}  // namespace sluice
