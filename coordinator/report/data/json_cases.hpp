#pragma once

#include "common/error.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/merge/packed_text.hpp"
#include "coordinator/merge/run_stability.hpp"
#include "coordinator/output/json_writer.hpp"
#include "coordinator/output/sink.hpp"
#include "coordinator/report/data/json_case.hpp"
#include "coordinator/report/report.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

/// Writes the elements of a JSON report's `fixture_results`, a line each. Results, text and stability (null:
/// the run has none) must outlive it, and so `inputs`: the report's, where it has what cases were asked.
class JsonCaseWriter {
 public:
  JsonCaseWriter(const RunResults& results, std::string& out, const RunStability* stability,
                 const ReportInput* inputs = nullptr)
      : json_(out),
        rubrics_(results.suite.rubrics),
        thresholds_(results),
        stability_(stability),
        inputs_(inputs) {}

  void write(const CaseResult& result);
  /// The next case stands there already.
  void skip();

 private:
  Json json_;
  const std::vector<Rubric>& rubrics_;
  ThresholdsInEffect thresholds_;
  const RunStability* stability_;
  const ReportInput* inputs_;
  CaseDetails details_;
  std::size_t written_ = 0;
};

/// The cases of a run without stability, written as a JSON report has them while they are judged: the report
/// then need not visit them once more. Kept packed but for the last MiB; of more than `max_bytes` the first
/// ones are. The results must outlive it.
class JsonCases {
 public:
  JsonCases(const RunResults& results, std::size_t max_bytes)
      : max_bytes_(max_bytes), writer_(results, text_, nullptr) {}
  JsonCases(const JsonCases&) = delete;
  JsonCases& operator=(const JsonCases&) = delete;

  /// In plan order.
  void add(const CaseResult& result);
  /// Of those that were added, from the first one on.
  std::size_t kept() const { return kept_; }
  /// Whether all that were added are kept.
  bool are_whole() const { return are_whole_; }
  /// Appends what is kept to a report.
  Result<void> write(BufferedWriter& writer) const;

 private:
  std::size_t max_bytes_;
  std::size_t kept_ = 0;
  bool are_whole_ = true;
  std::vector<PackedText> blocks_;
  std::size_t packed_bytes_ = 0;
  std::string text_;  ///< What comes after the blocks.
  JsonCaseWriter writer_;
};

}  // namespace sluice
