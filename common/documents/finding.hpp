#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// One thing that is wrong with what the user gave. Findings are collected, so that all of a file's are shown
/// in one go.
struct Finding {
  std::string file;        ///< Path as the user can open it, or the flag or variable that holds the value.
  std::uint32_t line = 0;  ///< From 1; 0 if the finding is about the whole file.
  std::string message;     ///< One sentence without a full stop: what is wrong and what was expected.
  friend bool operator==(const Finding&, const Finding&) = default;
};

/// `file:line: message`, without the line if there is none.
std::string to_text(const Finding& finding);
/// The message without ` (PLACE)`, for whoever says the place before it.
std::string without_place(std::string message, const std::string& place);
/// By file, then line; findings of the same line keep their order.
void sort_findings(std::vector<Finding>& findings);
/// Leaves the first defaults::max_file_findings, and a last one that says how many `more` (as "more labels
/// that fit no test") there are.
void shorten_findings(std::vector<Finding>& findings, const std::string& file, std::string_view more);
/// All findings in one text, joined by `; `: for callers that report a single error.
std::string join_findings(const std::vector<Finding>& findings);

}  // namespace sluice
