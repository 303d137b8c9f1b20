#include "coordinator/session/past_suite.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

bool is_asked_by(MetricId metric, const Case& one) {
  // A fixture names no metric: those of claims assess it.
  if (one.expectations.empty()) return is_claims_metric(metric);
  return std::ranges::any_of(one.expectations, [metric](const Expectation& expectation) {
    return expectation.what.metric == metric;
  });
}

Result<void> drop_unasked_metrics(Suite& suite) {
  std::vector<MetricId> asked;
  for (std::size_t i = 0; i < suite.cases.size() && asked.size() < suite.metrics.size(); ++i) {
    const auto one = suite.cases.read(i);
    if (!one) return fail(one.error());
    for (const MetricId metric : suite.metrics) {
      if (is_asked_by(metric, **one) && std::ranges::find(asked, metric) == asked.end())
        asked.push_back(metric);
    }
  }
  std::erase_if(suite.metrics,
                [&](MetricId metric) { return std::ranges::find(asked, metric) == asked.end(); });
  return {};
}

/// What the results say of one case.
struct Shown {
  bool has_result = false;
  bool asks_otherwise = false;
  std::vector<MetricId> metrics{};
  std::size_t expected_claims = 0;
  std::size_t forbidden_claims = 0;

  /// Neither what it asks nor which trials it has may have changed.
  bool has_prompt() const { return has_result && !asks_otherwise; }
};

void add_score(const TrialScore& score, Shown& to) {
  if (to.metrics.empty()) {
    for (const MetricOutcome& outcome : score.metrics) to.metrics.push_back(outcome.id);
  }
  to.expected_claims = score.claims.matched.size() + score.claims.missing.size();
  for (const ClaimMatch& match : score.claims.forbidden)
    to.forbidden_claims = std::max(to.forbidden_claims, std::size_t{match.expectation} + 1);
}

/// By the places of the cases among those of then. `places`: of each in the plan of now, if it is there.
Result<std::vector<Shown>> shown_by(const PastRecord& then, const Plan* now,
                                    std::span<const std::optional<std::size_t>> places) {
  std::vector<Shown> shown(then.cases.size());
  std::size_t at = 0;
  TrialId first = 0;
  const auto visited = then.results.visit([&](const CommittedTrial& one) {
    while (at < shown.size() && one.trial >= first + then.cases[at].trials) first += then.cases[at++].trials;
    if (at == shown.size()) return;
    Shown& of = shown[at];
    of.has_result = true;
    if (places[at]) {
      const std::size_t begin = now->trials().first_trial(*places[at]);
      const std::size_t count = now->trials().first_trial(*places[at] + 1) - begin;
      const auto trial = static_cast<TrialId>(begin + (one.trial - first));
      of.asks_otherwise = of.asks_otherwise || count != then.cases[at].trials ||
                          now->key(now->unit_of(trial)) != one.unit.key;
    }
    if (!one.unit.scores.empty()) add_score(one.unit.scores.front(), of);
  });
  if (!visited) return fail(visited.error());
  return shown;
}

std::vector<std::optional<std::size_t>> places_in(const CaseList& cases, std::span<const AskedCase> then) {
  std::vector<std::optional<std::size_t>> places(then.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < then.size(); ++i) {
    while (at < cases.size() && cases.id(at) < then[i].id) ++at;
    if (at < cases.size() && cases.id(at) == then[i].id) places[i] = at;
  }
  return places;
}

/// A test under its arms has one number.
class TestNumbers {
 public:
  /// Those below `first` are taken.
  TestNumbers(std::span<const RunArm> arms, std::size_t first) : arms_(arms), first_(first) {}

  void number(Case& form) {
    if (arms_.empty()) return;
    const std::string_view id = form.id;
    const std::size_t separator = id.rfind(arm_separator);
    const auto arm = std::ranges::find(arms_, id.substr(separator + 1),
                                       [](const RunArm& one) -> const std::string& { return one.arm.name; });
    form.arm = static_cast<std::uint32_t>(arm == arms_.end() ? 0 : arm - arms_.begin());
    form.test = static_cast<std::uint32_t>(
        first_ + tests_.try_emplace(std::string(id.substr(0, separator)), tests_.size()).first->second);
  }

 private:
  std::span<const RunArm> arms_;
  std::size_t first_;
  std::map<std::string, std::size_t> tests_;
};

/// A case that asks what it asked, as far as that is known, and that the metrics of then assess.
Case noted_form(const AskedCase& then, const CaseRef& now, const Shown& shown, TestNumbers& numbers) {
  Case form;
  const bool has_prompt = now && shown.has_prompt();
  if (has_prompt) {
    form = *now;
  } else if (now) {
    for (std::string Case::*const text :
         {&Case::name, &Case::category, &Case::language, &Case::source, &Case::created})
      form.*text = (*now).*text;
    form.tags = now->tags;
    form.line = now->line;
    form.arm = now->arm;
    form.test = now->test;
    form.weight = now->weight;
  }
  form.id = then.id;
  if (!now) numbers.number(form);
  if (!has_prompt) form.system = then.id;  // Nobody is asked; no two requests are one.
  const bool has_claims = std::ranges::any_of(shown.metrics, is_claims_metric);
  const bool is_claims_alone = has_claims && std::ranges::all_of(shown.metrics, is_claims_metric);
  form.kind = has_claims ? CaseKind::claims : CaseKind::text;
  form.must_contain.assign(shown.expected_claims, {});
  form.must_not_contain.assign(shown.forbidden_claims, {});
  form.known_failure.reset();
  form.expectations.clear();
  for (const MetricId metric : shown.metrics) {
    if (!is_claims_alone) form.expectations.emplace_back().what.metric = metric;
  }
  return form;
}

NotedCase noted_case(const PastRecord& then, const std::string& id, bool is_gone) {
  NotedCase noted{is_gone};
  if (!then.outcomes) return noted;
  const auto outcome = then.outcomes->find(id);
  noted.status = CaseStatus::pass;
  if (outcome == then.outcomes->end()) return noted;
  noted.status = outcome->second.status;
  noted.missed = outcome->second.missed;
  return noted;
}

}  // namespace

Result<void> keep_asked(std::span<const AskedCase> then, std::span<const RunArm> arms, Suite& suite) {
  const auto had = [&](std::string_view id) {
    return std::ranges::binary_search(then, id, {}, &AskedCase::id);
  };
  const std::size_t before = suite.cases.size();
  suite.cases.keep_if([&](std::size_t index) {
    const std::string test(suite.cases.id(index));
    if (arms.empty()) return had(test);
    return std::ranges::any_of(arms,
                               [&](const RunArm& one) { return had(test + arm_separator + one.arm.name); });
  });
  return suite.cases.size() == before ? Result<void>() : drop_unasked_metrics(suite);
}

Result<PastCases> put_back(const PastRecord& then, const SharedCases& shared, const Plan* now,
                           std::span<const RunArm> arms, Suite& suite) {
  const auto places = places_in(suite.cases, then.cases);
  const auto shown = shown_by(then, now, places);
  if (!shown) return fail(shown.error());
  PastCases past;
  TestNumbers numbers(arms, then.cases.size());
  std::vector<Case> forms;
  for (std::size_t i = 0; i < then.cases.size(); ++i) {
    const AskedCase& one = then.cases[i];
    const bool is_gone = std::ranges::binary_search(shared.lost, one.id);
    if (!is_gone && !std::ranges::binary_search(shared.otherwise, one.id)) continue;
    CaseRef of_now;
    if (places[i] && !is_gone) {
      auto read = suite.cases.read(*places[i]);
      if (!read) return fail(std::move(read.error()));
      of_now = std::move(*read);
    }
    forms.push_back(noted_form(one, of_now, (*shown)[i], numbers));
    past.noted.emplace(i, noted_case(then, one.id, is_gone));
    for (const MetricId metric : (*shown)[i].metrics) {
      if (std::ranges::find(suite.metrics, metric) == suite.metrics.end()) suite.metrics.push_back(metric);
    }
  }
  std::ranges::sort(suite.metrics);
  const auto stays = [&](std::size_t index) {
    return !std::ranges::binary_search(shared.otherwise, suite.cases.id(index));
  };
  suite.cases.keep_if(stays);
  for (Case& form : forms) suite.cases.push_back(std::move(form));
  suite.cases.sort_by_id();
  return past;
}

std::vector<RenumberedTrials> numbers_now(std::span<const AskedCase> then, const TrialTable& now) {
  std::vector<RenumberedTrials> trials;
  TrialId first = 0;
  bool is_other = false;
  for (std::size_t i = 0; i < then.size(); ++i) {
    const auto begin = static_cast<TrialId>(now.first_trial(i));
    const auto count = static_cast<std::uint32_t>(now.first_trial(i + 1) - begin);
    trials.push_back({first, begin, std::min(count, then[i].trials)});
    is_other = is_other || begin != first || count != then[i].trials;
    first += then[i].trials;
  }
  if (!is_other) trials.clear();
  return trials;
}

Result<void> mark_asked_otherwise(const Plan& plan, const ResultSource& results, PastCases& cases) {
  std::vector<bool> otherwise(plan.trials().case_count());
  const auto visited = results.visit([&](const CommittedTrial& one) {
    if (one.trial < plan.trial_count() && plan.key(plan.unit_of(one.trial)) != one.unit.key)
      otherwise[plan.case_of(one.trial)] = true;
  });
  if (!visited) return fail(visited.error());
  // A recorded answer has a key of its own, whatever it answers.
  for (const auto& [index, noted] : cases.noted) otherwise[index] = otherwise[index] || noted.is_gone;
  cases.asked_otherwise = std::move(otherwise);
  return {};
}

}  // namespace sluice
