#pragma once

#include "coordinator/suite/prompts/arms.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <string>

namespace sluice {

/// Suites of prompts, providers and tests.
class MatrixSuite : public SuiteFiles {
 protected:
  /// `id [prompt] metric text ...` for each case, a line each.
  static std::string cases(const LoadedSuite& loaded) {
    std::string text;
    for (std::size_t i = 0; i < loaded.suite.cases.size(); ++i) {
      const auto read = loaded.suite.cases.read(i);
      if (!read) return read.error().message;
      const Case& one = **read;
      text += one.id + " [" + one.content + "]";
      for (const Expectation& expectation : one.expectations) {
        text += " " + std::string(info(expectation.what.metric).name);
        for (const std::string& value : expectation.what.texts) text += " " + value;
      }
      text += "\n";
    }
    return text;
  }
  /// The same of suite.yaml.
  std::string cases(const std::string& yaml) const { return cases(load(yaml)); }
  /// `name=provider:model`
  static std::string arms(const LoadedSuite& loaded) {
    std::string text;
    for (const Arm& arm : arms_of(loaded.suite.prompts, loaded.suite.arms))
      text += (text.empty() ? "" : " ") + arm.name + "=" + arm.provider + ":" + arm.model;
    return text;
  }
};

/// A suite whose prompts use {{country}}; its tests follow.
inline constexpr const char* capitals_prompts = R"yaml(suite: capitals
prompts:
  - {id: short, prompt: "Capital of {{country}}?"}
  - {id: polite, prompt: "Please: the capital of {{country}}?"}
)yaml";

}  // namespace sluice
