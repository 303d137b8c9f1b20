#pragma once

#include "common/error.hpp"
#include "coordinator/output/sink.hpp"
#include "coordinator/report/commands/compare_report.hpp"
#include "coordinator/report/document.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice {

class Json;

/// Three and more sides of a comparison, side by side: each as it came out against the first. They only
/// print: nothing is decided here. Holds a value for each side and metric of a case.
class SeveralRuns {
 public:
  /// Adds a side. The first to be added is that of the base with itself. Fails only as `visit` does.
  Result<void> add(const CompareReportInput& input);

  /// What each side came to, the metrics in which those differ that have the case, and apart from these how
  /// many cases a side lacks.
  Result<void> write_table(const TableStyle& style, Sink& sink) const;
  Result<void> write_markdown(Sink& sink) const;
  /// With every metric that differs or that a side lacks with its case (docs/commands.md). `exit_code`: of
  /// the command.
  Result<void> write_json(int exit_code, Sink& sink) const;

 private:
  /// `none`: what has a score, or is not there.
  enum class Outcome : std::uint8_t { none, pass, fail, flaky };
  /// Of a metric on one side; nothing where the side does not have it, or its case ended in an error.
  struct Value {
    std::optional<double> score{};
    Outcome outcome = Outcome::none;  ///< Of one that only passes or fails.
    friend bool operator==(const Value&, const Value&) = default;
  };
  struct Side {
    ComparedSide compared;
    CompareSummary summary;
    int exit_code = 0;
    std::string reasons;       ///< verdict_reasons
    std::uint64_t passed = 0;  ///< Its cases, whether they failed in the base as well or not.
    std::uint64_t failed = 0;
    std::uint64_t still_failing =
        0;  ///< Of the failed: those that the base excuses, being no failure beside it.
    std::uint64_t flaky = 0;
    std::uint64_t known_failures = 0;  ///< Those that failed, and of which the suite says so.
    std::vector<std::string> cases{};  ///< That it has, by id; also those that ended in an error.

    /// A case without an error. `beside_the_base`: what the gate made of it.
    void count(Outcome of_case, bool is_known, CaseStatus beside_the_base);
    bool has(const std::string& test_id) const;
  };
  using Values = std::vector<Value>;  ///< A place for each side that has been added, or fewer.
  /// Of a case: its id, the metric's name, and which check of that name it is (from 0).
  using Metric = std::tuple<std::string, std::string, std::size_t>;
  struct Compared {
    Values values;
    std::string expected{};  ///< ScoreComparison
  };
  /// `case_alone`: the sides that have the case are alike, and others lack it.
  enum class Difference : std::uint8_t { none, value, case_alone };
  using Check = std::pair<std::string, CheckDigest>;  ///< The metric's name, and which of its checks.

  static Value value_of(const ScoreComparison& row);
  static Value base_value_of(const ScoreComparison& row);
  static document::Cell cell_of(const Value& value);
  std::size_t place_of(const ScoreComparison& row, std::size_t nth);
  static Value value_at(const Values& values, std::size_t side);
  Difference difference_of(const Metric& metric, const Values& values) const;
  /// Cases that others have, by side.
  std::vector<std::vector<std::string>> lacking() const;
  document::Table sides_table() const;
  document::Notes reasons() const;
  static void write_value(Json& json, const Value& value);
  void write_side(Json& json, const Side& side, std::size_t lacking) const;
  void write_difference(Json& json, const Metric& metric, const Compared& compared, Difference kind) const;
  document::Section differing_cases(std::size_t most_rows) const;
  document::Section lacking_cases() const;
  std::string outcome() const;

  std::vector<Side> sides_;
  std::map<Metric, Compared> metrics_;
  /// Of a case's metric, its checks in the order of their places, each with how many are the same before it.
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<CheckDigest, std::size_t>>> checks_;
  std::vector<GateNotice> notices_;     ///< Each once.
  std::vector<std::string> scoreless_;  ///< The base, and the sides that have no score beside it.
};

}  // namespace sluice
