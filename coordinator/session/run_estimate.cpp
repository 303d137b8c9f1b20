#include "coordinator/session/run_estimate.hpp"

#include "common/model/metrics.hpp"
#include "common/model/token_bound.hpp"
#include "coordinator/run/run_budget.hpp"
#include "coordinator/session/embedding_run.hpp"
#include "coordinator/session/run_plan.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

/// Adds up calls by kind and model.
class CallSums {
 public:
  explicit CallSums(const PriceTable& prices) : prices_(prices) {}

  void add(CallKind kind, const ProviderSettings& provider, const std::string& model, std::uint64_t wanted,
           std::uint64_t held, const Usage& most) {
    auto known = std::ranges::find_if(sums_, [&](const EstimatedCalls& one) {
      return one.kind == kind && one.provider_name == provider.name && one.model == model;
    });
    if (known == sums_.end()) {
      known = sums_.insert(known, {kind, provider.kind, provider.name, model, 0, 0, {}, std::nullopt});
    }
    known->wanted += wanted;
    known->held += held;
    known->most += most;
  }

  std::vector<EstimatedCalls> finish() {
    for (EstimatedCalls& one : sums_) {
      one.cost = one.calls() == 0 ? 0.0 : prices_.cost(one.provider, one.model, one.most);
    }
    return std::move(sums_);
  }

 private:
  const PriceTable& prices_;
  std::vector<EstimatedCalls> sums_;
};

/// Texts whose embeddings the unit needs: those of its tests, and the answer.
std::uint64_t embedded_texts(const WorkUnit& unit) {
  std::uint64_t texts = 0;
  for (const auto& task : unit.tasks) {
    for (const auto& expectation : task.texts) {
      if (expectation.metric == MetricId::semantic_similarity_to) texts += expectation.texts.size();
    }
  }
  return texts > 0 ? texts + 1 : 0;
}

std::uint64_t votes_of(const WorkUnit& unit) {
  std::uint64_t votes = 0;
  for (const auto& task : unit.tasks) {
    for (const auto& expectation : task.judged) votes += expectation.recorded ? 0 : expectation.samples;
  }
  return votes;
}

void add_unit(const RunInputs& inputs, const ResolvedProvider& model, const JudgeSettings& judge,
              const WorkUnit& unit, bool held, CallSums& sums) {
  const PaidTokens most = most_of(unit, judge);
  if (!unit.recorded) {
    sums.add(CallKind::answer, model.provider, model.model, 1, held ? 1 : 0,
             held ? Usage() : most.of(CallKind::answer));
  }
  const auto& embedding = inputs.embedding;
  if (const auto texts = embedded_texts(unit); texts > 0 && embedding.provider) {
    sums.add(CallKind::embedding, *embedding.provider, embedding.embedding.model, texts, 0,
             most.of(CallKind::embedding));
  }
  if (const auto votes = votes_of(unit); votes > 0 && judge.judge == Judge::model && inputs.judge.provider) {
    sums.add(CallKind::judge, *inputs.judge.provider, judge.model, votes, 0, most.of(CallKind::judge));
  }
}

/// The limit that a provider's calls reach last.
EstimatedTime time_of(const std::string& provider, const ProviderLimits& limits, std::uint64_t calls,
                      const Usage& most) {
  EstimatedTime time{provider, std::nullopt};
  const auto take = [&](const std::optional<std::uint64_t>& per_minute, std::uint64_t amount,
                        const char* name) {
    if (!per_minute) return;
    const double seconds = 60.0 * static_cast<double>(amount) / static_cast<double>(*per_minute);
    if (time.seconds && *time.seconds >= seconds) return;
    time.seconds = seconds;
    time.limit = name;
  };
  take(limits.requests_per_minute, calls, "requests_per_minute");
  take(limits.tokens_per_minute, most.total(), "tokens_per_minute");
  take(limits.input_tokens_per_minute, most.input_tokens, "input_tokens_per_minute");
  take(limits.output_tokens_per_minute, most.output_tokens, "output_tokens_per_minute");
  return time;
}

std::vector<EstimatedTime> times_of(const std::vector<EstimatedCalls>& calls,
                                    const std::vector<ProviderSettings>& providers,
                                    const Settings& settings) {
  std::vector<EstimatedTime> times;
  for (const ProviderSettings& provider : providers) {
    std::uint64_t count = 0;
    Usage most;
    for (const EstimatedCalls& one : calls) {
      if (one.provider_name != provider.name) continue;
      count += one.calls();
      most += one.most;
    }
    if (count > 0) times.push_back(time_of(provider.name, limits_of(settings, provider.name), count, most));
  }
  return times;
}

}  // namespace

Result<RunEstimate> estimate_run(const RunOptions& options, const RunInputs& inputs, const Plan& plan,
                                 const std::vector<bool>& held) {
  RunSettings run = run_settings(options, inputs, "");
  fit_judge(plan, run);
  RunEstimate estimate;
  estimate.suite = inputs.suite.name;
  estimate.mode = run.mode;
  estimate.cases = inputs.suite.cases.size();
  estimate.trials = plan.trial_count();
  estimate.answers = plan.unit_count();
  CallSums sums(inputs.prices);
  for (UnitId unit = 0; unit < plan.unit_count(); ++unit) {
    const bool is_held = run.read_cache && held.at(unit);
    estimate.held += held.at(unit) ? 1 : 0;
    if (run.mode != Mode::live && !options.answers) continue;
    const auto work = plan.render(unit);
    if (!work) return fail(work.error());
    estimate.recorded += work->recorded ? 1 : 0;
    if (run.mode != Mode::live) continue;
    const auto& model = options.arms.empty() ? options.provider : options.arms.at(plan.arm_of(unit)).provider;
    add_unit(inputs, model, run.judge, *work, is_held, sums);
  }
  if (run.mode == Mode::live && awaits_embeddings(inputs)) {
    const auto before = embedding_run(options, inputs);
    if (!before) return fail(before.error());
    Usage most;
    const CaseList& texts = before->inputs.suite.cases;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto text = texts.read(i);
      if (!text) return fail(text.error());
      most.input_tokens += token_bound((*text)->recorded->answer.text) + 1;
    }
    sums.add(CallKind::embedding, *inputs.embedding.provider, inputs.embedding.embedding.model, texts.size(),
             0, most);
  }
  estimate.calls = sums.finish();
  estimate.max_cost = options.settings.max_run_cost.value;
  estimate.times = times_of(estimate.calls, run.providers, options.settings);
  return estimate;
}

}  // namespace sluice
