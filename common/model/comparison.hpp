#pragma once

#include "common/model/judge.hpp"

#include <string_view>
#include <vector>

namespace sluice {

/// The fixed rubric by which a judge compares two answers (docs/grading.md), in both orders: {{reference}} is
/// the baseline's answer, {{answer}} the candidate's, {{criteria}} the system prompt. First the one that
/// shows the baseline first. Any change of the texts takes a new version. Thread-safe.
const std::vector<Rubric>& comparison_rubrics();
inline constexpr std::string_view comparison_version = "v1";

}  // namespace sluice
