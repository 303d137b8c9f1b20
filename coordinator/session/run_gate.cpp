#include "coordinator/session/run_gate.hpp"

#include "common/documents/finding.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/baseline_export.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/gate/required_calibrations.hpp"
#include "coordinator/gate/statistical_gate.hpp"
#include "coordinator/score_files/baseline_file.hpp"
#include "coordinator/session/run_files.hpp"
#include "coordinator/session/run_plan.hpp"
#include "coordinator/suite/fixtures/manifest.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

bool is_missing(const std::string& file) {
  std::error_code error;
  return std::filesystem::status(file, error).type() == std::filesystem::file_type::not_found;
}

/// With a [baseline] table that pins something.
Result<Manifest> load_manifest_baseline(const std::string& file, const RunFiles& files) {
  if (files.copied(file) == nullptr && is_missing(file)) {
    return fail(Reason::baseline_invalid, file +
                                              ": cannot be read: there is no such file; after a run without "
                                              "--baseline `sluice update-baseline --force` "
                                              "writes one");
  }
  const auto text = files.read(file, defaults::max_fixture_bytes);
  if (!text) return fail(Reason::baseline_invalid, file + ": the manifest " + text.error().message);
  auto parsed = parse_manifest(*text, file);
  if (!parsed.findings.empty()) return fail(Reason::baseline_invalid, join_findings(parsed.findings));
  const auto& baseline = parsed.manifest.baseline;
  if (!baseline || !pins_scores(*baseline)) {
    return fail(Reason::baseline_invalid,
                file +
                    ": there is no [baseline] table with a precision, recall or f1; after a run without "
                    "--baseline `sluice update-baseline --force` writes one");
  }
  return std::move(parsed.manifest);
}

/// The flags of a run that pins what this one is gated by: of a model's answers, unless the file has a mock
/// run's. Of a run out of the caches a live one: what changed has answers that no cache holds, and what is
/// held costs nothing again. The command names the suite, so that its own commands run without being allowed.
std::string flags_of_base(const RunOptions& options, const Suite& suite, bool is_of_mock) {
  std::string flags = flags_to_repeat(options.given_flags);
  if (suite.brings_commands) flags += " --allow-commands";
  const Mode mode = options.settings.mode.value;
  if (mode == Mode::live || (mode == Mode::mock && is_of_mock)) return flags;
  const std::string given = " --mode " + std::string(to_string(mode));
  if (const auto at = flags.find(given); at != std::string::npos) flags.erase(at, given.size());
  return flags + " --mode live";
}

/// Of a past run the file as it was then: the one in its place is often made of a later run.
tl::expected<Baseline, Finding> load_baseline_of_run(const std::string& file, const RunFiles& files) {
  if (const std::string* copied = files.copied(file)) {
    std::istringstream text(*copied);
    return parse_baseline(text, file);
  }
  auto baseline = load_baseline(file);
  if (baseline) files.read_along(file, defaults::max_copied_baseline_bytes);
  return baseline;
}

Result<void> load_scores(const RunOptions& options, const RunInputs& inputs, RunGate& gate) {
  const Suite& suite = inputs.suite;
  const RunFiles files(options, suite);
  if (files.copied(*options.baseline) == nullptr && is_missing(*options.baseline)) {
    return fail(Reason::baseline_invalid,
                *options.baseline + ": cannot be read: there is no such file; write it with `sluice run " +
                    shell_word(options.suite_path) + flags_of_base(options, suite, false) +
                    " --export-baseline " + shell_word(*options.baseline) + "`");
  }
  auto baseline = load_baseline_of_run(*options.baseline, files);
  if (!baseline) return fail(Reason::baseline_invalid, to_text(baseline.error()));
  gate.scores = std::make_unique<const Baseline>(std::move(*baseline));
  gate.run = {suite.name,        gate.comparison.config_fingerprint,
              SLUICE_VERSION,    options.suite_path,
              *options.baseline, options.strict};
  gate.run.suite_place = suite.path_in_checkout;
  gate.run.fingerprint_parts = inputs.fingerprint_parts;
  gate.run.flags = flags_of_base(options, suite, gate.scores->header.mode == "mock");
  gate.run.is_rerun = !options.only_cases.empty();
  gate.run.takes_mock_base = options.settings.mode.value == Mode::mock;
  auto notices = check_baseline(gate.scores->header, gate.run);
  if (!notices) return fail(std::move(notices.error()));
  // A selection may well be of the cases that are new.
  if (!options.is_selection()) {
    if (auto shared = check_shared_cases(*gate.scores, suite.cases, gate.run); !shared) {
      return fail(std::move(shared.error()));
    }
  }
  gate.comparison.kind = BaselineKind::scores;
  gate.comparison.notices = std::move(*notices);
  auto nothing = nothing_to_compare_notice(suite.thresholding, suite.metrics, *gate.scores, options.strict);
  if (nothing) gate.comparison.notices.push_back(std::move(*nothing));
  return {};
}

/// A manifest's aggregates are those of the whole suite: beside those of a part any difference may be that
/// of the cases which did not run.
Result<void> check_is_whole(const RunOptions& options) {
  if (!options.is_selection()) return {};
  return fail(Reason::usage_invalid,
              "--baseline " + *options.baseline +
                  " has the aggregates of the whole suite, which those of a part (--categories, "
                  "--filter, --max-fixtures) cannot be compared with: leave the selection out, or gate "
                  "against a file "
                  "of --export-baseline, which has the scores of each case");
}

/// The smallest drop that the tests of all cases look for; no suite is large enough to exclude one of 0, and
/// none of all points is found.
Result<void> check_min_effect(const RunOptions& options, const Suite& suite) {
  if (suite.thresholding.mode != ThresholdMode::statistical || suite.thresholding.min_effect) return {};
  const double threshold = options.settings.regression_threshold.value;
  if (threshold > 0.0 && threshold < 1.0) return {};
  return fail(Reason::usage_invalid,
              "the threshold " + shortest(threshold) + " (" + options.settings.regression_threshold.where +
                  ") is taken for the suite's min_effect, which must be above 0 and below 1: name another "
                  "threshold, or a min_effect in settings.thresholding");
}

}  // namespace

Result<RunGate> load_gate(const RunOptions& options, const RunInputs& inputs) {
  const Suite& suite = inputs.suite;
  if (auto checked = check_min_effect(options, suite); !checked) return fail(std::move(checked.error()));
  RunGate gate;
  if (!suite.rubrics.empty()) {
    gate.judge = RunJudge(judge_identity(run_settings(options, inputs, {})), suite.rubrics);
  }
  gate.comparison.strict = options.strict;
  gate.comparison.fail_on_regression = options.fail_on_regression;
  gate.comparison.fail_on_mismatch = options.fail_on_mismatch;
  gate.comparison.config_fingerprint = inputs.fingerprint;
  gate.comparison.fingerprint_parts = inputs.fingerprint_parts;
  if (options.baseline) {
    gate.comparison.baseline_file = *options.baseline;
    if (std::filesystem::path(*options.baseline).extension() == ".toml") {
      if (auto whole = check_is_whole(options); !whole) return fail(std::move(whole.error()));
      if (!options.arms.empty()) {
        return fail(Reason::usage_invalid,
                    "--baseline " + *options.baseline +
                        " has aggregates of one way of answering, and the run has several arms: gate against "
                        "a file of --export-baseline, or the arms against one of them with --baseline-arm");
      }
      auto manifest = load_manifest_baseline(*options.baseline, RunFiles(options, suite));
      if (!manifest) return fail(std::move(manifest.error()));
      gate.aggregates = std::move(manifest->baseline);
      gate.comparison.notices = mismatch_notices(*gate.aggregates, options.provider.model,
                                                 inputs.prompt.version, *options.baseline, options.strict);
      auto other_corpus =
          corpus_mismatch_notice(*manifest, suite.cases.size(), *options.baseline, options.strict);
      if (other_corpus) gate.comparison.notices.push_back(std::move(*other_corpus));
      gate.comparison.kind = BaselineKind::aggregates;
    } else if (auto loaded = load_scores(options, inputs, gate); !loaded) {
      return fail(std::move(loaded.error()));
    }
  }
  gate.gate = Gate({.suite = suite.thresholding,
                    .baseline = gate.scores.get(),
                    .default_max_drop = options.settings.regression_threshold.value});
  return gate;
}

bool decides_beyond_checks(const RunOptions& options, const Suite& suite) {
  if (options.baseline || options.baseline_arm || suite.thresholding != Thresholding{}) return true;
  // Fixtures in TOML ask for no score of their own; tests of a YAML file may.
  const bool is_of_fixtures = suite.input_files.empty();
  return std::ranges::any_of(suite.metrics, [is_of_fixtures](MetricId metric) {
    return info(metric).kind == MetricKind::scored && !(is_of_fixtures && is_claims_metric(metric));
  });
}

void require_calibrations(const RunOptions& options, std::vector<JudgeCalibration> of_suite, RunGate& gate) {
  const std::optional<double> min_kappa = options.settings.judge_min_kappa.value;
  if (!min_kappa) return;
  Gate::Config config = gate.gate.config();
  config.calibrations =
      std::make_shared<const RequiredCalibrations>(*min_kappa, gate.judge, std::move(of_suite));
  gate.gate = Gate(std::move(config));
}

Result<RunGate> gate_against_arm(const RunOptions& options, const RunInputs& inputs,
                                 const RunResults& results, const RunGate& gate) {
  const std::string& name = options.arms[*options.baseline_arm].arm.name;
  BaselineExport scores({inputs.suite.name, SLUICE_VERSION, {}, inputs.fingerprint, {}, {}},
                        inputs.embedding.embedding.model, gate.judge);
  // What one arm fails another is not excused for, except forbidden claims, which are compared as scores are.
  scores.pin_scores_alone();
  const auto visited = visit_cases(results, [&](const CaseResult& result) {
    const Case& test_case = result.fixture;
    if (test_case.arm != *options.baseline_arm || result.status == CaseStatus::error) return;
    const std::string test = test_case.id.substr(0, test_case.id.size() - name.size());
    // The arm's own cases too, so that none of them lacks an entry.
    for (const RunArm& one : options.arms) scores.add(test + one.arm.name, result.assessment);
  });
  if (!visited) return fail(visited.error());
  auto baseline = scores.finish();
  if (!baseline) return fail(std::move(baseline.error()));
  RunGate against;
  against.scores = std::make_unique<const Baseline>(std::move(*baseline));
  against.judge = gate.judge;
  against.comparison = gate.comparison;
  against.comparison.kind = BaselineKind::scores;
  against.comparison.baseline_file = "the arm " + name;
  against.run = {inputs.suite.name,
                 inputs.fingerprint,
                 SLUICE_VERSION,
                 options.suite_path,
                 against.comparison.baseline_file,
                 options.strict};
  against.run.base_is_arm = true;
  Gate::Config config = gate.gate.config();
  config.baseline = against.scores.get();
  config.baseline_arm = options.baseline_arm;
  against.gate = Gate(std::move(config));
  return against;
}

}  // namespace sluice
