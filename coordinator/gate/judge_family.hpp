#pragma once

#include "common/model/run_settings.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/judge_pin.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

/// A model whose answers are judged.
struct AnsweringModel {
  std::string arm;  ///< Empty: the run has no arms.
  ProviderKind provider = ProviderKind::openai;
  std::string model;
};

/// The family that a model's name says: `claude` of anthropic's, `gemini` of gemini's; of others the letters
/// that its last part begins with, in lower case (`meta-llama/Llama-3.1-8B`: `llama`), where OpenAI's `o3`
/// and `chatgpt-...` are `gpt`. `provider` as to_string(ProviderKind) has it.
std::string model_family(std::string_view provider, std::string_view model);

/// `judge_family` (info): the judge is of the family of the model that it judges, or of that of some arms and
/// not of others. Nothing of the fake judge, where nobody judges, and where all arms are of its family: what
/// favours all of them alike decides nothing between them.
std::optional<GateNotice> judge_family_notice(const JudgeIdentity& judge,
                                              std::span<const AnsweringModel> models);

}  // namespace sluice
