#pragma once

#include "coordinator/report/html/shown_case.hpp"
#include "coordinator/report/report.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sluice {

/// What a page's list of cases is of.
struct CaseListing {
  /// Stands beside the cases as their arm does, in a list of several runs: a case is then a test of each.
  std::string run{};
  bool with_unanswered = true;  ///< Also those that have no result.
};

/// The head of a list of cases, with the first of them as a table for whoever runs no scripts: of a run with
/// arms a row a test and a column an arm. The page's script takes it over.
Result<void> write_first_cases(const ReportInput& input, const CaseListing& listing, BufferedWriter& writer);
/// The same of more than one run, a column each: without scripts it says that there are none.
void write_empty_list(const std::vector<std::string>& runs, BufferedWriter& writer);

/// The cases for the page's script, in several elements, so that none becomes larger than what a browser
/// reads in one go.
class CaseData {
 public:
  explicit CaseData(BufferedWriter& writer) : writer_(writer) {}

  /// Adds the cases of a run. Fails as visit_cases does.
  Result<void> add(const ReportInput& input, const CaseListing& listing);
  /// After the last one.
  void close();

 private:
  void append(const ShownCase& one, const CaseListing& listing);
  std::uint64_t number_of(const std::string& id);

  BufferedWriter& writer_;
  std::string part_;
  std::size_t in_part_ = 0;
  std::map<std::string, std::uint64_t> numbers_;  ///< Of the cases of several runs.
};

}  // namespace sluice
