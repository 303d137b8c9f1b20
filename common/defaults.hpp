#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The constants that tune what both sides do, or what stands in common/, with their reasons. Settings and
/// flags override the first group. What only one side uses stands in the defaults.hpp of that side, or of the
/// room that uses it.
namespace sluice::defaults {

using namespace std::chrono_literals;

// --- What settings may change
inline constexpr std::uint32_t max_concurrent = 5;        ///< Calls in flight a worker.
inline constexpr double temperature = 0.1;                ///< Low, for answers that repeat.
inline constexpr std::uint32_t max_output_tokens = 4096;  ///< Some 60 claims; a cut-off answer is an error.
inline constexpr auto connect_timeout = 10s;     ///< A host that takes longer to accept is as good as down.
inline constexpr auto request_timeout = 120s;    ///< Long answers of large models take over a minute.
inline constexpr auto case_timeout = 15min;      ///< All calls and waits of one case: longer than any
                                                 ///< per-minute limit's pause, shorter than a lost day.
inline constexpr auto backoff_initial = 500ms;   ///< As the docs have it.
inline constexpr std::uint32_t max_retries = 5;  ///< After the first call.
inline constexpr auto peer_timeout = 2min;       ///< A run without workers and a worker without a coordinator
                                                 ///< wait so long for each other: most switches and links
                                                 ///< are back by then, and machines that idle cost little.
inline constexpr auto drain_timeout = 25s;       ///< Most answers come by then, and it leaves time for the
                                                 ///< last report within the 30 s of grace that Kubernetes
                                                 ///< gives a process that is asked to stop.
inline constexpr auto outage_timeout = 10min;    ///< Most outages of providers are over by then.
inline constexpr double regression_threshold = 0.05;  ///< As the docs have it.
/// Cheap, and the one that most accounts can call.
inline constexpr std::string_view embedding_provider = "openai";
inline constexpr std::string_view embedding_model = "text-embedding-3-small";

inline constexpr std::uint32_t judge_samples = 3;        ///< Votes a judge metric: a majority, cheaply.
inline constexpr double judge_temperature = 0.0;         ///< Votes should repeat.
inline constexpr std::uint32_t judge_max_tokens = 1024;  ///< A score and a paragraph, with some reasoning.

// --- Loss of power (docs/durability.md)
/// How long a group of what one sync writes to the disk stays open in a durable run. The sync itself takes 8
/// to 15 ms of a disk that keeps its word, an answer of a model a hundred times as much.
inline constexpr auto sync_group_time = 20ms;

// --- Observations (docs/observations.md)
inline constexpr std::uint32_t retention_days = 30;         ///< As the docs have it, ...
inline constexpr std::uint32_t retention_max_count = 1000;  ///< ... both.

// --- Keys in foreign texts
/// Shorter keys are not looked for: they would stand in many a text by chance, in an answer's sooner than in
/// an error's.
inline constexpr std::size_t shortest_key_in_messages = 5;
inline constexpr std::size_t shortest_key_in_answers = 8;
/// Letters alone, or a number: shorter ones are words that servers without keys are given ("not-needed",
/// "sk-no-key-required"), and providers' keys are longer.
inline constexpr std::size_t longest_word_for_a_key = 19;
/// As many as four documents in one another have before one character: a bound, so that a text of nothing but
/// backslashes is not read again for each.
inline constexpr std::size_t max_backslashes = 16;
/// Line ends and blanks in the midst of a key: more than any folding has, and a bound, so that a run of them
/// is not read again from each of its places where a key may begin.
inline constexpr std::size_t max_break_bytes = 128;

// --- Corpora (docs/corpus.md)
/// Of a file that is asked about: some 600 lines. What a model says of more is about its beginning and end.
inline constexpr std::uint32_t max_tokens_per_file = 16'000;
inline constexpr std::uint32_t max_tokens_per_scan = 1'000'000;  ///< Of all of them: some dollars at most.

// --- Judges (docs/judges.md)
inline constexpr std::uint32_t max_judge_samples = 99;    ///< Beyond it another vote says nothing more.
inline constexpr std::uint32_t max_unreadable_votes = 3;  ///< Asked so often, a judge cannot vote.

// --- Delivery (docs/delivery.md)
inline constexpr auto heartbeat_interval = 1s;  ///< Paranoid Pirate's second.
inline constexpr std::uint32_t liveness = 3;    ///< Silent heartbeats until a lease is lost.
/// Units that a worker can hold at a time, whatever it asks for: above the most calls in flight that can be
/// set, and what is asked for ahead of them.
inline constexpr std::uint32_t max_window = 16'384;
inline constexpr std::size_t max_units_per_work = 256;      ///< Bounds the memory of one WORK message.
inline constexpr std::size_t max_bytes_per_work = 1 << 20;  ///< Bounds it in bytes of request texts.

inline constexpr std::size_t typical_body_bytes = 1024;   ///< Holds a REPORT of one typical result without
                                                          ///< growing.
inline constexpr std::size_t typical_result_bytes = 256;  ///< Of a REPORT, for each further one.
inline constexpr std::size_t typical_expectations_bytes = 512;  ///< Of a unit in WORK, beside its texts.

// --- Shared budgets (docs/budgets.md)
inline constexpr auto permit_lead = 50ms;  ///< A permit is granted so long before it opens at least: above
                                           ///< one way over a network.
/// Of a call's bound, beside its texts: roles, separators and the frame of a schema take some ten tokens a
/// message at the known chat templates.
inline constexpr std::uint64_t frame_tokens = 48;
inline constexpr std::uint64_t suspicious_fall = 10;  ///< Providers lower a limit by a tier, which is less.
inline constexpr std::uint64_t least_announced = 2;   ///< A minute: nobody sells less.
inline constexpr std::uint64_t least_token_limit = 500;  ///< A minute: less than any call of an eval takes.

// --- Trust (docs/protocol.md)
inline constexpr std::size_t max_frame_bytes = 64u << 20;  ///< Largest frame that is read at all.
inline constexpr std::uint32_t max_wire_items = 1u << 16;  ///< Elements of one array on the wire.
inline constexpr std::uint32_t max_wire_depth = 16;        ///< Nesting of one message.
/// Values in one message, whatever their nesting. An element costs one byte on the wire and some 24 in
/// memory: this, and not the frame's size, bounds what a hostile frame can make us allocate (100 MiB).
inline constexpr std::uint32_t max_wire_values = 1u << 22;
/// A longer provider answer is refused; so is one with more texts and calls of tools than this, since each
/// call is in both.
inline constexpr std::size_t max_answer_bytes = 8u << 20;
/// Of an entry of a cache: such an answer, and what is written beside its texts and calls. A longer one is
/// neither in a cassette nor lent, so nothing else is stored.
inline constexpr std::size_t max_entry_bytes = max_answer_bytes + 4096;

// --- Processes
inline constexpr std::uint32_t min_pool_threads = 2;  ///< One actor at work must not hold up all others.
inline constexpr std::uint32_t max_pool_threads = 8;  ///< There are no more actors that work at a time.
/// Signals that come sooner than this after the first are the same request. GNU timeout signals its child
/// and then the child's process group, and shells and supervisors do the like: nobody has insisted then.
inline constexpr auto one_signal_request = 1s;
/// One Prometheus, probes, and whoever looks by hand, while some connections say nothing.
inline constexpr std::size_t metrics_threads = 8;
inline constexpr std::size_t max_counted_providers = 256;  ///< In a worker's metrics, of all its runs.
/// For a client of one of our HTTP servers to say what it asks: each connection takes a thread of few
/// meanwhile.
inline constexpr std::chrono::milliseconds http_request_timeout = 2s;
inline constexpr auto metrics_end_interval = 5ms;  ///< Between connections that wake its server at the end.

// --- Documents, patterns and schemas
inline constexpr std::size_t max_settings_bytes =
    1 << 20;                                      ///< A settings file has a few hundred lines at most.
inline constexpr std::size_t max_key_parts = 16;  ///< Of a dotted TOML key; each nests one table more.
inline constexpr std::size_t few_keys = 32;  ///< Of a table: so few are sorted without a buffer, which would
                                             ///< cost the most.
inline constexpr std::size_t max_suite_bytes =
    16u << 20;  ///< A longer YAML suite is refused; tests_file takes more.
inline constexpr std::size_t max_file_findings = 100;  ///< More of one tests_file are counted, not shown.
inline constexpr std::size_t most_listed_keys = 16;    ///< In a finding; more would fill more than a line.
/// Shorter names have too many neighbours: `jwt/aud` is no slip of `jwt/and`.
inline constexpr std::size_t shortest_slipped_subject = 8;
inline constexpr std::size_t shortest_slipped_predicate = 6;
/// What a pattern's program and its states may take; one that needs more does not compile, and a match that
/// needs more goes on without remembered states.
inline constexpr std::int64_t max_pattern_memory = 8 << 20;
/// Trees are walked recursively: far below what a stack holds, far above what an answer needs.
inline constexpr std::size_t max_checked_depth = 128;
inline constexpr std::size_t max_schema_bytes = 1u << 20;  ///< Far above what an answer needs.
/// Nodes of a schema; each costs the validator's parser stack where references form a chain.
inline constexpr std::size_t max_schema_nodes = 10'000;
/// The validator follows references by recursion; real schemas have a few dozen.
inline constexpr std::size_t max_schema_references = 200;
/// Schemas applied to values. Alternatives that lead to the same schema again double the work with each level
/// of the document; a second of it is more than any answer needs. Values that are compared or copied count as
/// parts of one. The explanation also costs memory.
inline constexpr std::size_t max_check_steps = 1'000'000;
inline constexpr std::size_t max_explained_steps = 50'000;
/// A larger document is assessed, but where it is wrong is not explained: the validator would collect every
/// problem.
inline constexpr std::size_t max_explained_bytes = 256u << 10;

// --- Providers of kind exec
inline constexpr std::size_t max_program_bytes = 64u
                                                 << 20;  ///< Of a file that a command names, for its hash.

// --- Templates
inline constexpr std::size_t max_template_problems = 10;  ///< Named of one text; mend those first.
inline constexpr std::size_t quoted_tag_bytes = 60;       ///< Of a template's `{{...}}`: it fits a line.
/// A variable that stands in a prompt a thousand times must not fill the memory: what is rendered for a test
/// is no longer than what a suite could write out, of its own texts and of the suite's prompts each.
inline constexpr std::size_t max_rendered_bytes = max_suite_bytes;

// --- What is shown of texts
/// How much of a foreign value a message quotes: a path or a name as a whole, the beginning of anything else.
inline constexpr std::size_t quoted_bytes = 200;
inline constexpr std::size_t max_shown_bytes = 1000;      ///< Of an answer, for the report: a screenful.
inline constexpr std::size_t max_rationale_bytes = 1000;  ///< Of a judge's vote, for the report: a screenful.
inline constexpr std::size_t max_graded_bytes = 256u << 10;  ///< Of each answer of a graded pair that a
                                                             ///< result keeps; far above what people compare.
inline constexpr std::size_t max_embedding_bytes = 64u << 10;  ///< That a result has with it; the largest
                                                               ///< models have 4,096 dimensions of 4 bytes.
inline constexpr std::size_t max_detail_bytes = 300;  ///< Why a metric did not pass; cut off at a character's
                                                      ///< end.
inline constexpr std::size_t max_quoted_bytes = 60;   ///< Of one text in such a detail.
inline constexpr std::size_t shown_before_problem =
    20;  ///< Characters before the place where JSON goes wrong.

// --- Commands that are run
inline constexpr std::size_t max_command_error_bytes = 4096;  ///< Kept of a command's standard error.
inline constexpr std::size_t quoted_command_error_bytes =
    500;                                                   ///< And shown: the line that matters is there.
inline constexpr std::size_t command_read_bytes = 16'384;  ///< At a time, from a command's output.

// --- Perturbations by commands
inline constexpr auto perturb_timeout = 10s;  ///< An interpreter starts and rewrites a file in far less.
inline constexpr std::uint32_t perturb_max_bytes = 4u << 20;  ///< As long as the longest fixture.
inline constexpr std::uint32_t max_perturb_bytes =
    max_frame_bytes / 4;  ///< What a message to a worker holds beside all else.

}  // namespace sluice::defaults
