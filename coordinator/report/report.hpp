#pragma once

#include "common/checks/redactor.hpp"
#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/model/run_settings.hpp"
#include "coordinator/facts/retrieval_event.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/gate/baseline_comparison.hpp"
#include "coordinator/gate/judge_pin.hpp"
#include "coordinator/gate/required_calibrations.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/merge/aggregate.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/merge/judge_bias_fold.hpp"
#include "coordinator/merge/label_fold.hpp"
#include "coordinator/merge/run_arms.hpp"
#include "coordinator/merge/run_stability.hpp"
#include "coordinator/output/sink.hpp"
#include "coordinator/report/writers/table_writer.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

class JsonCases;

/// Who answers under an arm, and to which of the suite's prompts.
struct ArmIdentity {
  ProviderKind provider = ProviderKind::openai;
  std::string provider_name;
  std::string model;
  std::string prompt;        ///< Its id; empty: the tests' own.
  std::string parameters{};  ///< What the arm sets of its requests, in words; empty: nothing.
};

/// The prompt, the model and the judge: settings that decide the results.
struct RunIdentity {
  std::string prompt_version;
  Digest prompt_hash{};
  std::string ontology_version;
  ProviderKind provider = ProviderKind::openai;  ///< The format of its requests.
  std::string provider_name;                     ///< As the settings call it.
  std::string model;
  JudgeIdentity judge{};
  std::vector<ArmIdentity> arms{};  ///< In the order of RunArms; empty: the suite is answered in one way.
};

/// Where the whole answer of a trial is looked for.
struct AnswerPlace {
  TrialId trial = 0;
  Digest key{};     ///< Of the request.
  Digest answer{};  ///< answer_digest
};
/// One entry for each; nothing where the answer is nowhere any more. API keys are masked in them.
using ReadWholeAnswers = std::function<std::vector<std::optional<std::string>>(std::span<const AnswerPlace>)>;

/// Everything that a report shows. Reports only print: nothing is decided here.
struct ReportInput {
  const RunResults& results;
  const Aggregates& aggregates;
  RunVerdict verdict = RunVerdict::error;
  RunIdentity identity;
  RunFacts facts;
  BaselineComparison gate;
  std::string mode = "cached";  ///< As the user named it: `robust` too.
  std::optional<double>
      paid_cost;  ///< US dollars for the tokens paid in this run; empty if the price is unknown.
  /// Where the files that cases name stand: from the checkout's root, and outside a checkout as the user
  /// named it; for annotations. May be empty.
  std::string source_folder = {};
  /// The name of a file with an absolute path: from the checkout, or outside one from the working directory,
  /// and where it lies elsewhere the path itself. Null: that is for all of them.
  std::function<std::string(const std::filesystem::path&)> name_of_file = {};
  const RunStability* stability = nullptr;  ///< Of a run with repeats or perturbations; else null.
  bool is_selection = false;                ///< A part of the suite: --categories, --filter, --max-fixtures.
  std::optional<double> min_stability{};    ///< As the settings say, whether or not anything measures it.
  std::optional<double> paid_judge_cost{};  ///< Of `paid_cost`, for the calls to the judge.
  const RunArms* arms = nullptr;            ///< Of a run with arms; else null.
  const JudgeBias* judge_bias = nullptr;    ///< Of a run with judged answers; else null.
  const RunCalibrations* calibrations = nullptr;  ///< Of a run whose gate asks for some; else null.
  const RetrievalSummary* retrieval = nullptr;    ///< Of a suite with solved examples; else null.
  /// Of what the suite says; what answers say was redacted by who got them. Null: nothing is.
  const Redactor* redactor = nullptr;
  /// What was asked is not known any more: the suite has changed since.
  bool prompts_are_lost = false;
  std::vector<PassGroup> pass_groups{};  ///< Of a run with a least pass rate, which each was held to.
  const std::vector<LabelledAnswers>* labels = nullptr;  ///< Of a run that expects labels; else null.
  ReadWholeAnswers whole_answers{};                      ///< For the page; null: it has the beginnings.
  /// Cases as the JSON report has them, of a run without stability; null, or of others: it visits the
  /// results.
  const JsonCases* json_cases = nullptr;
  bool with_inputs = false;  ///< The JSON report has what each case was asked.
  /// By which a command finds the run, with a blank before it; empty where it needs none, null where none
  /// will.
  std::optional<std::string> home_flag = std::string();
};

/// Write a report to the sink in pieces, so that memory stays flat. They visit the results, some of them
/// twice, and fail only as visit_cases and JsonCases::write do; what became of the output the sink knows. Not
/// thread-safe.
Result<void> write_json_report(const ReportInput& input, Sink& sink);
Result<void> write_table_report(const ReportInput& input, const TableStyle& style, Sink& sink);
/// For a comment on a pull request: fewer than 65,536 characters, however much there is to show.
Result<void> write_markdown_report(const ReportInput& input, Sink& sink);
/// JUnit XML: the suite is one testsuite, a case one testcase (docs/report.md).
Result<void> write_junit_report(const ReportInput& input, Sink& sink);
/// One page for a browser, without network or other files: the cases to sort, filter and search, arms side by
/// side, pictures. Readable without scripts.
Result<void> write_html_report(const ReportInput& input, Sink& sink);
/// A line a case, for spreadsheets: formulas in foreign texts are made texts.
Result<void> write_csv_report(const ReportInput& input, Sink& sink);
/// Workflow commands that GitHub Actions turns into annotations: at most 10 of a kind.
Result<void> write_github_report(const ReportInput& input, Sink& sink);

}  // namespace sluice
