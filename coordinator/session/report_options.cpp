#include "coordinator/session/report_options.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/session/flag_values.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

/// By ReportFormat.
const std::initializer_list<std::string_view> format_names{"table",  "json", "markdown", "junit",
                                                           "github", "html", "csv"};

std::optional<std::string> file_of(std::string file) {
  if (file == "-") return std::nullopt;
  return file;
}

/// What a file of this name likely is; nothing where nobody can tell.
std::optional<ReportFormat> format_by_ending(const std::string& file) {
  static constexpr std::array<std::pair<std::string_view, ReportFormat>, 6> endings{{
      {".html", ReportFormat::html},
      {".htm", ReportFormat::html},
      {".json", ReportFormat::json},
      {".xml", ReportFormat::junit},
      {".md", ReportFormat::markdown},
      {".csv", ReportFormat::csv},
  }};
  const auto* found =
      std::ranges::find_if(endings, [&](const auto& one) { return file.ends_with(one.first); });
  if (found == endings.end()) return std::nullopt;
  return found->second;
}

/// An ending of files, such as `md`, is told the format's name.
Result<ReportFormat> format_of(std::string_view flag, std::string_view word) {
  const auto choice = choice_of(flag, word, format_names);
  if (choice) return static_cast<ReportFormat>(*choice);
  const auto meant = format_by_ending("." + std::string(word));
  if (!meant || to_string(*meant).starts_with(word)) return fail(choice.error());
  return fail(choice.error().reason,
              choice.error().message + "; did you mean \"" + std::string(to_string(*meant)) + "\"?");
}

/// As named, else as the file's name ends.
Result<ReportFormat> format_of_output(const ReportFlags& flags) {
  if (flags.format) return format_of("--format", *flags.format);
  return format_of_file(flags.output.value_or(""));
}

Result<ReportTarget> target_of(const std::string& report) {
  const auto equals = report.find('=');
  const std::string shown = "\"" + excerpt(report, 120) + "\"";
  if (equals == std::string::npos) {
    const auto format = format_by_ending(report);
    const std::string meant =
        format ? "; did you mean \"" + std::string(to_string(*format)) + "=" + excerpt(report, 120) + "\"?"
               : "";
    return usage_error("--report must be FORMAT=FILE, like junit=report.xml, not " + shown + meant);
  }
  const auto format = format_of("the name in --report " + shown, report.substr(0, equals));
  if (!format) return fail(format.error());
  std::string file = report.substr(equals + 1);
  if (file.empty()) return usage_error("--report " + shown + " must name a file after the equals sign");
  return ReportTarget{*format, file_of(std::move(file))};
}

Result<void> check_distinct(const std::vector<ReportTarget>& targets, const std::vector<NamedFile>& taken) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto& file = targets[i].file;
    for (std::size_t j = 0; j < i; ++j) {
      if (!file && !targets[j].file)
        return usage_error("two reports would go to standard output: give all but one of them a file");
      if (file && targets[j].file && is_same_file(*file, *targets[j].file))
        return usage_error("two reports would be written to \"" + excerpt(*file, defaults::quoted_bytes) +
                           "\": give each a file of its own");
    }
    for (const auto& [flag, other] : taken) {
      if (file && is_same_file(*file, other))
        return usage_error("a report would be written to \"" + excerpt(*file, defaults::quoted_bytes) +
                           "\", which is the file of " + std::string(flag) + ": give it a file of its own");
    }
  }
  return {};
}

}  // namespace

std::string_view to_string(ReportFormat format) {
  return *(format_names.begin() + static_cast<std::size_t>(format));
}

ReportFormat format_of_file(const std::string& file) {
  return format_by_ending(file).value_or(ReportFormat::table);
}

bool is_same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::equivalent(a, b, error) && !error) return true;
  const auto place_of = [&](const std::string& path) {
    auto whole = fs::weakly_canonical(fs::absolute(end_of_links(path), error), error);
    return error ? fs::path(path).lexically_normal() : whole;
  };
  return place_of(a) == place_of(b);
}

Result<std::vector<ReportTarget>> make_report_targets(const ReportFlags& flags,
                                                      const std::vector<NamedFile>& taken) {
  if (flags.output && flags.output->empty()) return usage_error("--output must name a file");
  const auto format = format_of_output(flags);
  if (!format) return fail(format.error());
  std::vector<ReportTarget> targets{{*format, file_of(flags.output.value_or("-"))}};
  for (const std::string& report : flags.reports) {
    auto target = target_of(report);
    if (!target) return fail(std::move(target.error()));
    targets.push_back(std::move(*target));
  }
  if (flags.inputs && std::ranges::find(targets, ReportFormat::json, &ReportTarget::format) == targets.end())
    return usage_error("--report-inputs is about reports in JSON: add --format json, or --report json=FILE");
  if (auto distinct = check_distinct(targets, taken); !distinct) return fail(std::move(distinct.error()));
  return targets;
}

}  // namespace sluice
