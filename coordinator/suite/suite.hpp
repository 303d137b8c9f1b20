#pragma once

#include "common/hash.hpp"
#include "common/model/judge.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/case_list.hpp"
#include "coordinator/suite/examples/plugin_file.hpp"
#include "coordinator/suite/examples/solved_examples.hpp"
#include "coordinator/suite/expectations/label_sets.hpp"
#include "coordinator/suite/prompts/arm.hpp"
#include "coordinator/suite/score_id.hpp"
#include "coordinator/suite/suite_copier.hpp"
#include "coordinator/suite/suite_folder.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sluice {

/// What `examples:` of a suite names (docs/retrieval.md).
struct SuiteExamples {
  std::vector<SolvedExample> solved;  ///< By id; one at least.
  Plugin plugin;
};

/// A score with a name of its own.
struct NamedScore {
  ScoreId id;
  std::uint64_t tests = 0;  ///< So many have it.
  std::string first;        ///< The first of them, as `FILE:LINE`.
};

/// A named set of cases, in id order (byte-wise), with what its file says about running them.
struct Suite {
  std::string name;
  /// Of a folder of fixtures, whose name alone may be that of many: its path below the nearest folder with a
  /// `.git`, the same in each checkout. Empty where there is none, and for a suite that names itself.
  std::string path_in_checkout;
  CaseList cases;
  std::optional<Manifest> manifest;  ///< Of a fixtures' folder.
  Thresholding thresholding;         ///< `settings.thresholding`: the default of every scored metric.
  /// `settings.min_pass_rate` by category, without its default, which is a setting.
  std::map<std::string, double, std::less<>> min_pass_rates;
  /// What a YAML suite was read from, but for TOML files: sorted, each once.
  std::vector<FileIdentity> input_files;
  std::vector<std::string> fixture_folders;       ///< Every TOML file in them is a fixture.
  std::shared_ptr<SuiteCopier> copier;            ///< Has read along; null where a copy was read itself.
  std::vector<Rubric> rubrics;                    ///< Those that any of the cases uses, each once.
  std::vector<PromptVariant> prompts;             ///< In the order of the file.
  std::vector<Arm> arms;                          ///< As `arms:` names them; flags may name others.
  std::shared_ptr<const SuiteExamples> examples;  ///< Null: there are none.
  std::vector<MetricId> metrics;   ///< What assesses any of the cases, by number; before any selection.
  std::vector<ScoreId> scores;     ///< Those of `metrics` that are scored; each once, in their order.
  bool checks_costs = false;       ///< Of any of them, as a metric or as a part of one.
  bool takes_non_answers = false;  ///< The same.
  SuiteLabels labels;              ///< Of all tests; before any selection.
  std::string runs_command;        ///< The first of `cases` that does, as `FILE:LINE`; empty: none.
  std::string brings_command;      ///< The first whose command a file brings which the suite's own names.
  bool brings_commands = false;    ///< The same of any case; before any selection.
  std::uint64_t idle_weights = 0;  ///< Tests with a weight and without claims, which alone are weighted.
  std::string idle_weight;         ///< The first of them, as `FILE:LINE`.
  /// The commands of all cases, before any selection: their arguments as TextExpectation has them. Of more
  /// than defaults::max_noted_commands one more than that.
  std::set<std::string> commands;
  /// Formats that schemas of checks name and nothing assesses, each with a place, as `FILE:LINE`.
  std::map<std::string, std::string> other_formats;
  std::uint64_t replaced_defaults = 0;        ///< Tests with Case::replaced_default.
  std::vector<std::string> replaced_default;  ///< The first of them, as `METRIC (FILE:LINE)`.
  std::vector<NamedScore> named_scores;       ///< By their ids.
  /// Of all cases, the thresholding and the file's own `repeat` and `min_stability`, in canonical form and
  /// before any selection (docs/baselines.md).
  Digest content_fingerprint{};
  Digest judging_fingerprint{};  ///< Of that part alone which judges answers, whatever was asked.
};

}  // namespace sluice
