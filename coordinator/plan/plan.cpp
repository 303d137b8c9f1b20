#include "coordinator/plan/plan.hpp"

#include "common/cache_key.hpp"

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

}  // namespace

Plan::Plan(const Suite& suite, PromptTemplate prompt, const Ontology& ontology, RequestSettings settings)
    : suite_(suite),
      prompt_(std::move(prompt)),
      settings_(std::move(settings)),
      system_(share(render_system(prompt_, ontology))) {
  std::unordered_map<Digest, UnitId, DigestHash> unit_by_key;
  unit_by_key.reserve(suite.cases.size());
  unit_of_.reserve(suite.cases.size());
  CacheKeyMaker keys(settings_.provider, common_request());
  for (const auto& test_case : suite.cases) {
    const auto key = keys.key(render_user(prompt_, test_case), 0);
    const auto [entry, is_new] = unit_by_key.try_emplace(key, static_cast<UnitId>(keys_.size()));
    if (is_new) keys_.push_back(key);
    unit_of_.push_back(entry->second);
  }
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

ModelRequest Plan::common_request() const {
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

WorkUnit Plan::render(UnitId unit) const {
  WorkUnit work;
  work.unit = unit;
  work.key = keys_[unit];
  const auto trials = trials_of(unit);
  work.request = common_request();
  work.request.user = render_user(prompt_, case_of_trial(trials.front()));
  for (const auto trial : trials) {
    const auto& test_case = case_of_trial(trial);
    work.tasks.push_back(
        {trial, test_case.must_contain, test_case.must_not_contain, test_case.min_confidence});
  }
  return work;
}

}  // namespace sluice
