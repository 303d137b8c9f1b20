#include "common/text/joined.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/report/html/xml_text.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/report/wording/assessment_wording.hpp"
#include "coordinator/report/wording/case_explanation.hpp"
#include "coordinator/report/wording/pass_rate_wording.hpp"
#include "coordinator/report/wording/statistics_wording.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

class JunitReport {
 public:
  JunitReport(const ReportInput& input, Sink& sink) : input_(input), writer_(sink) {}

  // All cases are in one testsuite: they come in the order of their ids, and a category of its own would have
  // to hold them all first. The category is the testcase's class.
  Result<void> write() {
    const std::string counts = count_attributes();
    text() += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", "sluice") +
              counts + ">\n<testsuite" + attribute("name", suite_name()) + counts +
              attribute("skipped", "0") +
              attribute("timestamp", wording::rfc3339(input_.facts.completed_at_ms).substr(0, 19)) + ">\n";
    write_properties();
    if (has_failed_comparison()) write_comparison();
    if (misses_pass_rate()) write_pass_rate();
    if (is_error_of_run()) write_error_of_run();
    const auto visited = visit_cases(input_.results, [&](const CaseResult& result) {
      write_case(result);
      writer_.passed();
    });
    if (!visited) return visited;
    write_words();
    text() += "</testsuite>\n</testsuites>\n";
    return {};
  }

 private:
  std::string& text() { return writer_.text(); }

  static std::string attribute(std::string_view name, std::string_view value) {
    return std::string(" ").append(name).append("=\"").append(xml_escaped(value)).append("\"");
  }

  void element(std::string_view name, const std::string& attributes, std::string_view content) {
    text().append("<").append(name).append(attributes).append(">");
    text().append(xml_escaped(content)).append("</").append(name).append(">\n");
  }

  std::string suite_name() const {
    return input_.results.suite.name.empty() ? "suite" : input_.results.suite.name;
  }

  // Under --strict what warns ends the run with exit code 1: a build server must not show it green.
  bool warnings_fail() const { return input_.gate.strict; }

  bool is_beyond(AggregateOutcome outcome) const {
    return outcome == AggregateOutcome::beyond_limit ||
           (warnings_fail() && outcome == AggregateOutcome::within_limit);
  }

  // Of the tests of all cases and the stability.
  std::vector<std::string> failures_of_run() const {
    std::vector<std::string> failures = wording::run_failures(input_.gate);
    if (warnings_fail()) std::ranges::move(wording::run_warnings(input_.gate), std::back_inserter(failures));
    return failures;
  }

  // The gate itself is one more testcase when it failed by what no case shows.
  bool has_failed_comparison() const {
    const auto& gate = input_.gate;
    return (gate.aggregates && is_beyond(gate.aggregates->outcome)) || !failures_of_run().empty() ||
           std::ranges::count(gate.notices, GateNotice::Severity::failure, &GateNotice::severity) > 0;
  }

  bool misses_pass_rate() const { return !wording::missed_pass_rates(input_).empty(); }

  std::uint64_t failure_count() const {
    const Totals& all = input_.aggregates.all;
    const StatusCounts& statuses = all.statuses;
    const std::uint64_t failed = wording::failures_beyond_pass_rate(input_);
    const std::uint64_t warned = warnings_fail() ? all.warned() + statuses.flaky : 0;
    return failed + warned + (has_failed_comparison() ? 1 : 0) + (misses_pass_rate() ? 1 : 0);
  }

  // What fails the run stands at no case and is no comparison either: it had no cases, or repeats alone are
  // missing.
  bool is_error_of_run() const {
    return wording::exit_code_of(input_, input_.gate.strict) != 0 &&
           failure_count() + input_.aggregates.all.statuses.errors == 0;
  }

  std::string count_attributes() const {
    const StatusCounts& statuses = input_.aggregates.all.statuses;
    const std::uint64_t of_gate = (has_failed_comparison() ? 1 : 0) + (misses_pass_rate() ? 1 : 0);
    const std::uint64_t of_run = is_error_of_run() ? 1 : 0;
    return attribute("tests", std::to_string(statuses.total() + of_gate + of_run)) +
           attribute("failures", std::to_string(failure_count())) +
           attribute("errors", std::to_string(statuses.errors + of_run)) +
           attribute("time", wording::seconds(input_.facts.duration_seconds));
  }

  void write_properties() {
    const auto property = [&](std::string_view name, std::string_view value) {
      text() += "<property" + attribute("name", name) + attribute("value", value) + "/>\n";
    };
    text() += "<properties>\n";
    property("verdict", to_string(input_.verdict));
    property("run_id", input_.facts.run_id);
    if (wording::has_claims_cases(input_)) property("prompt_version", input_.identity.prompt_version);
    if (input_.identity.arms.empty()) {
      // Where nobody was asked, the provider of the settings had no part in it.
      if (input_.identity.model != defaults::recorded_model) {
        property("provider", to_string(input_.identity.provider));
        property("provider_name", input_.identity.provider_name);
      }
      property("model", input_.identity.model);
    }
    for (std::size_t i = 0; i < input_.identity.arms.size(); ++i) {
      const ArmIdentity& arm = input_.identity.arms[i];
      property("arm." + input_.arms->arms.at(i).name, arm.provider_name + ":" + arm.model);
    }
    if (const JudgeIdentity& judge = input_.identity.judge; !judge.provider.empty()) {
      property("judge_provider", judge.provider);
      property("judge_provider_name", judge.shown_name());
      property("judge_model", judge.model);
    }
    property("mode", input_.mode);
    property("config_fingerprint", input_.gate.config_fingerprint);
    if (input_.gate.kind != BaselineKind::none) property("baseline", input_.gate.baseline_file);
    property("cost", wording::cost(input_));
    text() += "</properties>\n";
  }

  void open_case(std::string_view category, std::string_view name, const std::string& time = "") {
    const std::string suite = suite_name();
    text() += "<testcase" +
              attribute("classname", category.empty() ? suite : suite + '.' + std::string(category)) +
              attribute("name", name) + time + ">";
  }

  /// What the case's answers took, each once; empty where none was called for in this run.
  static std::string time_of(const CaseResult& result) {
    std::set<UnitId> counted;
    std::uint64_t milliseconds = 0;
    for (const TrialResult& trial : result.trials) {
      if (trial.unit != nullptr && counted.insert(trial.unit->unit).second)
        milliseconds += trial.unit->spend.latency_ms;
    }
    if (milliseconds == 0) return "";
    return attribute("time", wording::seconds(static_cast<double>(milliseconds) / 1000.0));
  }

  void write_comparison() {
    open_case("", "baseline comparison");
    std::string words;
    for (const GateNotice& notice : input_.gate.notices) {
      if (notice.severity == GateNotice::Severity::failure)
        words += notice.code + ": " + notice.message + '\n';
    }
    for (const std::string& line : failures_of_run()) words += line + '\n';
    if (input_.gate.aggregates) {
      for (const AggregateComparison& comparison : input_.gate.aggregates->metrics) {
        if (is_beyond(comparison.outcome)) words += wording::dropped(comparison) + '\n';
      }
    }
    element("failure", attribute("message", wording::reason_for(input_)) + attribute("type", "baseline"),
            words);
    text() += "</testcase>\n";
  }

  void write_pass_rate() {
    open_case("", "pass rate");
    element("failure",
            attribute("message", wording::missed_pass_rates(input_)) + attribute("type", "min_pass_rate"),
            joined(wording::pass_rates(input_), "\n"));
    text() += "</testcase>\n";
  }

  void write_error_of_run() {
    open_case("", "run");
    const std::string reason = wording::reason_for(input_);
    const auto& cut_short = input_.facts.cut_short;
    element("error",
            attribute("message", reason) +
                attribute("type", cut_short ? to_string(cut_short->reason) : to_string(input_.verdict)),
            reason);
    text() += "</testcase>\n";
  }

  std::vector<wording::CaseLine> explanation(const CaseResult& result) {
    return wording::explanation(result, input_.results.suite.rubrics, details_);
  }

  void write_failure(const CaseResult& result, std::string_view type) {
    const std::vector<wording::CaseLine> lines = explanation(result);
    element("failure", attribute("message", wording::headline(lines)) + attribute("type", type),
            wording::plain_text(lines) + recorded_line(result) + source_line(result.fixture));
  }

  void write_words_of(const CaseResult& result, std::string_view what_became_of_it) {
    element("system-out", "",
            std::string(what_became_of_it) + "\n" + wording::plain_text(explanation(result)) +
                recorded_line(result));
  }

  void write_case(const CaseResult& result) {
    open_case(result.fixture.category, wording::title(result.fixture), time_of(result));
    switch (result.status) {
      case CaseStatus::error:
        element("error",
                attribute("message", wording::first_line(result.error->message)) +
                    attribute("type", to_string(result.error->reason)),
                result.error->message + answer_line(result) + recorded_line(result, "\n"));
        break;
      case CaseStatus::fail:
        if (wording::is_within_pass_rate(input_, result)) {
          write_words_of(result, "failed, within min_pass_rate");
          break;
        }
        write_failure(result, result.assessment.regressed ? "regression" : "failure");
        break;
      case CaseStatus::warn:
      case CaseStatus::flaky:
        if (warnings_fail() && !result.assessment.only_known_failures()) {
          write_failure(result, to_string(result.status));
          break;
        }
        write_words_of(result, to_string(result.status));
        break;
      case CaseStatus::pass:
        if (result.assessment.improved) {
          element("system-out", "",
                  "improved: " + wording::improvements(result) + recorded_line(result, "\n"));
        } else if (result.fixture.recorded) {
          element("system-out", "", recorded_line(result));
        }
        break;
    }
    text() += "</testcase>\n";
  }

  static std::string recorded_line(const CaseResult& result, const std::string& before = "") {
    return result.fixture.recorded ? before + "Recorded answer\n" : "";
  }

  static std::string answer_line(const CaseResult& result) {
    const std::string answer = wording::rejected_answer(result);
    return answer.empty() ? "" : "\nAnswer: " + answer + "\n";
  }

  std::string source_line(const Case& fixture) const {
    if (fixture.source.empty()) return "";
    return "Source: " + wording::file_of(fixture, input_) +
           (fixture.line > 0 ? ":" + std::to_string(fixture.line) : "") + "\n";
  }

  void write_words() {
    std::string words = wording::headline(input_.verdict) + ": " + wording::reason_for(input_) + '\n';
    for (const GateNotice& notice : input_.gate.notices) {
      words += std::string(wording::severity_word(notice.severity)) + ": " + notice.message + '\n';
    }
    if (input_.aggregates.all.missing_entries > 0) {
      words += wording::counted(input_.aggregates.all.missing_entries, "score") +
               " without an entry in the baseline; to pin them: " + wording::how_to_pin(input_) + '\n';
    }
    element("system-out", "", words);
  }

  const ReportInput& input_;
  BufferedWriter writer_;
  CaseDetails details_;
};

}  // namespace

Result<void> write_junit_report(const ReportInput& input, Sink& sink) {
  return JunitReport(input, sink).write();
}

}  // namespace sluice
