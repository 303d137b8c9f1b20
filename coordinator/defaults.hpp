#pragma once

#include "common/defaults.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// The constants that tune the coordinator, with their reasons: of each room that has no defaults.hpp of its
/// own, and what several rooms use. Those that workers share stand in common/defaults.hpp.
namespace sluice::defaults {

using namespace std::chrono_literals;

// --- actors
/// Bounds the time of one transaction, so that acknowledgements keep flowing under a flood of results.
inline constexpr std::size_t results_per_transaction = 512;
/// Whoever else writes to the ledger takes seconds; what holds it for longer hangs, and only then the run
/// ends with what is committed.
inline constexpr std::chrono::minutes locked_ledger_patience{5};
inline constexpr std::chrono::seconds locked_ledger_wait{1};  ///< From one try to the next one.
/// Observations that wait to be saved: a disk that is slower than the run costs those that come then, not the
/// run and not the memory.
inline constexpr std::size_t max_unsaved_observation_bytes = 64u << 20;
inline constexpr std::size_t observed_units_per_transaction = 256;
inline constexpr std::size_t observation_bytes_per_transaction = 4u << 20;
inline constexpr std::chrono::milliseconds observation_delay =
    500ms;                                              ///< Whoever looks meanwhile sees the run go on.
inline constexpr std::size_t observation_bytes = 2048;  ///< Of one, beside its prompt and its answer.
inline constexpr std::chrono::milliseconds live_progress_interval = 100ms;  ///< Looks steady to the eye.
inline constexpr std::chrono::milliseconds plain_progress_interval = 5s;    ///< A log that can be read.
inline constexpr auto goodbye_wait = 2s;  ///< How long a finished run waits for its workers' GOODBYE.
/// At a time: interpreters take a CPU each, and some of them wait for others.
inline constexpr unsigned least_check_processes = 2;
inline constexpr unsigned most_check_processes = 8;
/// That wait or are checked: enough for the time until a worker has got and done more.
inline constexpr unsigned results_per_check_process = 8;

// --- corpus (docs/corpus.md)
/// A file of so many lines is kept whole; of a longer one what stands around the claim, since each line more
/// is read by whoever reviews, and paid for in each run.
inline constexpr std::size_t whole_file_lines = 60;
inline constexpr std::size_t lines_around_claim = 20;   ///< Before it, and after it.
inline constexpr std::size_t max_excerpt_bytes = 8192;  ///< Some 200 lines; lines of bundles are long.
inline constexpr std::size_t max_claim_text_bytes =
    1024;                                            ///< Of a value; a longer one is no fact but a quote.
inline constexpr std::size_t fact_name_bytes = 200;  ///< Of a fact in a fixture's name: a line or two.
inline constexpr std::size_t max_findings_per_file = 100;  ///< More are no review but a listing.
inline constexpr std::size_t shortest_random_run = 20;     ///< Shorter words reach no entropy worth a look.
inline constexpr std::size_t max_listing_bytes = 256u << 20;  ///< Names of files from git: some millions.
inline constexpr std::chrono::milliseconds listing_timeout{120'000};  ///< A cold disk, and millions of files.
inline constexpr std::size_t listed_files = 10;                       ///< Named of those that a line counts.
inline constexpr std::size_t shown_code_lines = 60;  ///< Of a fixture in `sluice review`: a page.

// --- gate
inline constexpr double judge_min_score = 0.5;    ///< A vote passes at or above it.
inline constexpr double max_drop = 0.05;          ///< Of a score below its baseline where nothing names one.
inline constexpr double min_effect = 0.05;        ///< The same of a mean under `statistical`.
inline constexpr std::size_t named_entries = 5;   ///< Of those that a notice counts: enough to find them.
inline constexpr std::size_t named_fixtures = 5;  ///< Of those that got worse, and that got better.
inline constexpr std::size_t kept_drops = 10;     ///< The cases that fell most, shown with a metric.
inline constexpr std::size_t quoted_baseline_bytes = 80;  ///< Of a text out of a baseline: it fits a line.

// --- merge
inline constexpr std::size_t cases_read_at_once = 256;  ///< Of those that stay in their file: some 400 KB.
/// Large enough for zstd to find what rows have in common, small enough to unpack one at a time.
inline constexpr std::size_t held_block_bytes = 256u << 10;
inline constexpr int held_compression_level = 1;  ///< Packs 500 MB a second; the digests, half of a row, pack
                                                  ///< at no level.
inline constexpr std::uint32_t max_repeats_tried = 100;  ///< As `repeat` of the settings.
inline constexpr std::size_t kept_differences = 50;      ///< Tests that differ between arms: a screen full.
inline constexpr std::size_t kept_disagreements = 20;    ///< Of a judge with labels: to look at, not all.

// --- observations
/// Of lines of two answers that are compared each with each, 4 bytes each: answers of a thousand lines that
/// share none are compared as a whole, place by place.
inline constexpr std::size_t max_line_pairs = 1'000'000;
inline constexpr std::size_t diff_context_lines = 3;  ///< Beside what differs, as other programs show.
inline constexpr std::size_t max_laid_out_bytes = 64u
                                                  << 10;  ///< Of an answer of JSON that is compared by its
                                                          ///< members; longer ones as they are written.

// --- output
inline constexpr std::size_t output_buffer_bytes = 64 << 10;      ///< One write for many members of a report.
inline constexpr std::chrono::milliseconds output_lock_wait{50};  ///< Nobody notices, and it costs nothing.

// --- perturb
inline constexpr int max_nested_literals =
    20;  ///< Of f-strings in Python: more is nothing that people write.

// --- plan
inline constexpr std::size_t max_bytes_of_unit = max_frame_bytes / 2;  ///< A message has room for one, and
                                                                       ///< for what it takes on the wire.
/// A command that fails for so many texts at first is mistaken itself: it is not called any more.
inline constexpr std::uint32_t max_first_failures = 5;
inline constexpr std::size_t named_trials = 5;  ///< Of those that an error is about.

// --- progress
/// The rate is that of the last ten seconds, or ten trials where they take longer.
inline constexpr std::chrono::duration<double> rate_window{10};
inline constexpr std::uint64_t rate_trials = 10;
inline constexpr std::chrono::duration<double> long_stop{3};  ///< No rate is shown after so long a pause.
/// Before it nobody wonders where a call, or the next result, is.
inline constexpr std::chrono::duration<double> clearly_late{10};
/// So many times as long as answers take on average: few of them take that, however they differ in length.
inline constexpr int late_latencies = 4;

// --- report: how much is shown of a value, a case, a list
inline constexpr std::size_t span_bytes = 400;         ///< Of some words where room is scarce.
inline constexpr std::size_t max_reason_bytes = 1500;  ///< Of the verdict, in a comment.
/// Of what a check expects, beside its metric: a name of it, in a cell of a table.
inline constexpr std::size_t compared_check_bytes = 80;
inline constexpr std::size_t compare_reason_bytes = 400;  ///< The same of a comparison, which names a suite.
/// Providers' error pages and models' texts may be megabytes; people need their beginning, the JSON has them
/// whole.
inline constexpr std::size_t max_message_bytes = 600;
inline constexpr std::size_t max_claim_bytes = 400;
inline constexpr std::size_t max_named_pass_rates = 5;          ///< Of arms and categories.
inline constexpr std::size_t max_ids_per_group = 10;            ///< Of cases that ended in the same error.
inline constexpr std::size_t messages_counted_per_reason = 64;  ///< Of errors, to show those of most cases.
inline constexpr std::size_t max_messages_per_reason = 5;       ///< Of errors: where they differ by a number,
                                                                ///< there are as many as cases.
inline constexpr std::size_t first_line_bytes = 200;            ///< Of an error, in an attribute of JUnit.
inline constexpr std::size_t max_explanation_lines = 12;        ///< Of one case in a comment; a page has all.
inline constexpr std::size_t case_title_bytes = 240;            ///< Of a case's id, and of its name.
inline constexpr std::size_t max_listed_cases = 50;             ///< Of a kind on a page.
inline constexpr std::size_t run_id_digits = 8;                 ///< Of a run: enough to name it.
inline constexpr std::size_t max_shown_labels = 50;             ///< Of a run that expects labels.
inline constexpr std::size_t max_label_paths = 5;               ///< Of a run that expects labels.
inline constexpr std::size_t max_confused_pairs = 10;           ///< Of labels.
inline constexpr std::size_t max_matrix_labels = 20;            ///< Of the matrix on an HTML page.
inline constexpr std::size_t compare_table_rows = 100;          ///< Of a kind; the JSON has all.
inline constexpr std::size_t compare_markdown_rows = 50;
inline constexpr std::size_t listed_unstable_cases = 5;    ///< Those that perturbations changed most.
inline constexpr std::size_t listed_skips = 12;            ///< Reasons why perturbations left out cases.
inline constexpr std::size_t max_side_bytes = 300;         ///< Of either side of a difference.
inline constexpr std::size_t max_named_id_bytes = 80;      ///< Of a case that fell: several stand in a line.
inline constexpr std::size_t json_block_bytes = 1u << 20;  ///< Of the cases of a JSON report.

// --- report: a comment, which holds 65,536 characters. Its lists share them out and leave room for the words
// between them.
inline constexpr std::size_t error_list_bytes = 5 << 10;
inline constexpr std::size_t regression_rows_bytes = 10 << 10;
inline constexpr std::size_t regression_list_bytes = 8 << 10;
inline constexpr std::size_t failure_list_bytes = 9 << 10;
inline constexpr std::size_t warning_list_bytes = 2 << 10;
inline constexpr std::size_t missing_list_bytes = 2 << 10;
inline constexpr std::size_t improvement_list_bytes = 3 << 10;
inline constexpr std::size_t max_failure_notice_bytes = 2 << 10;
inline constexpr std::size_t max_notice_bytes = 4 << 10;
inline constexpr std::size_t max_category_bytes = 4 << 10;
inline constexpr std::size_t max_label_bytes = 1200;    ///< Of the labels at all paths, or of the arms.
inline constexpr std::size_t max_confused_bytes = 800;  ///< The same of confused pairs.
inline constexpr std::size_t max_statistics_bytes = 3500;
inline constexpr std::size_t max_summary_bytes = 900;
inline constexpr std::size_t max_perturbation_bytes = 1400;
inline constexpr std::size_t max_flip_bytes = 1500;
inline constexpr std::size_t max_stability_category_bytes = 1200;
inline constexpr std::size_t max_skipped_bytes = 1400;

// --- report: annotations on GitHub
/// What GitHub shows of one kind for a step; it drops the rest without a word.
inline constexpr std::size_t max_annotations_of_a_kind = 10;
inline constexpr std::size_t max_annotation_title_bytes = 200;
inline constexpr std::size_t max_annotation_bytes = 4000;   ///< More is hard to read beside code.
inline constexpr std::size_t max_improvement_bytes = 2000;  ///< All improvements are one annotation.

// --- retrieval
/// Cases of a kind before floors are proposed for it at all: below it the intervals span most of the range.
inline constexpr std::size_t min_calibration_cases = 120;
inline constexpr std::size_t min_band_cases = 10;  ///< In each band: a rate of fewer says nothing.
/// Of both floors together.
inline constexpr double calibration_confidence = 0.95;
/// Twice the gain in log likelihood that the second floor must bring. By simulation: of cases with one step
/// alone, or with none, 5 in 100 come beyond it.
inline constexpr double min_floor_gain = 11.0;

// --- run
/// Units of an arm in a row whose own parameters its model refuses: of more it takes none. Refusals come
/// sooner than the first answers do.
inline constexpr std::uint32_t refused_parameters = 100;

// --- score_files
inline constexpr std::size_t max_read_repeats = 1000;          ///< More than a run can have.
inline constexpr std::size_t max_meta_bytes = 64 << 10;        ///< Of an entry's `meta`, which is only kept.
inline constexpr std::size_t quoted_json_bytes = 60;           ///< Of what a parser stopped at.
inline constexpr std::size_t json_read_bytes = 64 << 10;       ///< At a time.
inline constexpr std::uint64_t max_json_bytes = 1u << 30;      ///< A larger file is refused.
inline constexpr std::size_t max_json_piece_bytes = 1u << 20;  ///< One text or number.
inline constexpr std::size_t many_json_members = 16;       ///< From here on a key is looked up by its hash.
inline constexpr std::size_t max_json_depth = 64;          ///< Nesting, as of suites.
inline constexpr std::size_t max_json_values = 1'000'000;  ///< In one element, and in all wanted besides.
inline constexpr std::size_t max_baseline_values =
    100'000;  ///< The same of baselines, whose entries are small.
inline constexpr std::uint64_t max_report_bytes = std::uint64_t{64}
                                                  << 30;          ///< Reports hold whole answers ...
inline constexpr std::size_t max_report_piece_bytes = 64u << 20;  ///< ... as long as a message.

// --- session
inline constexpr std::size_t max_texts_embedded_before =
    50'000;  ///< Before a run, to find solved examples: their
             ///< vectors are held, some 6 KiB each.
inline constexpr std::size_t max_bytes_embedded_before = 256u
                                                         << 20;  ///< Of these texts, which are held, too.
/// Of one run for another that adds to the same file of --harvest: it reads whole answers from the caches,
/// which takes seconds for the most that fit.
inline constexpr std::chrono::milliseconds harvest_patience{60'000};
inline constexpr std::size_t quoted_flag_bytes = 80;             ///< Of a flag's value: it fits a line.
inline constexpr std::int64_t max_age_hours = 100LL * 366 * 24;  ///< 100 years: nothing overflows.
inline constexpr std::uint32_t max_local_workers = 256;  ///< Inside one process; each has a socket and a
                                                         ///< cache of its own.
/// Of `run --sample` and of `generate-corpus` where nobody names a seed: the same sample each time.
inline constexpr std::uint32_t unnamed_sample_seed = 1;
inline constexpr std::uint32_t max_sample_seed = 0xFFFFFFFF;         ///< Any word of 32 bits.
inline constexpr std::uint32_t max_fixtures_limit = 1'000'000'000;   ///< Trials are numbered in 32 bits.
inline constexpr std::chrono::seconds command_progress_interval{5};  ///< Of commands that perturb many texts.
inline constexpr const char* recorded_model = "recorded";    ///< What a model is called that nobody asks.
inline constexpr std::size_t max_recorded_bytes = 1u << 30;  ///< Of a file of answers, which is held.
inline constexpr double max_dollars = 1e9;  ///< Of --confirm-above: any bill, and no infinity.
inline constexpr std::size_t max_copied_baseline_bytes = 4u << 20;  ///< A longer one is left out of the copy.

/// How much of a score is luck (docs/statistics.md).
namespace statistics {

inline constexpr double confidence = 0.95;  ///< Of intervals and tests: what everybody expects.
/// Of the test whether checks pass as often, where the suite asks for no tests: one false alarm in a thousand
/// runs.
inline constexpr double unasked_confidence = 0.999;
/// Of everything that is drawn at random: any number will do, and the same inputs give the same verdict.
inline constexpr std::uint64_t seed = 20260205;
inline constexpr double power = 0.8;  ///< To find the minimum detectable effect, and to exclude min_effect.
inline constexpr std::uint32_t bootstrap_resamples = 2000;
/// Beyond so many units the interval is the normal one: there both agree to within what is printed, and
/// resampling would cost units x resamples.
inline constexpr std::uint32_t resampled_units = 5000;
/// Below so many units that changed an interval of 95 % is not shown: a one-sided swap test cannot reach 5 %
/// with them either (2^-4), and resamples of few changes often miss the truth.
inline constexpr std::size_t fewest_interval_units = 5;
inline constexpr std::uint32_t draws = 9999;           ///< p-values are then multiples of 1/10,000.
inline constexpr std::uint32_t enumerated_units = 20;  ///< Of the swap test: 2^20 assignments. At most 30.
inline constexpr std::uint32_t drawn_units = 2000;     ///< Of the swap test; the normal beyond.
inline constexpr double normal_share = 0.0025;         ///< Of one unit in the variance, for that normal.
inline constexpr std::uint64_t picked_answers = 50'000'000;  ///< Some 0.2 s; the normal beyond.
inline constexpr std::uint64_t max_label_states = 1u << 16;  ///< Of a class of one pattern.
inline constexpr std::uint64_t all_label_states = 200'000;   ///< Of all patterns: some 15 ms.
inline constexpr std::uint64_t exact_steps = 30'000'000;     ///< Multiplications of an exact sum: some 30 ms.
inline constexpr std::uint64_t drawn_cases = 200;  ///< Cases with differing answers; the normal beyond.
inline constexpr std::uint64_t drawn_answers = 20'000'000;  ///< Some 0.2 s; the normal beyond.
inline constexpr std::uint32_t fewest_draws = 999;          ///< That are worth it; else the normal.
inline constexpr std::size_t max_patterns = 4096;           ///< With more the normal must do, and does.
inline constexpr std::size_t max_kept_patterns = 4096;      ///< Bounds the memory; more are computed again.
inline constexpr std::uint64_t case_states = 256;  ///< Up to which a case's whole distribution is enumerated.
inline constexpr std::uint64_t tail_states = 3'000'000;  ///< For the exact tails of all others: some 0.3 s.
inline constexpr double vote_noise_limit = 0.05;         ///< Verdicts of a judge that luck may decide.
inline constexpr std::uint32_t most_votes = 25;  ///< That are thought of against it; more cost too much.

}  // namespace statistics

// --- suite
inline constexpr std::size_t max_fixture_bytes = 4u << 20;    ///< A longer fixture file is refused.
inline constexpr std::size_t max_json_line_bytes = 4u << 20;  ///< A longer line of a tests_file is refused.
inline constexpr std::size_t max_document_depth = 64;         ///< Nesting of YAML and JSON in suites.
inline constexpr std::size_t max_document_nodes =
    1'000'000;  ///< Values in one document, with those of aliases.
inline constexpr std::size_t max_aliased_bytes = 64u << 20;  ///< Texts that aliases repeat in one document.
inline constexpr std::size_t max_labels_bytes = 256u << 20;  ///< Of a file of labels: some millions.
inline constexpr std::uint64_t max_file_lines = 1'000'000'000;  ///< Of the file that a fixture is a part of.
inline constexpr double max_weight = 1000.0;                    ///< Of a fixture; more is a slip of the hand.
/// Of a suite: they are embedded and compared one by one, 80 MB of vectors and some 35 ms a case at most.
inline constexpr std::size_t max_solved_examples = 10'000;
inline constexpr std::size_t max_plugin_bytes = 256u << 10;  ///< Floors for some thousand kinds of cases.
inline constexpr double max_price = 10'000.0;  ///< Dollars per million tokens; more is a slip of the hand.
inline constexpr std::size_t files_worth_a_thread =
    500;  ///< Below it a second thread costs more than it saves.
inline constexpr std::size_t cases_of_small_pages =
    100'000;  ///< From here on a run's memory grows with its cases more than with what all runs have.
inline constexpr std::size_t max_noted_commands = 64;       ///< Suites of more are read again for them.
inline constexpr std::size_t line_block_bytes = 1u << 20;   ///< Of a JSON Lines file, read at a time.
inline constexpr std::size_t max_rubric_bytes = 64u << 10;  ///< A page or two; each vote sends it.
inline constexpr std::size_t max_rubric_name_bytes = 64;    ///< Of an id or a version, in reports and keys.
/// Patterns and schemas whose faults are remembered: beyond it the checker starts afresh, so that its memory
/// is bounded.
inline constexpr std::size_t max_compiled_checks = 4096;
/// Each arm answers every case and takes a column of the report: more are a slip of the hand in crossing
/// models with prompts.
inline constexpr std::size_t max_arms = 32;
inline constexpr std::size_t max_arm_name_bytes = 64;  ///< It stands in each case's id, and in tables.
inline constexpr std::size_t max_score_names = 100;    ///< Each is a column, and a comparison of all tests.
inline constexpr std::size_t max_globbed_files = 10'000;  ///< That a glob of a suite stands for.
inline constexpr std::size_t max_copied_suite_bytes =
    16u << 20;  ///< Of a suite whose files the ledger keeps: each edit of it is one more copy.
inline constexpr double check_seconds = 30.0;        ///< Of one check, unless its test says something else:
inline constexpr double most_check_seconds = 600.0;  ///< what a slow linter or a test suite takes.

}  // namespace sluice::defaults
