#pragma once

#include "tests/unit/suite/suite_files.hpp"

#include <string>

/// What the tests of suites in YAML share.
namespace sluice::yaml_suite_test {

class YamlSuite : public SuiteFiles {
 protected:
  /// A suite with one test, of which only `expected` is given (from line 6 on).
  static std::string expecting(const std::string& expected, const std::string& settings = "settings: {}\n") {
    return "suite: s\n" + settings + "tests:\n  - id: t\n    input: {prompt: p}\n    expected:\n" + expected;
  }
};

}  // namespace sluice::yaml_suite_test
