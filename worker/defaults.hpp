#pragma once

#include "common/defaults.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// The constants that tune the worker alone, with their reasons. Those that the coordinator shares stand in
/// common/defaults.hpp. What defines a format or a metric stays beside it: the cassette's bytes, the n-grams
/// of `lexical-ngrams-v1`, the tolerance of numbers that match.
namespace sluice::defaults {

using namespace std::chrono_literals;

// --- The worker and its window (docs/delivery.md)
/// A round trip with a commit takes a few milliseconds; 100 ms of work rides out a busy coordinator. No more:
/// the search for a concurrency takes what waits here for a request to have more in flight.
inline constexpr double credit_lookahead_seconds = 0.1;
inline constexpr double max_units_ahead = 1024;  ///< Beyond the concurrency, however fast units are.
/// Finished a second by a worker that waits for no provider, before it has shown it.
inline constexpr double units_per_second_unpaid = 10'000;
/// A fast run shows itself before the next beat; what is finished in less time proves little.
inline constexpr double least_measured_seconds = 0.1;
/// Kinds of requests that differ in more than their user message, whose common part stays hashed: the arms,
/// systems and repeats that are worked on at a time.
inline constexpr std::size_t max_key_makers = 64;
/// A larger result is not reported: what else is in a message of it, such as the units that have begun, has
/// room beside it.
inline constexpr std::size_t max_reported_bytes = max_frame_bytes - (4u << 20);
/// What the plan counts (coordinator/plan/defaults.hpp), with the claims beside it, stays below.
inline constexpr std::size_t max_reported_values = max_wire_values - (1u << 16);
/// Upper bounds of what parts of a result count for the wire's limit of values.
inline constexpr std::size_t reported_result_values = 256;
inline constexpr std::size_t reported_claim_values = 8;
inline constexpr std::size_t reported_metric_values = 5;
inline constexpr std::size_t reported_vote_values = 3;
inline constexpr std::size_t reported_trial_values = 12;
inline constexpr std::size_t reported_match_values = 3;
/// Upper bounds of what parts of a result take in a REPORT, beside their texts.
inline constexpr std::size_t reported_result_bytes = 512;
inline constexpr std::size_t reported_claim_bytes = 64;
inline constexpr std::size_t reported_metric_bytes = 24;
inline constexpr std::size_t reported_vote_bytes = 12;
inline constexpr std::size_t reported_trial_bytes = 40;
inline constexpr std::size_t reported_position_bytes = 4;  ///< Of a claim or an expectation.
inline constexpr auto report_delay = 100ms;  ///< Gathers results while a worker has other work: one message
                                             ///< and one commit for many. As far as a credit window looks
                                             ///< ahead; who runs short earlier reports earlier.
/// A coordinator on the same network answers a REPORT sooner. One that is farther away must not be waited
/// for: it would have to send more at a time.
inline constexpr auto report_answer_wait = 20ms;

/// WORKs in a row that a worker cannot read until it ends. One unit costs a lone worker two: beside others,
/// and alone. After one more such unit it is taken for the worker that is at fault, or for all units.
inline constexpr std::uint32_t max_unread_in_a_row = 4;

/// Before a worker leaves a run that is over: what still waits for more than its answer is scored and
/// reported by then. Both take milliseconds, and the coordinator waits for GOODBYE a little longer.
inline constexpr auto last_results_time = 500ms;

// --- Calls and retries (docs/budgets.md)
inline constexpr auto backoff_max = 60s;  ///< Delays that no provider named stop growing here.
/// Retries after failures that are charged: a second try is worth its price, a sixth is not.
inline constexpr std::uint32_t max_charged_retries = 2;
/// Failed probes of one call for each of its tries: then the call itself is taken for the cause of the
/// outage.
inline constexpr std::uint32_t failed_probes_per_try = 2;
/// So many cases that fail again, and nothing shows that they fail alone: of 4 bad cases among 20, the last
/// three are seldom bad, and an outage is to be seen that begins when three are left.
inline constexpr std::size_t failing_calls_of_outage = 3;
/// Tries in a row that came too late for their permits, though the connection was warmed up after the first,
/// and no answer to any call since: the way to the provider takes longer than a permit lasts.
inline constexpr std::uint32_t max_unsent = 8;
/// Calls without any answer until a provider is unreachable: one case may be slow, and with one place nobody
/// else had a chance.
inline constexpr std::uint32_t enough_silent_calls = 2;
/// Of a program that has not answered yet, each after all its tries: it does not run at all.
inline constexpr std::uint32_t enough_crashed_calls = 5;
/// Tries that a server answers with a web page, and never otherwise, for so long: it is no API.
inline constexpr std::uint32_t enough_web_pages = 5;
inline constexpr auto web_pages_patience = 30s;
/// Calls in a row that a model which has answered refuses by 403, 404, 405, 410 or a redirect, or for a
/// parameter that it took: of more the key or the model is gone, or another behind its name.
inline constexpr std::uint32_t refused_alone = 10;

// --- Budgets (docs/budgets.md)
/// Gathers what became of permits and calls while the coordinator knows of enough calls that wait: one
/// message for several calls.
inline constexpr auto demand_delay = 100ms;
inline constexpr std::uint32_t late_permits_in_a_row = 5;  ///< Messages with too late ones, none in time ...
inline constexpr auto late_permits_memory = 2min;          ///< ... each within so long after the last ...
inline constexpr auto late_permits_patience = 10s;         ///< ... for so long: the worker is too far away.
inline constexpr auto late_grants_patience = 1min;  ///< GRANTS that are too old for so long: too far away.
/// With a search on, what answers take is reported after a round of them, but no more often than this: rounds
/// of a fast server show nothing that the next one does not.
inline constexpr auto shortest_round = 50ms;
inline constexpr std::uint32_t smallest_round = 16;
/// After a refusal the coordinator may search for a rate, by the times at which calls begin: so long they are
/// not gathered.
inline constexpr auto prompt_time = 30s;
/// Of a pause that another worker was asked for, when a grant names what is left of it: as much as the
/// coordinator has two named delays differ by that are one.
inline constexpr auto granted_pause_age = 5s;
/// How much faster or slower one machine's clock may run than the other's: quartz without any discipline
/// stays within 100 ppm of true time, so two of them within 200 of each other.
inline constexpr std::int64_t clock_drift_ppm = 200;
/// Round trips without a clearly shorter one: the shortest ways are those without a queue.
inline constexpr std::uint32_t round_trips_to_trust = 8;
inline constexpr auto round_trips_apart = std::chrono::milliseconds(20);
inline constexpr auto clearly_shorter_way = std::chrono::milliseconds(5);

// --- Units: enrichers, embeddings, scores
/// A call that is a unit's own ends with the unit's time, and knows more of why: it goes first.
inline constexpr auto precedence_of_calls = 100ms;
/// How long the scorer keeps a thread at a time: others of the pool, such as the one that sends HEARTBEAT,
/// get their turn between the units of a long batch.
inline constexpr auto scoring_slice = 20ms;
inline constexpr std::size_t max_embedded_texts = 64;       ///< A call. Gemini takes 100, OpenAI 2048.
inline constexpr std::size_t max_embedded_bytes = 100'000;  ///< A call, but for a single longer text.
/// Of the vectors that are remembered, with their texts: some thousands at the usual dimensions.
inline constexpr std::size_t max_recent_vector_bytes = 16u << 20;
/// Of an answer that a judge is shown, in bytes. Some 64,000 tokens of English, half of what most judges can
/// read: what does not fit is refused by the provider, which would end the run for one case.
inline constexpr std::size_t max_judged_bytes = 256 * 1024;
/// An answer with more claims than this is no answer to a question about one file.
inline constexpr std::size_t max_claims = 10'000;
/// Claims that a test does not expect, over all tests that one answer is for: each is a value of the result,
/// which has to fit into a message beside what the plan counts (coordinator/plan/message_size.hpp).
inline constexpr std::size_t max_unmatched_claims_of_unit = max_wire_values / 8;
/// A claims document nests three deep; what is nested in unknown keys is skipped up to here.
inline constexpr std::size_t max_claims_depth = 64;
/// Patterns and schemas that stay compiled, and their texts: a suite has a few dozen of each.
inline constexpr std::size_t max_compiled = 256;
inline constexpr std::size_t max_compiled_bytes = 4u << 20;

// --- The cache (docs/delivery.md) and cassettes (docs/cassettes.md)
inline constexpr int max_unnamed_caches = 4096;  ///< More unnamed workers than any one machine runs.
inline constexpr std::size_t block_cache_bytes =
    32u << 20;  ///< Some 10,000 answers; the rest is the kernel's page cache.
inline constexpr std::size_t write_buffer_bytes = 16u
                                                  << 20;  ///< Also bounds what a start replays from the log.
inline constexpr int bloom_bits = 10;                     ///< 1 % of the misses read a block in vain.
/// Of the write buffer, for the filter that spares a miss the search among what is not in a table yet: 26
/// bits an answer.
inline constexpr double memtable_bloom_ratio = 1.0 / 512;
inline constexpr int open_files = 256;  ///< Tables open lazily: opening does not grow with the cache.
/// What a start may have to replay from the logs of earlier runs (about 4 ms). Beyond it a closing cache
/// writes a table, which later starts open in no time.
inline constexpr std::uint64_t max_replayed_bytes = 1u << 20;
inline constexpr std::size_t max_replayed_logs = 8;
/// Openings of a cache whose owner changes its files meanwhile, which it does once in some thousands of
/// answers.
inline constexpr int tries_beside_owner = 10;
/// A group of completed units that is synced before its time: they should not wait as one of a thousand.
inline constexpr std::size_t sync_group_units = 256;
/// Pins are looked up and moved for so many keys at once: one transaction of the ledger.
inline constexpr std::size_t pins_per_batch = 512;
/// A cassette is written rarely and lies in a repository for long, which favours a high level; beyond this
/// one the time of an export grows much faster than the file shrinks.
inline constexpr int cassette_compression_level = 9;
inline constexpr std::size_t cassette_piece_bytes = 128u << 10;  ///< Read at a time: zstd's own block size.

// --- HTTP
inline constexpr long max_connections = 1024;  ///< Kept alive in all: as many calls as anyone has in flight
                                               ///< on one machine.
inline constexpr int max_http_messages_per_turn = 256;  ///< So that a flood of calls does not starve the
                                                        ///< sockets.
inline constexpr int max_socket_events = 128;  ///< Of one look at the sockets; the next brings the rest.
/// curl's own timers and wake-ups end the wait earlier.
inline constexpr std::chrono::milliseconds longest_http_wait = 1min;
/// Response headers of one answer: far more than any provider sends, and no way to fill our memory.
inline constexpr std::size_t max_header_bytes = 256u << 10;
/// Memory for a request's body that an idle handle keeps: there may be a thousand of them.
inline constexpr std::size_t max_kept_body_bytes = 64u << 10;
/// Largest part of an announced Content-Length that is set aside before it arrived.
inline constexpr std::size_t max_reserved_body_bytes = 1u << 20;

// --- What providers answer
inline constexpr std::size_t max_answer_depth = 64;  ///< Answers nest less than ten deep.
/// Of a provider's own message in ours; enough is looked at for it after white space has been folded, and
/// error bodies may be megabytes.
inline constexpr std::size_t quoted_error_bytes = 300;
inline constexpr std::size_t quoted_header_bytes = 60;  ///< Of a header that is refused, with its name.
inline constexpr std::size_t considered_error_bytes = 4096;
/// A request's body beside its texts, set aside at once.
inline constexpr std::size_t request_frame_bytes = 512;
/// Keeps delays in 32 bits of milliseconds on the wire; beyond any case's time.
inline constexpr std::chrono::milliseconds max_named_delay = std::chrono::days(30);
/// Named with the limit of a day: below this it refills all day, and calls come on. A longer wait for each
/// call is no run, and some servers name an hour or so whatever is spent.
inline constexpr std::chrono::milliseconds short_wait_of_a_day = std::chrono::minutes(1);
inline constexpr std::uint64_t most_call_tokens = 100'000'000;  ///< Ten times the largest context: a usage
                                                                ///< beyond it is taken for unknown.
inline constexpr std::uint32_t doubted_answers = 5;  ///< That agree, before a doubtful limit is believed.
/// How far two estimates of one window may be apart: resets are rounded, and time passes on the way.
inline constexpr double window_tolerance = 0.1;
/// More than any provider lets anybody use in a day: such a number means that there is no limit.
inline constexpr std::uint64_t most_announced = 1'000'000'000'000;
/// Words of fewer bytes that begin as a provider's key are none.
inline constexpr std::size_t shortest_known_key = 12;

// --- Providers of kind exec
inline constexpr unsigned most_programs = 64;  ///< At a time; others wait, and their permits may be lost.
inline constexpr auto longest_program = std::chrono::hours(24);  ///< Where no request timeout is set.

}  // namespace sluice::defaults
