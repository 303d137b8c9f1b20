#include "common/error.hpp"

#include <algorithm>
#include <array>

namespace sluice {

namespace {

struct NamedReason {
  Reason reason;
  std::string_view name;
};

constexpr std::array named_reasons{
    NamedReason{Reason::usage_invalid, "usage_invalid"},
    NamedReason{Reason::settings_invalid, "settings_invalid"},
    NamedReason{Reason::fixture_invalid, "fixture_invalid"},
    NamedReason{Reason::file_unreadable, "file_unreadable"},
    NamedReason{Reason::key_missing, "key_missing"},
    NamedReason{Reason::insecure_refused, "insecure_refused"},
    NamedReason{Reason::key_withheld, "key_withheld"},
    NamedReason{Reason::baseline_invalid, "baseline_invalid"},
    NamedReason{Reason::file_too_large, "file_too_large"},
    NamedReason{Reason::listen_failed, "listen_failed"},
    NamedReason{Reason::coordinator_unreachable, "coordinator_unreachable"},
    NamedReason{Reason::protocol_mismatch, "protocol_mismatch"},
    NamedReason{Reason::cache_in_use, "cache_in_use"},
    NamedReason{Reason::cache_failed, "cache_failed"},
    NamedReason{Reason::ledger_failed, "ledger_failed"},
    NamedReason{Reason::output_failed, "output_failed"},
    NamedReason{Reason::no_workers, "no_workers"},
    NamedReason{Reason::cache_miss, "cache_miss"},
    NamedReason{Reason::interrupted, "interrupted"},
    NamedReason{Reason::internal_error, "internal_error"},
    NamedReason{Reason::message_malformed, "message_malformed"},
    NamedReason{Reason::coordinator_too_far, "coordinator_too_far"},
    NamedReason{Reason::key_refused, "key_refused"},
    NamedReason{Reason::quota_exhausted, "quota_exhausted"},
    NamedReason{Reason::model_unknown, "model_unknown"},
    NamedReason{Reason::parameter_refused, "parameter_refused"},
    NamedReason{Reason::provider_paused, "provider_paused"},
    NamedReason{Reason::provider_changed, "provider_changed"},
    NamedReason{Reason::provider_unreachable, "provider_unreachable"},
    NamedReason{Reason::rate_limited, "rate_limited"},
    NamedReason{Reason::provider_failed, "provider_failed"},
    NamedReason{Reason::timed_out, "timed_out"},
    NamedReason{Reason::connection_lost, "connection_lost"},
    NamedReason{Reason::request_refused, "request_refused"},
    NamedReason{Reason::answer_too_large, "answer_too_large"},
    NamedReason{Reason::worker_lost, "worker_lost"},
    NamedReason{Reason::judge_unparsable, "judge_unparsable"},
    NamedReason{Reason::judge_refused, "judge_refused"},
    NamedReason{Reason::quality_score_invalid, "quality_score_invalid"},
    NamedReason{Reason::grader_id_missing, "grader_id_missing"},
    NamedReason{Reason::embedding_count_wrong, "embedding_count_wrong"},
    NamedReason{Reason::grade_unparsable, "grade_unparsable"},
    NamedReason{Reason::baseline_unanswered, "baseline_unanswered"},
    NamedReason{Reason::answer_too_long, "answer_too_long"},
    NamedReason{Reason::check_undecided, "check_undecided"},
    NamedReason{Reason::deadline_reached, "deadline_reached"},
    NamedReason{Reason::token_budget_spent, "token_budget_spent"},
    NamedReason{Reason::cost_budget_spent, "cost_budget_spent"},
    NamedReason{Reason::refusal, "refusal"},
    NamedReason{Reason::truncated, "truncated"},
    NamedReason{Reason::unparsable_answer, "unparsable_answer"},
};

}  // namespace

std::string_view to_string(Reason reason) {
  const auto found = std::ranges::find(named_reasons, reason, &NamedReason::reason);
  return found == named_reasons.end() ? std::string_view("internal_error") : found->name;
}

std::optional<Reason> reason_from_number(std::uint16_t number) {
  const auto reason = static_cast<Reason>(number);
  const auto found = std::ranges::find(named_reasons, reason, &NamedReason::reason);
  if (found == named_reasons.end()) return std::nullopt;
  return reason;
}

bool stops_run(Reason reason) {
  switch (reason) {
    case Reason::key_missing:
    case Reason::key_withheld:
    case Reason::cache_failed:
    case Reason::key_refused:
    case Reason::quota_exhausted:
    case Reason::model_unknown:
    case Reason::parameter_refused:
    case Reason::provider_paused:
    case Reason::provider_changed:
    case Reason::provider_unreachable:
      return true;
    default:
      return false;
  }
}

bool concerns_worker_alone(Reason reason) {
  return reason == Reason::provider_unreachable || reason == Reason::cache_failed ||
         reason == Reason::key_refused || reason == Reason::provider_changed;
}

bool is_run_budget(Reason reason) {
  return reason == Reason::deadline_reached || reason == Reason::token_budget_spent ||
         reason == Reason::cost_budget_spent;
}

bool is_non_answer(Reason reason) {
  return reason == Reason::refusal || reason == Reason::truncated || reason == Reason::unparsable_answer;
}

}  // namespace sluice
