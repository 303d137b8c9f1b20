#include "coordinator/merge/run_stability.hpp"

#include <algorithm>
#include <set>
#include <span>
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
  if (!is_zero(unit.claims_identity)) return to_hex(unit.claims_identity);
  std::set<std::string> claims;
  for (const FinalClaim& claim : unit.claims) claims.insert(canonical_form(claim));
  std::string identity;
  for (const std::string& claim : claims) append_field(identity, claim);
  return identity;
}

std::string identity_of_text(const TrialResult& trial) {
  std::string identity;
  for (const MetricOutcome& outcome : trial.score->metrics) {
    if (info(outcome.id).kind != MetricKind::pass_fail && !is_judge_metric(outcome.id)) continue;
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

/// The compared trials of a case, with numbers for their answers.
struct NumberedAnswers {
  std::vector<std::uint32_t> unperturbed;
  std::vector<PerturbedAnswer> perturbed;
  std::vector<const TrialResult*> perturbed_trials;
  std::vector<SharedAnswer> of_units;  ///< All that a unit gave.

  explicit NumberedAnswers(const CaseResult& result) {
    AnswerNumbers numbers;
    for (const TrialResult& trial : result.trials) {
      if (!is_compared(trial)) continue;
      const std::uint32_t answer = numbers[answer_identity(result.fixture, trial)];
      if (trial.unit != nullptr) of_units.push_back({trial.perturbation, trial.unit->unit, answer});
      if (trial.perturbation == 0) {
        unperturbed.push_back(answer);
      } else {
        const UnitId unit = trial.unit != nullptr ? trial.unit->unit : PerturbedAnswer::own_unit;
        perturbed.push_back({trial.perturbation - 1, answer, unit});
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
    if (!is_compared(trial)) continue;
    if (trial.repeat == perturbed.repeat) return &trial;
    if (first == nullptr) first = &trial;
  }
  return first;
}

/// Whether these answers, or any unperturbed one, are not all the same.
bool differ(const CaseAnswers& answers, std::span<const PerturbedAnswer> perturbed) {
  const std::uint32_t first = answers.unperturbed.front();
  return std::ranges::any_of(answers.unperturbed, [&](std::uint32_t one) { return one != first; }) ||
         std::ranges::any_of(perturbed, [&](const PerturbedAnswer& one) { return one.answer != first; });
}

std::pair<std::uint32_t, UnitId> place_of(const SharedAnswer& one) {
  return {one.perturbation, one.unit};
}

/// Those that are answers to all of the cases: two are identical if they are to each of them. REQUIRES:
/// `known` is sorted by place.
void add_case(std::vector<SharedAnswer> of_case, std::vector<SharedAnswer>& known) {
  std::ranges::sort(of_case, {}, place_of);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers;
  std::erase_if(known, [&](SharedAnswer& one) {
    const auto same = std::ranges::lower_bound(of_case, place_of(one), {}, place_of);
    if (same == of_case.end() || place_of(*same) != place_of(one)) return true;
    const auto next = static_cast<std::uint32_t>(numbers.size());
    one.answer = numbers.try_emplace({one.answer, same->answer}, next).first->second;
    return false;
  });
}

/// The share of pairs of an unperturbed answer and one of these that agree.
double agreement(std::span<const std::uint32_t> unperturbed, std::span<const PerturbedAnswer> perturbed) {
  std::ptrdiff_t same = 0;
  for (const PerturbedAnswer& one : perturbed) same += std::ranges::count(unperturbed, one.answer);
  return static_cast<double>(same) / static_cast<double>(unperturbed.size() * perturbed.size());
}

}  // namespace

bool is_compared(const TrialResult& trial) {
  return trial.error == nullptr || is_without_answer(trial);
}

std::string answer_identity(const Case& test_case, const TrialResult& trial) {
  // No other identity begins like that.
  if (is_without_answer(trial)) return "!" + std::string(to_string(trial.error->reason));
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

std::uint64_t RunStability::undecided_cases() const {
  return static_cast<std::uint64_t>(std::ranges::count(too_few_repeats, true));
}

std::uint64_t RunStability::cases_too_costly_to_test() const {
  return static_cast<std::uint64_t>(std::ranges::count(too_costly_to_test, true));
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
    result_.perturbations.push_back({std::move(facts), std::nullopt, 0, {}, false});
  }
  perturbation_reach_.resize(result_.perturbations.size());
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
  std::map<ScoreId, Sides> scores;
  for (const TrialResult& trial : result.trials) {
    if (trial.error != nullptr) continue;
    for (const AssessedMetric& metric : trial.assessment.metrics) {
      if (!metric.is_scored() || !metric.score) continue;
      Sides& of_metric = scores[metric.score_id()];
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

void RunStabilityFold::add_reach(const CaseAnswers& answers) {
  CaseReach& reach = case_reach_.emplace_back();
  const std::size_t repeats = answers.unperturbed.size();
  if (repeats < 2 || answers.perturbed.empty() || !differ(answers, answers.perturbed)) return;
  // As the case's own test counts them.
  const std::vector<PerturbedAnswer> units = one_of_each_unit(answers.perturbed);
  reach.units_per_repeat = static_cast<double>(units.size()) / static_cast<double>(repeats);
  reach.same_share = agreement(answers.unperturbed, units);
  SmallestP smallest;
  smallest.add(repeats, units.size());
  reach.smallest_p = smallest.value();
}

void RunStabilityFold::add_reach_of_perturbations(const CaseAnswers& answers) {
  const std::size_t repeats = answers.unperturbed.size();
  if (repeats < 2) return;
  std::map<std::uint32_t, std::vector<PerturbedAnswer>> by_perturbation;
  for (const PerturbedAnswer& one : answers.perturbed) by_perturbation[one.perturbation].push_back(one);
  for (const auto& [perturbation, group] : by_perturbation) {
    if (perturbation >= perturbation_reach_.size() || !differ(answers, group)) continue;
    PerturbationReach& reached = perturbation_reach_[perturbation];
    reached.smallest_p.add(repeats, group.size());
    reached.noise_seen = reached.noise_seen || differ(answers, {});
  }
}

void RunStabilityFold::test_shared_answers() {
  for (const auto& [first_unit, answers] : shared_answers_) {
    std::vector<std::uint32_t> unperturbed;
    std::vector<PerturbedAnswer> perturbed;
    for (const SharedAnswer& one : answers) {
      if (one.perturbation == 0) {
        unperturbed.push_back(one.answer);
      } else {
        perturbed.push_back({one.perturbation - 1, one.answer, one.unit});
      }
    }
    const CaseAnswers as_one{0, unperturbed, perturbed};
    answers_.test_shared(as_one);
    add_reach_of_perturbations(as_one);
  }
}

void RunStabilityFold::assess_reach_of_perturbations() {
  std::vector<double> smallest;
  for (const PerturbationStability& one : result_.analysis.perturbations) {
    if (one.p) smallest.push_back(perturbation_reach_.at(one.perturbation).smallest_p.value());
  }
  const std::vector<bool> out = out_of_reach(smallest, result_.confidence);
  std::size_t test = 0;
  for (const PerturbationStability& one : result_.analysis.perturbations) {
    if (!one.p) continue;
    const bool differs = smallest[test] < 1.0;
    const bool is_noise = perturbation_reach_[one.perturbation].noise_seen && !out[test];
    result_.perturbations.at(one.perturbation).too_few_repeats = differs && !one.unstable && !is_noise;
    ++test;
  }
}

void RunStabilityFold::assess_reach_of_cases() {
  const auto& cases = result_.analysis.cases;
  std::vector<double> smallest;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].p) smallest.push_back(case_reach_[i].smallest_p);
  }
  const std::vector<bool> out = out_of_reach(smallest, result_.confidence);
  std::size_t test = 0;
  std::optional<std::size_t> least_stable;
  result_.too_few_repeats.resize(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!cases[i].p) continue;
    const bool noise_seen = cases[i].floor < 1.0;
    const bool differs = smallest[test] < 1.0;
    result_.too_few_repeats[i] = differs && !cases[i].unstable && (out[test] || !noise_seen);
    ++test;
    if (!result_.too_few_repeats[i] || noise_seen) continue;
    if (!least_stable || cases[i].stability < cases[*least_stable].stability) least_stable = i;
  }
  if (!least_stable) return;
  const CaseReach& reach = case_reach_[*least_stable];
  result_.enough_repeats =
      repeats_needed(reach.same_share, reach.units_per_repeat, smallest.size(), result_.confidence);
}

void RunStabilityFold::assess_bounds_of_cases() {
  const auto& cases = result_.analysis.cases;
  std::vector<double> at_best;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].p) at_best.push_back(cases[i].p_is_bound ? case_reach_[i].smallest_p : *cases[i].p);
  }
  const std::vector<bool> out = out_of_reach(at_best, result_.confidence);
  std::size_t test = 0;
  result_.too_costly_to_test.resize(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!cases[i].p) continue;
    result_.too_costly_to_test[i] =
        cases[i].p_is_bound && !cases[i].unstable && !result_.too_few_repeats[i] && !out[test];
    ++test;
  }
}

void RunStabilityFold::add(const CaseResult& result) {
  const NumberedAnswers answers(result);
  for (const PerturbedAnswer& one : answers.perturbed) {
    if (!answers.is_flip(one)) continue;
    ++result_.flips;
    if (one.perturbation < result_.perturbations.size()) ++result_.perturbations[one.perturbation].flips;
  }
  result_.perturbed_trials += static_cast<std::uint64_t>(
      std::ranges::count_if(result.trials, [](const TrialResult& trial) { return trial.perturbation > 0; }));
  const std::uint32_t category = category_number(result.fixture.category);
  CaseAnswers counted{category, answers.unperturbed, answers.perturbed};
  if (const auto unit = result.first_unit(); unit && result.shares_request) {
    counted.shared_by = *unit;
    const auto [known, is_first] = shared_answers_.try_emplace(*unit, answers.of_units);
    if (is_first) std::ranges::sort(known->second, {}, place_of);
    if (!is_first) add_case(answers.of_units, known->second);
  } else {
    add_reach_of_perturbations(counted);
  }
  answers_.add(counted);
  add_reach(counted);
  result_.trials += result.trials.size();
  for (const TrialResult& trial : result.trials) {
    result_.non_answers += is_without_answer(trial) ? 1 : 0;
    result_.left_out += is_compared(trial) ? 0 : 1;
    result_.not_started += trial.not_started ? 1 : 0;
  }
  if (answers.unperturbed.empty()) result_.uncompared += answers.perturbed.size();
  add_scores(result, category);
  if (result.status != CaseStatus::error) passes_.add(result.repeats.passed(), result.repeats.counted());
}

RunStability RunStabilityFold::finish() {
  test_shared_answers();
  result_.analysis = answers_.finish();
  for (PerturbationStability& one : result_.analysis.perturbations) {
    if (one.perturbation < result_.perturbations.size())
      result_.perturbations[one.perturbation].stability = one;
  }
  assess_reach_of_perturbations();
  assess_reach_of_cases();
  assess_bounds_of_cases();
  if (result_.repeats > 1) result_.pass_curve = passes_.points();
  return std::move(result_);
}

}  // namespace sluice
