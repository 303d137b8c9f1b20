#include "coordinator/suite/examples/plugin_edit.hpp"

#include "config/embedded_config.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::plugin_edit_test {

constexpr Floors floors{0.82, 0.6};

std::string edited(const std::string& text, const TaskTriple& triple, const Floors& to = floors) {
  const auto result = with_floors(text, triple, to);
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or("");
}

TEST(PluginEdit, CommentsStay) {
  EXPECT_EQ(edited("# ours\nhigh_floor: 0.85   # since May\n\ndegraded_floor: 0.65\n# end\n", {}),
            "# ours\nhigh_floor: 0.82   # since May\n\ndegraded_floor: 0.6\n# end\n");
  const std::string shipped(embedded::default_plugin);
  const std::string result = edited(shipped, {});
  EXPECT_EQ(result.size(), shipped.size() - 1) << "0.65 became 0.6";
  EXPECT_EQ(result.find("# What a case gets"), 0u);
}

TEST(PluginEdit, FloorsThatWereLeftOutAreAdded) {
  EXPECT_EQ(edited("drift_envelope: 0.01\n", {}),
            "drift_envelope: 0.01\nhigh_floor: 0.82\ndegraded_floor: 0.6\n");
}

TEST(PluginEdit, AnOverrideIsChangedInEitherNotation) {
  EXPECT_EQ(edited("overrides:\n"
                   "  # Java is well covered\n"
                   "  - {language: java, high_floor: 0.9}  # reviewed\n"
                   "  - language: rust\n"
                   "    degraded_floor: 0.5  # few\n"
                   "\n"
                   "    # a remark\n"
                   "few_shot: \"{{input}} {{answer}}\"\n",
                   {"", "java", ""}),
            "overrides:\n"
            "  # Java is well covered\n"
            "  - {language: java, high_floor: 0.82, degraded_floor: 0.6}  # reviewed\n"
            "  - language: rust\n"
            "    degraded_floor: 0.5  # few\n"
            "\n"
            "    # a remark\n"
            "few_shot: \"{{input}} {{answer}}\"\n");
  EXPECT_EQ(
      edited("overrides:\n- language: rust\n  degraded_floor: 0.5  # few\nhigh_floor: 0.9\n",
             {"", "rust", ""}),
      "overrides:\n- language: rust\n  high_floor: 0.82\n  degraded_floor: 0.6  # few\nhigh_floor: 0.9\n");
}

TEST(PluginEdit, AnOverrideIsAdded) {
  const TaskTriple triple{"bump", "java", "maven"};
  const std::string entry =
      R"(- {task_class: "bump", language: "java", build_system: "maven", high_floor: 0.82, degraded_floor: 0.6})";
  EXPECT_EQ(edited("high_floor: 0.9\n", triple), "high_floor: 0.9\noverrides:\n  " + entry + "\n");
  EXPECT_EQ(edited("overrides: []  # none yet\nhigh_floor: 0.9\n", triple),
            "overrides:   # none yet\n  " + entry + "\nhigh_floor: 0.9\n");
  EXPECT_EQ(
      edited("overrides:\n    - language: java\n      high_floor: 0.9\ndrift_envelope: 0.01\n", triple),
      "overrides:\n    - language: java\n      high_floor: 0.9\n    " + entry + "\ndrift_envelope: 0.01\n");
}

// The floors of the file are also those that its overrides leave out.
TEST(PluginEdit, WhatWouldCrossAnotherOverrideIsRefused) {
  const auto crossed = with_floors("overrides:\n  - {language: java, degraded_floor: 0.84}\n", {}, floors);
  ASSERT_FALSE(crossed);
  EXPECT_NE(crossed.error().message.find("are crossed"), std::string::npos) << crossed.error().message;
}

TEST(PluginEdit, AFileThatIsWrittenInAnotherWayIsRefusedRatherThanSpoilt) {
  for (const char* text :
       {"overrides: [{language: java, high_floor: 0.9}, {language: rust, high_floor: 0.9}]\n",
        "{high_floor: 0.9}\n", "\"high_floor\": 0.9\n"}) {
    const auto result = with_floors(text, {"", "rust", ""}, floors);
    if (result) continue;
    EXPECT_NE(result.error().message.find("write them in by hand"), std::string::npos);
  }
  EXPECT_FALSE(
      with_floors("overrides: [{language: java, high_floor: 0.9}, {language: rust, high_floor: 0.9}]\n",
                  {"", "rust", ""}, floors));
  EXPECT_FALSE(with_floors("{high_floor: 0.9}\n", {}, floors));
}

}  // namespace sluice::plugin_edit_test
