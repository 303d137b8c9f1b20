#pragma once

#include "coordinator/score_files/baseline_file.hpp"

#include <cstdint>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

/// What the tests of baseline files share.
namespace sluice::baseline_file_test {

inline const std::string complete = R"({
  "schema_version": 2,
  "suite": "demo_suite",
  "assay_version": "0.1.0",
  "created_at": "2025-12-21T12:00:00Z",
  "config_fingerprint": "sha256:00ff",
  "entries": [
    {"test_id": "rag_q1", "metric": "semantic_similarity_to", "score": 0.91, "meta": {"model":"m","n":[1,{"x":null}]}},
    {"test_id": "rag_q2", "metric": "semantic_similarity_to", "score": 1}
  ]
}
)";

inline tl::expected<Baseline, Finding> parse(const std::string& text) {
  std::istringstream stream(text);
  return parse_baseline(stream, "base.json");
}

inline std::string written(const Baseline& baseline) {
  StringSink sink;
  write_baseline(baseline, sink);
  return sink.text();
}

/// The complete file with one text replaced.
inline std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = complete;
  const auto place = text.find(old_text);
  EXPECT_NE(place, std::string::npos) << old_text;
  return text.replace(place, old_text.size(), new_text);
}

/// The complete file with other entries, which begin in line 7.
inline std::string with_entries(const std::string& entries) {
  return complete.substr(0, complete.find('[')) + "[" + entries + "]}\n";
}

/// One sentence: no line break, no full stop at its end, and not long.
inline void expect_sentence(const Finding& finding) {
  EXPECT_EQ(finding.file, "base.json");
  EXPECT_FALSE(finding.message.empty());
  EXPECT_EQ(finding.message.find('\n'), std::string::npos) << finding.message;
  EXPECT_NE(finding.message.back(), '.') << finding.message;
  EXPECT_LT(finding.message.size(), 400u) << finding.message;
}

inline void expect_finding(const std::string& text, std::uint32_t line, const std::string& part) {
  const auto parsed = parse(text);
  ASSERT_FALSE(parsed.has_value()) << part;
  expect_sentence(parsed.error());
  EXPECT_EQ(parsed.error().line, line) << parsed.error().message;
  EXPECT_NE(parsed.error().message.find(part), std::string::npos) << parsed.error().message;
}

}  // namespace sluice::baseline_file_test
