#pragma once

#include "coordinator/suite/fingerprint.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <string>

#include <gtest/gtest.h>

/// What the tests of suites with judges share.
namespace sluice::judge_suite_test {

/// A rubric's file.
inline std::string rubric_toml(const std::string& id, const std::string& version,
                               const std::string& user = "{{answer}}") {
  return "id = \"" + id + "\"\nversion = \"" + version +
         "\"\ndescription = \"d\"\nsystem = \"s\"\nuser = \"" + user + "\"\n";
}

class JudgeSuite : public SuiteFiles {
 protected:
  /// A suite with one test, of which only `expected` is given (from line 7 on).
  static std::string expecting(const std::string& expected,
                               const std::string& input = "{prompt: p, context: c}",
                               const std::string& settings = "settings: {}\n") {
    return "suite: s\n" + settings + "tests:\n  - id: t\n    input: " + input + "\n    expected:\n" +
           expected;
  }
  static std::string with_keys(const std::string& keys) { return expecting("      {" + keys + "}\n"); }
  static std::string with_rubrics(const std::string& keys) {
    return expecting("      {" + keys + "}\n", "{prompt: p, context: c}", "rubrics: r\n");
  }
  void write_rubric(const std::string& id, const std::string& version,
                    const std::string& user = "{{answer}}") const {
    write("r/" + id + "/" + version + ".toml", rubric_toml(id, version, user));
  }

  /// The rubric that the suite's only metric is judged by, as "ID VERSION".
  std::string rubric_of(const std::string& yaml) const {
    const LoadedSuite loaded = load(yaml);
    const Case test = first_case(loaded);
    if (test.expectations.empty() || !test.expectations[0].judge) return "none";
    const Rubric& rubric = loaded.suite.rubrics.at(test.expectations[0].judge->rubric);
    EXPECT_EQ(test.expectations[0].judge->rubric_hash, rubric_hash(rubric));
    return rubric.id + " " + rubric.version;
  }
};

}  // namespace sluice::judge_suite_test
