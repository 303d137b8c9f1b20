#include "coordinator/merge/run_stability.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

void append_field(std::string& identity, std::string_view field) {
  identity += std::to_string(field.size());
  identity += ':';
  identity += field;
}

std::string identity_of_claims(const UnitResult& unit) {
  std::set<std::string> claims;
  for (const FinalClaim& claim : unit.claims) claims.insert(canonical_form(claim));
  std::string identity;
  for (const std::string& claim : claims) append_field(identity, claim);
  return identity;
}

std::string identity_of_text(const TrialResult& trial) {
  std::string identity;
  for (const MetricOutcome& outcome : trial.score->metrics) {
    if (info(outcome.id).kind != MetricKind::pass_fail) continue;
    append_field(identity, info(outcome.id).name);
    identity += outcome.passed.value_or(false) ? '+' : '-';
  }
  return identity.empty() ? to_hex(trial.unit->answer) : identity;
}

/// Numbers the distinct answers of one case in the order in which they come.
class AnswerNumbers {
 public:
  std::uint32_t operator[](std::string identity) {
    return numbers_.try_emplace(std::move(identity), static_cast<std::uint32_t>(numbers_.size()))
        .first->second;
  }

 private:
  std::map<std::string, std::uint32_t> numbers_;
};

/// The judged trials of a case, with numbers for their answers.
struct NumberedAnswers {
  std::vector<std::uint32_t> unperturbed;
  std::vector<PerturbedAnswer> perturbed;
  std::vector<const TrialResult*> perturbed_trials;

  explicit NumberedAnswers(const CaseResult& result) {
    AnswerNumbers numbers;
    for (const TrialResult& trial : result.trials) {
      if (trial.error != nullptr) continue;
      const std::uint32_t answer = numbers[answer_identity(result.fixture, trial)];
      if (trial.perturbation == 0) {
        unperturbed.push_back(answer);
      } else {
        perturbed.push_back({trial.perturbation - 1, answer});
        perturbed_trials.push_back(&trial);
      }
    }
  }

  bool is_flip(const PerturbedAnswer& one) const {
    return !unperturbed.empty() && std::ranges::find(unperturbed, one.answer) == unperturbed.end();
  }
};

const TrialResult* reference_for(const TrialResult& perturbed, const CaseResult& result) {
  const TrialResult* first = nullptr;
  for (const TrialResult& trial : result.trials) {
    if (trial.perturbation > 0) break;
    if (trial.error != nullptr) continue;
    if (trial.repeat == perturbed.repeat) return &trial;
    if (first == nullptr) first = &trial;
  }
  return first;
}

}  // namespace

std::string answer_identity(const Case& test_case, const TrialResult& trial) {
  return test_case.kind == CaseKind::claims ? identity_of_claims(*trial.unit) : identity_of_text(trial);
}

std::vector<Flip> flips_of(const CaseResult& result) {
  std::vector<Flip> flips;
  const NumberedAnswers answers(result);
  for (std::size_t i = 0; i < answers.perturbed.size(); ++i) {
    if (!answers.is_flip(answers.perturbed[i])) continue;
    const TrialResult* perturbed = answers.perturbed_trials[i];
    flips.push_back({perturbed, reference_for(*perturbed, result)});
  }
  return flips;
}

std::uint64_t RunStability::unstable_cases() const {
  return static_cast<std::uint64_t>(std::ranges::count(analysis.cases, true, &CaseStability::unstable));
}

const PerturbationSummary* RunStability::most_flipping() const {
  const PerturbationSummary* worst = nullptr;
  for (const PerturbationSummary& one : perturbations) {
    if (one.flips == 0 || !one.stability) continue;
    if (worst == nullptr || *one.stability->figures.stability < *worst->stability->figures.stability)
      worst = &one;
  }
  return worst;
}

RunStabilityFold::RunStabilityFold(Config config) : answers_(config.rules), passes_(config.repeats) {
  result_.repeats = config.repeats;
  result_.confidence = config.rules.confidence;
  result_.seed = config.rules.seed;
  for (PerturbationFacts& facts : config.perturbations) {
    result_.perturbations.push_back({std::move(facts), std::nullopt, 0, {}});
  }
}

std::uint32_t RunStabilityFold::category_number(const std::string& name) {
  const auto known = category_numbers_.find(name);
  if (known != category_numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(result_.categories.size());
  result_.categories.push_back(name);
  result_.category_score_changes.emplace_back();
  return category_numbers_.emplace(name, number).first->second;
}

void RunStabilityFold::add_scores(const CaseResult& result, std::uint32_t category) {
  struct Sides {
    std::vector<double> unperturbed;
    std::vector<double> perturbed;
    std::map<std::uint32_t, std::vector<double>> by_perturbation;
  };
  std::map<MetricId, Sides> scores;
  for (const TrialResult& trial : result.trials) {
    if (trial.error != nullptr) continue;
    for (const JudgedMetric& metric : trial.judgement.metrics) {
      if (info(metric.id).kind != MetricKind::scored || !metric.score) continue;
      Sides& of_metric = scores[metric.id];
      if (trial.perturbation == 0) {
        of_metric.unperturbed.push_back(*metric.score);
      } else {
        of_metric.perturbed.push_back(*metric.score);
        of_metric.by_perturbation[trial.perturbation - 1].push_back(*metric.score);
      }
    }
  }
  for (const auto& [metric, one] : scores) {
    result_.score_changes[metric].add(one.unperturbed, one.perturbed);
    result_.category_score_changes[category][metric].add(one.unperturbed, one.perturbed);
    for (const auto& [perturbation, perturbed] : one.by_perturbation) {
      if (perturbation >= result_.perturbations.size()) continue;
      result_.perturbations[perturbation].score_changes[metric].add(one.unperturbed, perturbed);
    }
  }
}

void RunStabilityFold::add(const CaseResult& result) {
  const NumberedAnswers answers(result);
  for (const PerturbedAnswer& one : answers.perturbed) {
    if (!answers.is_flip(one)) continue;
    ++result_.flips;
    if (one.perturbation < result_.perturbations.size()) ++result_.perturbations[one.perturbation].flips;
  }
  const std::uint32_t category = category_number(result.fixture.category);
  answers_.add({category, answers.unperturbed, answers.perturbed});
  add_scores(result, category);
  if (result.status != CaseStatus::error) passes_.add(result.repeats.passed(), result.repeats.judged);
}

RunStability RunStabilityFold::finish() {
  result_.analysis = answers_.finish();
  for (PerturbationStability& one : result_.analysis.perturbations) {
    if (one.perturbation < result_.perturbations.size())
      result_.perturbations[one.perturbation].stability = one;
  }
  if (result_.repeats > 1) result_.pass_curve = passes_.points();
  return std::move(result_);
}

}  // namespace sluice
