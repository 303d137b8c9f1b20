#pragma once

#include "tests/support/workbench.hpp"

#include <algorithm>
#include <array>

namespace sluice::support {

inline const std::string good_header =
    R"("schema_version": 1, "suite": "demo", "assay_version": "0.1.0", "created_at": "2025-12-21T12:00:00Z", )"
    R"("config_fingerprint": "sha256:0")";

inline std::string baseline_of(const std::string& entries) {
  return "{" + good_header + ",\n\"entries\": [" + entries + "]}\n";
}
inline std::string entry(const std::string& score) {
  return R"({"test_id": "q_1", "metric": "claims_recall", "score": )" + score + "}";
}
inline std::string suite_of(const std::string& tests) {
  return "suite: demo\ntests:\n" + tests;
}
inline std::string test_of(const std::string& expected) {
  return suite_of("  - id: q_1\n    input: {prompt: Hello}\n    expected: " + expected + "\n");
}
inline std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

struct Malformed {
  const char* name;
  std::string text;
  std::vector<std::string> words;  ///< In the one line.
};

class MalformedInputs : public Workbench {
 protected:
  void SetUp() override {
    write_text(folder() / "suite.yaml", test_of("{type: must_not_contain, text: claims}"));
    for (const auto* name : kept) write_text(folder() / name, "as it was");
  }

  Flags run_of(const std::string& suite) const {
    return {"run",         suite,      "--mode",           "mock",     "--output",
            "report.json", "--report", "junit=report.xml", "--report", "markdown=report.md"};
  }
  Finished gate(const std::string& baseline) {
    return run_sluice(run_of("suite.yaml") + Flags{"--baseline", baseline});
  }
  Finished run_suite(const std::string& suite) {
    return run_sluice(run_of(suite) + Flags{"--export-baseline", "exported.json"});
  }

  void expect_findings(const Finished& finished, std::size_t count, const std::vector<std::string>& words) {
    EXPECT_EQ(finished.exit_code, 2) << finished.errors;
    EXPECT_EQ(finished.output, "");
    EXPECT_EQ(finished.error_lines().size(), count) << finished.errors;
    EXPECT_EQ(std::ranges::count(finished.errors, '\n'), static_cast<std::ptrdiff_t>(count))
        << "one line a finding, and nothing else: " << finished.errors;
    for (const auto& word : words) {
      EXPECT_NE(finished.errors.find(word), std::string::npos) << word << " in: " << finished.errors;
    }
    for (const auto* name : kept) EXPECT_EQ(read_text(folder() / name), "as it was") << name;
  }

  void expect_bad_baselines(const std::vector<Malformed>& rows) {
    for (const auto& row : rows) {
      SCOPED_TRACE(row.name);
      write_text(folder() / "bad.json", row.text);
      auto words = row.words;
      words.push_back("bad.json");
      expect_findings(gate("bad.json"), 1, words);
    }
  }
  void expect_bad_suites(const std::vector<Malformed>& rows) {
    for (const auto& row : rows) {
      SCOPED_TRACE(row.name);
      write_text(folder() / "bad.yaml", row.text);
      auto words = row.words;
      words.push_back("bad.yaml");
      expect_findings(run_suite("bad.yaml"), 1, words);
    }
  }

  static constexpr std::array kept{"report.json", "report.xml", "report.md", "exported.json"};
};

}  // namespace sluice::support
