#pragma once

#include "coordinator/facts/observation.hpp"
#include "coordinator/gate/compare.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sluice {

/// Trials of a run, and what came of them.
struct RunAnswers {
  std::vector<Observation> observations{};
  /// What the gate made of its cases, by id, of those that did not simply pass. Nothing where that is not
  /// known: a case is then what its unperturbed trials agree on, else `flaky`.
  std::optional<std::map<std::string, std::string>> statuses{};
  /// Trials that had an answer which is nowhere any more.
  std::set<std::uint64_t> lost_answers{};
};

/// What a case came to, whose unperturbed trials have these statuses; empty for one without any.
std::string status_of(const RunAnswers& run, const std::string& case_id, const std::set<std::string>& trials);

/// The same of both runs.
template <class T>
struct BeforeAndAfter {
  T before{};
  T after{};
  bool differ() const { return !(before == after); }
};

struct MetricValue {
  std::optional<double> score{};
  std::optional<bool> passed{};
  friend bool operator==(const MetricValue&, const MetricValue&) = default;
};

/// A metric of a trial; nothing on the side that does not have it.
struct MetricDiff {
  std::string name;
  BeforeAndAfter<std::optional<MetricValue>> value;
  /// What it asks for, if that is known and a trial has several of this name; it begins with the name.
  std::string expected{};
  BeforeAndAfter<std::string> rationale{};  ///< Of a judge; empty where it gave none.
};

enum class AnswerChange : std::uint8_t { same, changed, unknown };

/// A trial of both runs. The observations are those of the runs.
struct TrialDiff {
  const Observation* before = nullptr;
  const Observation* after = nullptr;
  std::vector<MetricDiff> metrics{};
  /// As the observations have it; a failure that a run's baseline knows, and that the other run does not
  /// have, is `fail` and no warning.
  BeforeAndAfter<std::string> status{};
  AnswerChange answer = AnswerChange::same;
  bool claims = false;  ///< Whether they differ after the ontology.
  /// Whether something else was asked; nothing where a run does not know what it asked.
  std::optional<bool> prompt = false;

  bool is_changed() const;
};

/// How the status of a case changed: from pass over warn, flaky and fail to error, or back.
enum class StatusChange : std::uint8_t { any, worse, better };

struct CaseDiff {
  std::string id;
  BeforeAndAfter<std::string> status{};  ///< As TrialDiff::status, of the whole case.
  std::vector<TrialDiff> trials{};
  /// Metrics that ask something else in the later run, ask somebody else or are gone: what they came to says
  /// nothing of the answer. Nothing where that is not known.
  std::optional<std::vector<std::string>> judged_otherwise{};
  /// The status alone differs, and only because the runs were held against different baselines.
  bool by_baseline_alone = false;

  bool is_changed() const;
  bool has(StatusChange change) const;
};

/// What of the gate was another one in the later run.
struct GateChange {
  bool baseline = false;  ///< Another baseline, or one of the runs had none.
  bool config = true;     ///< Perhaps limits or checks, too, or the prompt.
};

/// What two runs have in common, and what one of them has alone, in the order of ids.
struct RunDiff {
  std::vector<CaseDiff> cases{};
  std::vector<std::string>
      only_before{};  ///< Cases, and trials of cases that both have, as people name them.
  std::vector<std::string> only_after{};

  std::size_t changed() const;
  std::size_t count(StatusChange change) const;
  std::size_t by_baseline_alone() const;
  std::size_t changed_and_judged_otherwise() const;
  std::size_t unknown_answers() const;
};

/// Pairs the runs' trials by case, perturbation and repeat. `judged_otherwise` is ascending, and nothing
/// where that is not known. Both runs must outlive what it returns.
RunDiff diff_runs(const RunAnswers& before, const RunAnswers& after,
                  const std::optional<std::vector<ChangedMetric>>& judged_otherwise = std::nullopt,
                  const GateChange& gate = {});

/// `crlf, repeat 2`; empty for a case as it is, the first time.
std::string form_of(const Observation& one);

}  // namespace sluice
