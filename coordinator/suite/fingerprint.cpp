#include "coordinator/suite/fingerprint.hpp"

#include "common/model/metrics.hpp"
#include "coordinator/suite/canonical_case.hpp"
#include "coordinator/suite/canonical_object.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// Changes whenever the canonical form does: then every baseline's fingerprint is another.
constexpr std::string_view form_version = "1";

void append_judge(std::string& out, const FingerprintJudge& judge) {
  CanonicalObject object(out);
  object.add("max_tokens", std::to_string(judge.max_tokens)).add_text("model", judge.model);
  if (judge.provider) object.add_text("provider", to_string(*judge.provider));
  object.add("samples", std::to_string(judge.samples)).add_number("temperature", judge.temperature);
}

void append_arm(std::string& out, const FingerprintArm& arm) {
  CanonicalObject object(out);
  object.add("max_tokens", std::to_string(arm.max_tokens)).add_text("model", arm.model);
  object.add_text("name", arm.name);
  if (!arm.params.empty()) object.add("params", json_of(arm.params));
  if (arm.prompt) object.add("prompt", std::to_string(*arm.prompt));
  object.add_text("provider", to_string(arm.provider));
  if (arm.seed) object.add("seed", std::to_string(*arm.seed));
  object.add_if("temperature", arm.temperature);
}

bool reads_claims(const Suite& suite) {
  return std::ranges::any_of(suite.metrics, is_claims_metric);
}
bool embeds(const Suite& suite) {
  return suite.examples != nullptr ||
         std::ranges::find(suite.metrics, MetricId::semantic_similarity_to) != suite.metrics.end();
}
bool judges(const Suite& suite) {
  return std::ranges::any_of(suite.metrics, is_judge_metric);
}

void append_metric(std::string& out, MetricId id) {
  append_json_string(out, std::string(info(id).name) + " " + std::string(info(id).version));
}

void append_config(std::string& out, const Suite& suite, const Digest& content,
                   const FingerprintSettings& settings) {
  CanonicalObject object(out);
  if (!settings.arms.empty()) append_unordered(object.member("arms"), settings.arms, append_arm);
  if (embeds(suite)) {
    object.add_text("embedding_model", settings.embedding_model);
    if (settings.embedding_provider) {
      object.add_text("embedding_provider", to_string(*settings.embedding_provider));
    }
  }
  object.add_text("form", form_version);
  if (judges(suite)) append_judge(object.member("judge"), settings.judge);
  const bool has_arms = !settings.arms.empty();
  if (!has_arms) object.add("max_tokens", std::to_string(settings.max_tokens));
  append_unordered(object.member("metrics"), suite.metrics, append_metric);
  if (!has_arms) object.add_text("model", settings.model);
  if (reads_claims(suite)) object.add_text("ontology", to_hex(settings.ontology));
  if (!has_arms && !settings.params.empty()) object.add("params", json_of(settings.params));
  if (reads_claims(suite)) object.add_text("prompt", to_hex(settings.prompt));
  if (!has_arms) object.add_text("provider", to_string(settings.provider));
  if (!has_arms && settings.seed) object.add("seed", std::to_string(*settings.seed));
  object.add_text("suite", to_hex(content));
  if (!has_arms) object.add_if("temperature", settings.temperature);
}

Digest fingerprint_of(const Suite& suite, const Digest& content, const FingerprintSettings& settings) {
  std::string text;
  append_config(text, suite, content, settings);
  return sha256(text);
}

}  // namespace

Digest config_fingerprint(const Suite& suite, const FingerprintSettings& settings) {
  return fingerprint_of(suite, suite.content_fingerprint, settings);
}

FingerprintParts fingerprint_parts(const Suite& suite, const FingerprintSettings& settings) {
  constexpr std::size_t digits = 16;
  FingerprintParts parts;
  const auto add = [&](const std::string& name, const auto& append, const auto&... what) {
    std::string text;
    append(text, what...);
    parts[name] = to_hex(sha256(text)).substr(0, digits);
  };
  const auto append_text = [](std::string& out, const std::string& text) { out += text; };
  add("requests", append_text, to_hex(suite.content_fingerprint));
  add("checks", append_text, to_hex(suite.judging_fingerprint));
  add("metrics", append_unordered<std::vector<MetricId>, decltype(&append_metric)>, suite.metrics,
      &append_metric);
  for (const PromptVariant& one : suite.prompts)
    add("prompt " + one.id, append_prompt, RenderedPrompt{one.system, one.prompt});
  for (const FingerprintArm& arm : settings.arms) add("arm " + arm.name, append_arm, arm);
  if (settings.arms.empty()) {
    add("model", append_arm,
        FingerprintArm{"", settings.provider, settings.model, settings.temperature, settings.max_tokens,
                       settings.seed, std::nullopt, settings.params});
  }
  if (judges(suite)) add("judge", append_judge, settings.judge);
  if (reads_claims(suite)) add("claims", append_text, to_hex(settings.prompt) + to_hex(settings.ontology));
  if (embeds(suite)) {
    const auto& provider = settings.embedding_provider;
    add("embeddings", append_text,
        settings.embedding_model + '\n' + std::string(provider ? to_string(*provider) : ""));
  }
  return parts;
}

Digest judging_fingerprint(const Suite& suite, FingerprintSettings settings) {
  settings.temperature.reset();
  settings.max_tokens = 0;
  settings.seed.reset();
  settings.params = {};
  settings.prompt = {};
  for (FingerprintArm& arm : settings.arms) arm = {arm.name, arm.provider, arm.model, {}, 0, {}, {}, {}};
  return fingerprint_of(suite, suite.judging_fingerprint, settings);
}

CaseJudging::CaseJudging(const Suite& suite, FingerprintSettings settings)
    : suite_(suite), settings_(std::move(settings)) {}

/// One of few: a suite's cases are judged by the same metrics under the same arms.
const Digest& CaseJudging::by_metrics(std::uint32_t arm, const std::vector<MetricId>& metrics) {
  const auto [found, is_new] = known_.try_emplace({arm, metrics});
  if (!is_new) return found->second;
  Suite alone;
  alone.examples = suite_.examples;
  alone.metrics = metrics;
  alone.judging_fingerprint = sha256(suite_.name + '\n' + canonical_thresholding(suite_.thresholding));
  FingerprintSettings settings = settings_;
  if (arm < settings.arms.size()) settings.arms = {settings_.arms[arm]};
  return found->second = judging_fingerprint(alone, std::move(settings));
}

Digest CaseJudging::of(const Case& one) {
  std::vector<MetricId> metrics;
  for (const MetricId metric : suite_.metrics) {
    const bool is_asked = std::ranges::any_of(one.expectations, [metric](const Expectation& expectation) {
      return expectation.what.metric == metric;
    });
    if (is_asked || (one.expectations.empty() && is_claims_metric(metric))) metrics.push_back(metric);
  }
  return sha256(to_hex(by_metrics(one.arm, metrics)) + '\n' + canonical_judging(one));
}

}  // namespace sluice
