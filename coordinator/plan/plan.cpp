#include "coordinator/plan/plan.hpp"

#include "common/cache_key.hpp"
#include "coordinator/plan/message_size.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace sluice {

namespace {

/// SHA-256 values are as good as random already.
struct DigestHash {
  std::size_t operator()(const Digest& digest) const {
    std::size_t hash = 0;
    std::memcpy(&hash, digest.data(), sizeof hash);
    return hash;
  }
};

/// What a worker judges the answer by.
ScoringTask task_of(TrialId trial, const Case& test_case) {
  ScoringTask task{trial,
                   test_case.must_contain,
                   test_case.must_not_contain,
                   test_case.min_confidence,
                   test_case.kind == CaseKind::claims,
                   {}};
  for (const auto& expectation : test_case.expectations) {
    if (!is_claims_metric(expectation.what.metric)) task.texts.push_back(expectation.what);
  }
  return task;
}

}  // namespace

Plan::Plan(const Suite& suite, PromptTemplate prompt, const Ontology& ontology, RequestSettings settings)
    : suite_(&suite),
      prompt_(std::move(prompt)),
      settings_(std::move(settings)),
      system_(share(render_system(prompt_, ontology))) {}

Result<Plan> Plan::make(const Suite& suite, PromptTemplate prompt, const Ontology& ontology,
                        RequestSettings settings) {
  Plan plan(suite, std::move(prompt), ontology, std::move(settings));
  std::vector<UnitLoad> loads;
  if (auto numbered = plan.number_units(loads); !numbered) return fail(std::move(numbered.error()));
  plan.group_trials();
  const auto large = std::ranges::find_if_not(loads, &UnitLoad::fits_a_message);
  if (large != loads.end()) return fail(plan.too_large(static_cast<UnitId>(large - loads.begin())));
  return plan;
}

Result<void> Plan::number_units(std::vector<UnitLoad>& loads) {
  const auto cases = suite_->cases.size();
  std::unordered_map<Digest, UnitId, DigestHash> unit_by_key;
  unit_by_key.reserve(cases);
  unit_of_.reserve(cases);
  // What all claims cases share is hashed once; text cases differ in their system prompts.
  CacheKeyMaker claims_keys(settings_.provider, claims_request());
  for (std::size_t i = 0; i < cases; ++i) {
    const auto test_case = suite_->cases.read(i);
    if (!test_case) return fail(test_case.error());
    const bool is_claims = (*test_case)->kind == CaseKind::claims;
    const auto key = is_claims ? claims_keys.key(render_user(prompt_, **test_case), 0)
                               : cache_key(settings_.provider, request_of(**test_case), 0);
    const auto [entry, is_new] = unit_by_key.try_emplace(key, static_cast<UnitId>(keys_.size()));
    if (is_new) {
      keys_.push_back(key);
      loads.emplace_back();
    }
    loads[entry->second].add(**test_case);
    unit_of_.push_back(entry->second);
  }
  return {};
}

Error Plan::too_large(UnitId unit) const {
  const auto trials = trials_of(unit);
  const bool one = trials.size() == 1;
  return {
      Reason::fixture_invalid,
      (one ? "the case " : std::to_string(trials.size()) + " cases with the same request (") +
          std::string(case_id(trials.front())) + (one ? " expects" : ", ...) expect") +
          " more than one message to a worker can hold; " +
          (one ? "shorten what it expects" : "spread them over several suites, or shorten what they expect")};
}

void Plan::group_trials() {
  // Counting sort of the trials by unit: ascending within each.
  unit_begin_.assign(keys_.size() + 1, 0);
  for (const auto unit : unit_of_) ++unit_begin_[unit + 1];
  std::partial_sum(unit_begin_.begin(), unit_begin_.end(), unit_begin_.begin());
  auto next = unit_begin_;
  trials_by_unit_.resize(unit_of_.size());
  for (TrialId trial = 0; trial < unit_of_.size(); ++trial) trials_by_unit_[next[unit_of_[trial]]++] = trial;
}

std::span<const TrialId> Plan::trials_of(UnitId unit) const {
  return std::span(trials_by_unit_).subspan(unit_begin_[unit], unit_begin_[unit + 1] - unit_begin_[unit]);
}

ModelRequest Plan::claims_request() const {
  ModelRequest request;
  request.provider = settings_.provider.name;
  request.model = settings_.model;
  request.system = system_;
  request.response_schema = settings_.response_schema;
  request.temperature = settings_.temperature;
  request.max_tokens = settings_.max_tokens;
  request.seed = settings_.seed;
  return request;
}

ModelRequest Plan::request_of(const Case& test_case) const {
  ModelRequest request = claims_request();
  if (test_case.kind == CaseKind::claims) {
    request.user = render_user(prompt_, test_case);
    return request;
  }
  request.system = test_case.system.empty() ? nullptr : share(test_case.system);
  request.response_schema = nullptr;
  request.user =
      test_case.context.empty() ? test_case.content : test_case.context + "\n\n" + test_case.content;
  return request;
}

Result<WorkUnit> Plan::render(UnitId unit) const {
  WorkUnit work;
  work.unit = unit;
  work.key = keys_[unit];
  const auto trials = trials_of(unit);
  for (const auto trial : trials) {
    const auto test_case = case_of_trial(trial);
    if (!test_case) return fail(test_case.error());
    if (work.tasks.empty()) work.request = request_of(**test_case);
    work.tasks.push_back(task_of(trial, **test_case));
  }
  return work;
}

}  // namespace sluice
