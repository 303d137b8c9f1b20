#include "coordinator/import/foreign_sampling.hpp"

#include "common/model/sampling.hpp"

namespace sluice {
namespace {

constexpr double usual_tokens = 1024;
constexpr double tokens_to_think = 2048;  ///< Of a Claude that thinks unasked.

/// promptfoo's own rule, by the name alone: also behind a gateway's prefix (`openai/gpt-5-mini`).
bool is_reasoning_of_openai(std::string_view model) {
  if (model.starts_with("ft:")) model.remove_prefix(3);
  for (const std::string_view start : {"o1", "o3", "o4", "gpt-5", "gpt-6", "codex-mini-latest"}) {
    const auto at = model.find(start);
    if (at != model.npos && (at == 0 || model[at - 1] == '/')) return true;
  }
  return false;
}

bool is_reasoning_of_xai(std::string_view model) {
  if (model.find("non-reasoning") != model.npos) return false;
  for (const std::string_view start : {"grok-3-mini", "grok-4", "grok-build", "grok-code", "grok-latest"}) {
    if (model.starts_with(start)) return true;
  }
  return false;
}

/// Claude 5 and Mythos; Opus 4.7 and 4.8, which take no temperature either, think only when they are asked.
bool thinks_unasked(std::string_view model) {
  return model.find("claude-mythos") != model.npos ||
         (!takes_temperature(model) && model.find("opus-4") == model.npos);
}

ForeignSampling sampling_of(SamplingFamily family, std::string_view model, bool is_reasoning) {
  switch (family) {
    case SamplingFamily::openai:
      if (is_reasoning) return {{}, {}, true, true, false};
      return {0.0, usual_tokens};
    case SamplingFamily::azure:  // It takes a bound from either key.
      if (is_reasoning) return {{}, usual_tokens, true, false, false};
      return {0.0, usual_tokens};
    case SamplingFamily::groq:
      if (model.find("gpt-oss") != model.npos || model.find("qwen") != model.npos)
        return {0.0, {}, false, true, false};
      return {0.0, usual_tokens};
    case SamplingFamily::xai:
      if (is_reasoning_of_xai(model)) return {0.0, {}, false, true, false};
      return {0.0, usual_tokens};
    case SamplingFamily::anthropic:
      if (!takes_temperature(model))
        return {{}, thinks_unasked(model) ? tokens_to_think : usual_tokens, true, false, true};
      return {0.0, thinks_unasked(model) ? tokens_to_think : usual_tokens, false, false, true};
    case SamplingFamily::mistral:
      return {{}, usual_tokens};
    case SamplingFamily::localai:
      return {0.7, {}};
    case SamplingFamily::none:
      break;
  }
  return {};
}

}  // namespace

ForeignSampling foreign_sampling(SamplingFamily family, std::string_view model) {
  const bool is_of_openai = is_reasoning_of_openai(model);
  ForeignSampling sampling = sampling_of(family, model, is_of_openai);
  sampling.is_reasoning = sampling.drops_max_tokens || (family == SamplingFamily::azure && is_of_openai);
  return sampling;
}

}  // namespace sluice
