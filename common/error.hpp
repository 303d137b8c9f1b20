#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace sluice {

/// Why something did not work. Stands as `reason_code` in reports and on the wire (docs/protocol.md); a name
/// never changes its meaning, and new ones are added at the end of their group.
enum class Reason : std::uint16_t {
  // What the user gave: ends the program with exit code 2.
  usage_invalid = 1,     ///< A flag or a combination of flags makes no sense.
  settings_invalid = 2,  ///< A settings file or an environment variable has a wrong key or value.
  fixture_invalid = 3,   ///< A fixture, manifest or suite file does not fit its format.
  file_unreadable = 4,   ///< A file that was named cannot be read.
  key_missing = 5,       ///< A provider needs an API key and no worker has it.
  insecure_refused = 6,  ///< An endpoint beyond loopback with neither a fleet key nor `--insecure`.
  key_withheld = 7,      ///< A worker does not trust the host that a base URL names with its key.
  baseline_invalid = 8,  ///< A baseline does not fit its format, or is another suite's.
  file_too_large = 9,    ///< A file that was named holds more than is read of its kind.

  // Set-up and run time: ends the program with exit code 2.
  listen_failed = 20,            ///< The endpoint cannot be bound.
  coordinator_unreachable = 21,  ///< A worker found no coordinator in time.
  protocol_mismatch = 22,        ///< The two sides have different versions of the protocol.
  cache_in_use = 23,             ///< Another process holds a cache, or stored there what a cached run lacks.
  cache_failed = 24,             ///< The cache cannot be read or written.
  ledger_failed = 25,            ///< The run ledger cannot be read or written.
  output_failed = 26,            ///< A report cannot be written.
  no_workers = 27,               ///< No worker was connected for the time that was set.
  cache_miss = 28,               ///< `--mode cached` and no connected worker holds the answer.
  interrupted = 29,              ///< The user ended the run.
  internal_error = 30,           ///< A defect in sluice itself.
  message_malformed = 31,        ///< A frame or a stored value is not what docs/protocol.md says, or damaged.
  coordinator_too_far = 32,      ///< What it is granted reaches a worker too late to be used.

  // The provider, for good: every other case would fail alike, so the run stops with exit code 2.
  key_refused = 40,           ///< 401 or 403: the key is not accepted.
  quota_exhausted = 41,       ///< No credit is left, or the quota of the day is spent.
  model_unknown = 42,         ///< The provider does not know the model, or the URL is not its API.
  provider_unreachable = 43,  ///< Never answered in this run: refused, unresolvable, or not an HTTP server.
  parameter_refused = 44,     ///< The model refuses a parameter that every call of the run carries.
  provider_paused = 45,       ///< It asked for a silence that is longer than the time of a case.
  provider_changed = 46,      ///< Its program is another one than the run began with.

  // One trial: the case ends with status `error`, and never enters a score.
  rate_limited = 60,           ///< 429 or 529 until the retries or the time of the case were spent.
  provider_failed = 61,        ///< 5xx, a crash or an unreadable body until the retries were spent.
  timed_out = 62,              ///< No answer within the request's or the case's time.
  connection_lost = 63,        ///< Connections failed until the retries were spent.
  request_refused = 64,        ///< 4xx for this request alone (bad request, too large).
  answer_too_large = 65,       ///< More than `defaults::max_answer_bytes`, or than a result can hold.
  worker_lost = 66,            ///< Lost with its worker too often.
  judge_unparsable = 70,       ///< A judge's answer could not be read as a vote, however often it was asked.
  judge_refused = 71,          ///< The judge declined, or was cut off.
  quality_score_invalid = 72,  ///< A grade whose score is not in 0..1.
  grader_id_missing = 73,      ///< A grade that does not say who graded.
  embedding_count_wrong = 74,  ///< Not one vector a text, all of one length that can be kept.
  grade_unparsable = 75,       ///< A judge's comparison could not be read, however often it was asked.
  baseline_unanswered = 76,    ///< The baseline declined or was cut off: there is nothing to grade against.
  answer_too_long = 77,        ///< Than a judge is shown: none is shown a part of it.
  check_undecided = 78,        ///< A check could not say whether the answer passes.
  // Of cases whose turn did not come: a budget of the run ended it (docs/budgets.md).
  deadline_reached = 67,    ///< `--deadline`
  token_budget_spent = 68,  ///< `--max-tokens`
  cost_budget_spent = 69,   ///< `--max-cost`
  // Answers that are none ("final non-answers", docs/delivery.md): stored apart and replayed in cached mode.
  refusal = 80,            ///< The model or its content filter declined.
  truncated = 81,          ///< Cut off at the token limit.
  unparsable_answer = 82,  ///< The text is not what the response schema asks for.
};

/// The stable snake_case name, e.g. "rate_limited".
std::string_view to_string(Reason reason);
/// The reason of a wire or ledger value; nothing if the number is not one of ours.
std::optional<Reason> reason_from_number(std::uint16_t number);
/// True for what no cache that was read holds: other workers may, and the run counts all that it lacks.
inline bool is_miss(Reason reason) {
  return reason == Reason::cache_miss || reason == Reason::cache_in_use;
}
/// True for the reasons that every other case would meet too: the run stops (exit code 2).
bool stops_run(Reason reason);
/// True for those of them that a worker meets through its own network, key or files: where others are at
/// work, it gets no more, and the run goes on.
bool concerns_worker_alone(Reason reason);
/// True for deadline_reached, token_budget_spent and cost_budget_spent: the run ended as it was set to, and
/// is assessed by what there is.
bool is_run_budget(Reason reason);
/// True for refusal, truncated and unparsable_answer.
bool is_non_answer(Reason reason);

/// A failure as a value. The message is one sentence for the user: what was wrong, where, and what to do.
struct Error {
  Reason reason = Reason::internal_error;
  std::string message;
  friend bool operator==(const Error&, const Error&) = default;
};

/// Either a value or an Error; no exception crosses a component.
template <class T>
using Result = tl::expected<T, Error>;

/// For `return fail(Reason::x, "...")` in a function that returns Result<T>.
inline tl::unexpected<Error> fail(Reason reason, std::string message) {
  return tl::unexpected<Error>(Error{reason, std::move(message)});
}
inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace sluice
