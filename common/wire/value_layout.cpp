#include "common/wire/value_layout.hpp"

#include "common/defaults.hpp"

#include <algorithm>

namespace sluice::wire {

template <>
bool is_known(Reason value) {
  return reason_from_number(static_cast<std::uint16_t>(value)).has_value();
}

template <>
bool is_known(MetricId value) {
  return find_metric(static_cast<std::uint8_t>(value)) != nullptr;
}

template <>
bool is_known(Mode value) {
  return value == Mode::live || value == Mode::cached || value == Mode::mock;
}

template <>
bool is_known(ProviderKind value) {
  return value >= ProviderKind::openai && value <= ProviderKind::openai_responses;
}

template <>
bool is_known(MessageRole value) {
  return value >= MessageRole::user && value <= MessageRole::tool;
}

template <>
bool is_known(PartKind value) {
  return value >= PartKind::text && value <= PartKind::image_url;
}

template <>
bool is_known(Judge value) {
  return value == Judge::none || value == Judge::fake || value == Judge::model;
}

template <>
bool is_known(JudgeSource value) {
  return value == JudgeSource::judge || value == JudgeSource::cache || value == JudgeSource::trace;
}

template <>
bool is_known(GradeJudge value) {
  return value == GradeJudge::exact || value == GradeJudge::embedding || value == GradeJudge::llm;
}

bool positions_fit(const UnitResult& result) {
  const auto is_claim = [&](std::uint32_t position) { return position < result.claims.size(); };
  // The expectations stay on the coordinator, which checks against the case; here only what no case can have.
  const auto is_expectation = [](std::uint32_t position) { return position < defaults::max_wire_items; };
  const auto is_match = [&](const ClaimMatch& match) {
    return is_expectation(match.expectation) && is_claim(match.claim);
  };
  return std::ranges::all_of(result.scores, [&](const TrialScore& score) {
    const auto& claims = score.claims;
    return std::ranges::all_of(claims.matched, is_match) && std::ranges::all_of(claims.forbidden, is_match) &&
           std::ranges::all_of(claims.missing, is_expectation) &&
           std::ranges::all_of(claims.unexpected, is_claim);
  });
}

}  // namespace sluice::wire
