#pragma once

#include "common/error.hpp"
#include "common/model/metrics.hpp"
#include "coordinator/suite/fingerprint_parts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sluice {

/// Version of the baseline file's format (gate ADR, section D). Version 1 has no checks, and is read as well.
inline constexpr std::uint32_t baseline_schema_version = 2;
inline constexpr std::uint32_t oldest_baseline_schema_version = 1;

/// What a baseline file says about itself (gate ADR, section D; names as there).
struct BaselineHeader {
  std::string suite;
  std::string assay_version;       ///< Of the tool that wrote it.
  std::string created_at;          ///< RFC 3339.
  std::string config_fingerprint;  ///< `sha256:` and 64 hex digits.
  /// Where a folder of fixtures lies in its checkout, since many have one name (Suite::path_in_checkout).
  /// Empty: unknown.
  std::string suite_path{};
  std::string mode{};                    ///< `mock` where no model gave the answers; else empty.
  FingerprintParts fingerprint_parts{};  ///< Of `config_fingerprint`.
  friend bool operator==(const BaselineHeader&, const BaselineHeader&) = default;
};

/// The stability of the run that a baseline was made of (an optional object of ours in the file).
struct BaselineStability {
  double score = 0.0;         ///< 0..1
  std::uint64_t cases = 0;    ///< With perturbed answers.
  std::uint64_t answers = 0;  ///< Perturbed ones.
  std::uint32_t repeats = 1;
  /// Names and versions ("crlf 1"), in the run's order: another set, not another order, is another quantity.
  std::vector<std::string> perturbations;
  friend bool operator==(const BaselineStability&, const BaselineStability&) = default;
};

/// The entry of a test whose checks were asked in several repeats, kept as a score is: 1 for each repeat in
/// which every check passed, else 0 (docs/gate.md, "A statistical gate").
inline constexpr std::string_view passed_name = "passed";

/// How one check came out in several repeats, in their order: `1` where it passed, else `0`.
using CheckRepeats = std::string;
/// In at least half of the repeats: such a check is pinned as passed.
bool passed_mostly(std::string_view repeats);
/// In any of them.
bool passed_ever(std::string_view repeats);
/// Of each repeat 1 where all of these checks passed, else 0. REQUIRES: all of as many repeats.
std::vector<double> passed_together(std::span<const CheckRepeats> checks);

/// What is pinned: a score, or whether the checks of a pass/fail metric passed.
enum class PinKind : std::uint8_t { score, checks };

/// Which check of a test a pin is of: the first 64 bits of the hash of what the check expects. 0: not known.
using CheckDigest = std::uint64_t;
/// What a test asks of a score that is pinned (score_digest). 0: not known.
using ScoreDigest = std::uint64_t;
/// Of either: 16 lower-case hex digits.
std::string digest_text(std::uint64_t digest);
/// Reads what digest_text writes.
std::optional<std::uint64_t> digest_from_text(std::string_view text);

/// What is pinned of one metric of a test.
struct BaselineEntry {
  std::string_view test_id;
  std::string_view metric;  ///< A name that need not be one of ours: files of other tools load.
  double score = 0.0;       ///< 0..1; of checks 1 if all passed, else 0.
  std::string_view meta;    ///< Canonical JSON object, or empty: there is none.
  /// Of the repeats that `score` is the mean of, undefined ones left out; empty: there was one. Of checks 1
  /// or 0 for each that the test makes by this metric, in their order; empty: there is one.
  std::span<const double> scores{};
  PinKind kind = PinKind::score;
  /// Of checks, what each is of, as many as there are; empty: the file does not say it.
  std::span<const CheckDigest> checks{};
  /// Of checks of several repeats: CheckRepeats of each, one behind the other and all as long; empty: not
  /// known.
  std::string_view repeats{};
  ScoreDigest asks = 0;  ///< Of a score.
  /// Of a judge's score: the votes on each answer, where `meta` says them. Known once the baseline is sealed.
  std::optional<std::uint32_t> judge_samples{};

  /// Whether the score is one of what a test asks by `now`: not where both are known and differ.
  bool is_of(ScoreDigest now) const { return asks == 0 || now == 0 || asks == now; }
  /// Where the check's `nth` pin stands, from 0: a test can make the same check twice. A file that does not
  /// say which check it pins pins a test's only one (`is_only`) and no other. REQUIRES: checks.
  std::optional<std::size_t> find(CheckDigest check, std::size_t nth, bool is_only) const;
  /// Of the n-th check, from 0; empty where none is pinned. REQUIRES: checks.
  std::optional<bool> passed(std::size_t nth) const;
  /// Of the n-th check, from 0, as far as it is known. REQUIRES: checks, and passed(nth).
  std::string_view repeats_of(std::size_t nth) const;
};

/// In which repeats of a base all checks of a test passed.
struct BasePasses {
  std::vector<double> of_repeats;  ///< 1 where they did, else 0; empty: not known.
  bool leaves_out = false;         ///< Some checks say nothing, and are left out if there are others.
};

/// Leaves out checks that `counts` says nothing of, where others are left: one that always fails hides what
/// the others do. `checks`: CheckRepeats of each; `of_all`: of all of them together, which stands where they
/// are not known.
BasePasses passes_of_base(std::vector<CheckRepeats> checks, std::span<const double> of_all,
                          bool (*counts)(std::string_view repeats));

/// What is pinned, by (test_id, metric), byte by byte, each pair once. Some 50 bytes an entry, so that a
/// million fit.
class Baseline {
 public:
  BaselineHeader header;
  std::optional<BaselineStability> stability;

  std::size_t size() const { return entries_.size(); }
  BaselineEntry entry(std::size_t index) const;
  /// The entries of one test: indexes from first to last, exclusive.
  struct Range {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  Range of_test(std::string_view test_id) const;
  /// Of a test of several repeats (passes_of_base); of another one nothing is known.
  BasePasses passes(Range of_test, bool (*counts)(std::string_view repeats)) const;
  /// Whether any test has an entry of the metric.
  bool pins(std::string_view metric) const { return std::ranges::find(metrics_, metric) != metrics_.end(); }
  /// Nothing for a pass/fail metric.
  std::optional<double> score(std::string_view test_id, std::string_view metric) const;

  /// In any order.
  void add(const BaselineEntry& entry);
  /// Sorts. Returns the first pair that stands in it twice, as positions of `add`. Call once, after the last
  /// `add` and before anything is read.
  struct Duplicate {
    std::size_t first = 0;
    std::size_t second = 0;
  };
  std::optional<Duplicate> seal();

 private:
  struct Stored {
    static constexpr std::uint32_t last_metric = 0x7fffffff;  ///< More names than memory can hold.
    std::uint64_t id_begin = 0;                               ///< In texts_.
    double score = 0.0;
    std::uint32_t id_length = 0;
    std::uint32_t metric : 31 = 0;      ///< In metrics_.
    std::uint32_t pins_checks : 1 = 0;  ///< Else a score: PinKind.
    std::uint32_t meta = 0;             ///< In metas_; most entries share one.
    std::uint32_t added = 0;            ///< Position of `add`.
    std::uint32_t scores = 0;           ///< 1 + an index into score_lists_, or 0: one repeat.
    std::uint32_t digests = 0;          ///< 1 + an index into digests_, or 0: not known.
  };
  static_assert(sizeof(Stored) == 40, "a million of them are to fit");

  std::string_view id_of(const Stored& stored) const;
  void add_digests(const BaselineEntry& entry, Stored& stored);
  /// Where in digests_ it stands by itself: most tests share a few.
  std::uint32_t place_of_shared(std::uint64_t digest);

  std::deque<Stored> entries_;  ///< A vector would copy them as it grows.
  std::string texts_;
  std::vector<std::string> metrics_;
  std::vector<std::string> metas_;
  std::vector<std::optional<std::uint32_t>> judge_samples_;  ///< In each of metas_; when sealed.
  /// Where the repeats' scores of an entry stand in scores_.
  struct ScoreList {
    std::size_t begin = 0;
    std::uint32_t count = 0;
  };
  std::vector<ScoreList> score_lists_;
  std::vector<double> scores_;
  std::vector<std::uint64_t> digests_;  ///< Of an entry's checks, one behind the other, or of its score.
  /// 1 + where in digests_ one stands that has no repeats, at a place by its last bits.
  std::array<std::uint32_t, 64> shared_{};
  /// Where the repeats of an entry's checks stand in repeat_texts_, at the place of the first of them in
  /// digests_: 1 + an index, or 0 or no such place: not known. Most entries share one.
  std::vector<std::uint32_t> check_repeats_;
  std::vector<std::string> repeat_texts_;
  std::unordered_map<std::string, std::uint32_t> repeat_numbers_;  ///< Until sealed.
  std::unordered_map<std::string, std::uint32_t> metric_numbers_;  ///< Until sealed.
  std::unordered_map<std::string, std::uint32_t> meta_numbers_;    ///< Until sealed.
};

}  // namespace sluice
