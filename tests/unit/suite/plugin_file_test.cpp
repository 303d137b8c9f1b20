#include "coordinator/suite/examples/plugin_file.hpp"

#include "tests/support/paths.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace sluice::plugin_file_test {

Plugin plugin_of(const std::string& yaml) {
  auto plugin = parse_plugin(yaml, "mine", "plugin.yaml");
  EXPECT_TRUE(plugin) << join_findings(plugin.error());
  return plugin ? std::move(*plugin) : Plugin{};
}

std::string findings_of(const std::string& yaml) {
  const auto plugin = parse_plugin(yaml, "mine", "plugin.yaml");
  if (plugin) return "(none)\n";
  std::string text;
  for (const Finding& finding : plugin.error()) text += to_text(finding) + "\n";
  return text;
}

TEST(PluginFile, WhatItLeavesOutIsAsInTheShippedOne) {
  const Plugin& shipped = shipped_plugin();
  EXPECT_EQ(shipped.name, "default");
  EXPECT_EQ(shipped.floors, (Floors{0.85, 0.65}));
  EXPECT_EQ(shipped.drift_envelope, 0.005);
  const Plugin plugin = plugin_of("high_floor: 0.9\n");
  EXPECT_EQ(plugin.name, "mine");
  EXPECT_EQ(plugin.floors, (Floors{0.9, 0.65}));
  EXPECT_EQ(plugin.drift_envelope, 0.005);
  EXPECT_EQ(plugin.low_confidence, shipped.low_confidence);
  EXPECT_EQ(plugin.few_shot.variables(), (std::vector<std::string>{"input", "answer"}));
}

TEST(PluginFile, TheMostSpecificOverrideHolds) {
  const Plugin plugin = plugin_of(R"(
overrides:
  - {language: java, high_floor: 0.91}
  - {task_class: bump, high_floor: 0.92}
  - {build_system: maven, high_floor: 0.93}
  - {language: java, build_system: maven, high_floor: 0.94, degraded_floor: 0.7}
  - {task_class: bump, language: java, build_system: gradle, high_floor: 0.95}
)");
  EXPECT_EQ(plugin.floors_of({"", "", ""}).high, 0.85) << "no override is for what is not known";
  EXPECT_EQ(plugin.floors_of({"fix", "rust", "cargo"}).high, 0.85);
  EXPECT_EQ(plugin.floors_of({"fix", "java", ""}).high, 0.91);
  EXPECT_EQ(plugin.floors_of({"fix", "java", "maven"}), (Floors{0.94, 0.7})) << "two parts before one";
  EXPECT_EQ(plugin.floors_of({"bump", "java", "maven"}).high, 0.94);
  EXPECT_EQ(plugin.floors_of({"bump", "java", "gradle"}).high, 0.95);
  EXPECT_EQ(plugin.floors_of({"bump", "java", "ant"}).high, 0.92) << "of as many, the task class first";
  EXPECT_EQ(plugin.floors_of({"fix", "scala", "maven"}).high, 0.93);
}

TEST(PluginFile, FloorsOutOfRangeCrossedOrTooNearAreRefusedWithTheirLine) {
  EXPECT_EQ(findings_of("degraded_floor: 0.5\nhigh_floor: 1.2\n"),
            "plugin.yaml:2: \"high_floor\" must be from 0 to 1, not 1.2\n");
  EXPECT_EQ(findings_of("degraded_floor: -0.1\n").find("plugin.yaml:1: \"degraded_floor\" must be"), 0u);
  EXPECT_EQ(findings_of("high_floor: 0.6\ndegraded_floor: 0.8\n"),
            "plugin.yaml:2: \"degraded_floor\" and \"high_floor\" are crossed: 0.8 and 0.6; a hit needs more "
            "than a near match\n");
  EXPECT_EQ(
      findings_of("high_floor: 0.703\ndegraded_floor: 0.7\n"),
      "plugin.yaml:2: \"degraded_floor\" and \"high_floor\" are too near to each other: the band between "
      "0.7 and 0.703 must be wider than \"drift_envelope\" (0.005), by which similarities differ between "
      "machines\n");
  EXPECT_NE(findings_of("high_floor: 0.705\ndegraded_floor: 0.7\n"), "(none)\n") << "as wide is not wider";
  EXPECT_EQ(findings_of("high_floor: 0.703\ndegraded_floor: 0.7\ndrift_envelope: 0.001\n"), "(none)\n");
  EXPECT_NE(findings_of("drift_envelope: 0.3\n"), "(none)\n") << "wider than the shipped band";
}

TEST(PluginFile, OverridesAreCheckedLikeTheFileItself) {
  EXPECT_EQ(
      findings_of("overrides:\n  - {language: java, high_floor: 0.6}\n"),
      "plugin.yaml:2: \"degraded_floor\" and \"high_floor\" are crossed: 0.65 and 0.6; a hit needs more "
      "than a near match\n");
  EXPECT_EQ(findings_of("overrides:\n  - {high_floor: 0.9}\n"),
            "plugin.yaml:2: the override is for no case in particular: name \"task_class\", \"language\" or "
            "\"build_system\"\n");
  EXPECT_EQ(findings_of("overrides:\n  - {language: java}\n"),
            "plugin.yaml:2: the override changes nothing: name \"high_floor\" or \"degraded_floor\"\n");
  EXPECT_EQ(findings_of("overrides:\n  - {language: java, high_floor: 0.9}\n"
                        "  - {language: java, degraded_floor: 0.7}\n"),
            "plugin.yaml:3: there is an override for language \"java\" already, in line 2: leave one of the "
            "two\n");
  EXPECT_EQ(findings_of("overrides: [java]\n").find("plugin.yaml:1: an override must be a mapping"), 0u);
}

TEST(PluginFile, UnknownKeysAndWrongTemplatesAreFindings) {
  EXPECT_EQ(findings_of("high_flor: 0.9\n").find("plugin.yaml:1: unknown key \"high_flor\""), 0u)
      << findings_of("high_flor: 0.9\n");
  EXPECT_NE(findings_of("overrides:\n  - {lang: java, high_floor: 0.9}\n").find("plugin.yaml:2: "),
            std::string::npos);
  EXPECT_EQ(findings_of("few_shot: \"{{input}}\"\n"),
            "plugin.yaml:1: \"few_shot\" must hold {{answer}}, which else is not shown\n");
  EXPECT_EQ(findings_of("few_shot: \"{{input}} {{answer}} {{score}}\"\n"),
            "plugin.yaml:1: \"few_shot\" uses {{score}}, and an example has {{input}} and {{answer}}\n");
  EXPECT_EQ(findings_of("low_confidence: \"\"\n"),
            "plugin.yaml:1: \"low_confidence\" must not be empty: a near match is never shown without it\n");
  EXPECT_EQ(findings_of("- 1\n").find("plugin.yaml:1: a plugin must be a mapping"), 0u);
}

}  // namespace sluice::plugin_file_test
