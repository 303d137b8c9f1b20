#pragma once

#include "coordinator/display/display.hpp"
#include "coordinator/report/report.hpp"

#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace sluice {

inline std::string json_of(const ReportInput& input) {
  StringSink sink;
  EXPECT_TRUE(write_json_report(input, sink));
  return sink.text();
}

inline std::string table_of(const ReportInput& input, const TableStyle& style) {
  StringSink sink;
  EXPECT_TRUE(write_table_report(input, style, sink));
  return sink.text();
}

inline std::string markdown_of(const ReportInput& input) {
  StringSink sink;
  EXPECT_TRUE(write_markdown_report(input, sink));
  return sink.text();
}

inline std::string junit_of(const ReportInput& input) {
  StringSink sink;
  EXPECT_TRUE(write_junit_report(input, sink));
  return sink.text();
}

inline std::string html_of(const ReportInput& input) {
  StringSink sink;
  EXPECT_TRUE(write_html_report(input, sink));
  return sink.text();
}

inline std::string csv_of(const ReportInput& input) {
  StringSink sink;
  EXPECT_TRUE(write_csv_report(input, sink));
  return sink.text();
}

inline std::string github_of(const ReportInput& input) {
  StringSink sink;
  EXPECT_TRUE(write_github_report(input, sink));
  return sink.text();
}

// The version stands in `run` alone and changes with every release.
inline std::string without_version(std::string text) {
  const std::string version = std::string("\"sluice_version\": \"") + SLUICE_VERSION + '"';
  const auto position = text.find(version);
  EXPECT_NE(position, std::string::npos);
  return text.replace(position, version.size(), "\"sluice_version\": \"VERSION\"");
}

inline void expect_lines_within(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width) << line;
}

inline std::size_t occurrences(const std::string& text, const std::string& words) {
  std::size_t number = 0;
  for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + words.size()))
    ++number;
  return number;
}

}  // namespace sluice
