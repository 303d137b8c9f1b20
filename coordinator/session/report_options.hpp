#pragma once

#include "common/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// In the order in which they are offered.
enum class ReportFormat : std::uint8_t { table, json, markdown, junit, github, html, csv };

/// As --format names it.
std::string_view to_string(ReportFormat format);

/// What a report is written as in a file of this name where no format is given: as it ends, else a table.
ReportFormat format_of_file(const std::string& file);

/// One report and where it goes.
struct ReportTarget {
  ReportFormat format = ReportFormat::table;
  std::optional<std::string> file;  ///< Nothing: standard output.
  friend bool operator==(const ReportTarget&, const ReportTarget&) = default;
};

/// Where reports go, as given.
struct ReportFlags {
  /// Of the report on standard output, or in `output`. Nothing: what `output` ends in says it, else a table.
  std::optional<std::string> format;
  std::optional<std::string> output;  ///< A dash is standard output, as everywhere.
  std::vector<std::string> reports;   ///< `FORMAT=FILE` each.
  bool inputs = false;                ///< What each case was asked, in JSON too.
};

/// A flag's name and the file that it names: no report may take its place.
using NamedFile = std::pair<std::string_view, std::string>;

/// By what the paths lead to: ./a.xml, a link to it and a.xml are the same.
bool is_same_file(const std::string& a, const std::string& b);

/// The reports of a run: that of --format and --output first, then each --report. usage_invalid for a name
/// that is no format's, a missing file, and a file that two of them name (however it is written), or that is
/// one of `taken`.
Result<std::vector<ReportTarget>> make_report_targets(const ReportFlags& flags,
                                                      const std::vector<NamedFile>& taken);

}  // namespace sluice
