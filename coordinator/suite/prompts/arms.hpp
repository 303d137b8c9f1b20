#pragma once

#include "common/error.hpp"
#include "coordinator/suite/prompts/arm.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Letters, digits, `.`, `_` and `-`, at most defaults::max_arm_name_bytes: what people may call an arm, or a
/// prompt. A `/` stands between the two where arms are crossed with prompts, and nowhere else.
bool is_arm_name(std::string_view name);
/// The text with `-` for each run of other characters, and shortened: a name for what bears none. "unnamed"
/// if nothing is left.
std::string arm_name_of(std::string_view text);
/// Why it is none: a clause that begins with "must".
std::string not_an_arm_name(std::string_view name);

/// `NAME=PROVIDER:MODEL`, as `--arm` and a suite's `arms:` take it: the first `=` and the first `:` behind it
/// part it, so that models may hold both. usage_invalid otherwise; the message begins after whatever names
/// the text ("must be ..."). `where` is the caller's to say.
Result<Arm> parse_arm(std::string_view text);
/// `PROVIDER:MODEL`, as a suite's `providers:` take it: an arm without a name. Errors as there.
Result<Arm> parse_target(std::string_view text);

/// The arms of a run: those that flags name, or else the suite's. One that names no prompt stands for an arm
/// for each of the suite's prompts, `ARM/PROMPT`, where there are several; a suite with several prompts and
/// no arms has one for each prompt, called by its id. Empty: the run has no arms, and each case is asked
/// once.
std::vector<Arm> arms_of(const std::vector<PromptVariant>& prompts, const std::vector<Arm>& suite,
                         const std::vector<Arm>& flags = {});

/// usage_invalid if two have the same name, or there are more than defaults::max_arms. For what arms_of
/// gives.
Result<void> check_arms(const std::vector<Arm>& arms);

}  // namespace sluice
