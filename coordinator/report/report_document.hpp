#pragma once

#include "coordinator/report/document.hpp"
#include "coordinator/report/report.hpp"

#include <vector>

namespace sluice {

/// How much of a report there is room for.
enum class Room : std::uint8_t {
  page,     ///< A terminal or a file: all that people can use.
  comment,  ///< On a pull request: fewer than 65,536 characters, in which each list has its share.
};

/// Whether a report for people lists its cases, or leaves that to whoever writes it.
enum class CaseLists : std::uint8_t { shown, left_out };

/// The report of a run for people. Fails only as visit_cases does.
Result<document::Document> build_document(const ReportInput& input, Room room,
                                          CaseLists cases = CaseLists::shown);

// Parts of it, in the order of a page.

/// The statistical gate, repeats and stability; nothing where there was none of them.
Result<std::vector<document::Section>> stability_sections(const ReportInput& input, Room room);
/// Regressions, failures, improvements, warnings, missing baseline entries, errors. A page has the first
/// `defaults::max_listed_cases` of a kind, with how many more there are and, of failed cases, a command that
/// shows them.
Result<std::vector<document::Section>> case_sections(const ReportInput& input, Room room);

/// What each arm of a run came to; none of a run without.
std::vector<document::Section> arm_sections(const ReportInput& input);
/// The arms beside one another. Beside a baseline they go behind the cases: the gate is what is asked for.
std::vector<document::Section> arm_comparison_sections(const ReportInput& input);

/// How answers were classified; none of a run that expects no labels. A page that leaves out its cases has
/// room for the whole matrix, and for that of each arm.
std::vector<document::Section> label_sections(const ReportInput& input, CaseLists cases);

/// What the cases found among the solved examples; none of a suite without.
std::vector<document::Section> retrieval_sections(const ReportInput& input);

/// What was measured of the judge; none where it was not.
std::vector<document::Section> judge_sections(const ReportInput& input);

}  // namespace sluice
