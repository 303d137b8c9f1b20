#include "coordinator/observations/answer_grid.hpp"

#include "coordinator/display/display.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::answer_grid_test {

constexpr const char* failed_check =
    R"([{"name": "recall", "score": 0.5, "passed": null},
        {"name": "must_contain", "passed": false, "detail": "not found: \"Paris\""}])";

Observation trial(const std::string& test, const std::string& arm, const std::string& status,
                  const std::string& answer) {
  static std::uint64_t next = 0;
  Observation one;
  one.trial = next++;
  one.case_id = arm.empty() ? test : test + "@" + arm;
  one.arm = arm;
  one.model = "gpt-5-mini";
  one.status = status;
  one.raw_response = answer;
  if (status == "fail") one.metrics.text = failed_check;
  return one;
}

Observation as(Observation one, const std::string& perturbation, std::uint64_t repeat) {
  one.perturbation = perturbation;
  one.repeat = repeat;
  return one;
}

AnswerGrid of(std::vector<Observation> observations) {
  AnswerGrid grid;
  grid.run.observations = std::move(observations);
  grid.named = "last";
  return grid;
}

std::string words(std::size_t count) {
  std::string text;
  for (std::size_t i = 1; i <= count; ++i) text += (i > 1 ? " word" : "word") + std::to_string(i);
  return text;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<std::string> lines_in(const std::string& page) {
  std::vector<std::string> lines;
  std::istringstream text(page);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// No line is wider, and those of a table are as wide as its first.
void expect_whole(const std::string& page, std::size_t columns) {
  std::size_t width = 0;
  for (const std::string& line : lines_in(page)) {
    EXPECT_LE(display_width(line), columns) << line;
    if (line.starts_with("╭")) width = display_width(line);
    if (line.starts_with("│") || line.starts_with("├") || line.starts_with("╰")) {
      EXPECT_EQ(display_width(line), width) << line;
    }
  }
}

TEST(AnswerGrid, ATestIsARowAndAnArmAColumn) {
  AnswerGrid grid = of({trial("france", "b", "fail", "It is Lyon."), trial("france", "a", "pass", "Paris"),
                        trial("peru", "a", "pass", "Lima")});
  grid.arms = {"a", "b", "c"};
  EXPECT_EQ(answer_grid(grid, 80),
            "╭────────┬─────────┬────────────────────────────────────╮\n"
            "│ Test   │ a       │ b                                  │\n"
            "├────────┼─────────┼────────────────────────────────────┤\n"
            "│ france │ ✓ Paris │ ✗ It is Lyon.                      │\n"
            "│        │         │ └ must_contain: not found: \"Paris\" │\n"
            "├────────┼─────────┼────────────────────────────────────┤\n"
            "│ peru   │ ✓ Lima  │ –                                  │\n"
            "╰────────┴─────────┴────────────────────────────────────╯\n"
            "✓ pass, ✗ fail, └ why\n");
}

TEST(AnswerGrid, WithoutArmsItHasTheColumnOfItsModel) {
  EXPECT_EQ(answer_grid(of({trial("france", "", "pass", "Paris"), trial("peru", "", "pass", "")}), 80),
            "╭────────┬───────────────╮\n"
            "│ Test   │ gpt-5-mini    │\n"
            "├────────┼───────────────┤\n"
            "│ france │ ✓ Paris       │\n"
            "│ peru   │ ✓ (none came) │\n"
            "╰────────┴───────────────╯\n"
            "✓ pass\n");
}

TEST(AnswerGrid, AnEmptyAnswerIsNoneThatDidNotCome) {
  Observation empty = trial("peru", "", "pass", "");
  empty.answered_at = "2026-01-01T00:00:00.000Z";
  EXPECT_NE(answer_grid(of({empty}), 80).find("│ ✓ (empty) "), std::string::npos);
}

TEST(AnswerGrid, ALongAnswerBeginsInThreeLines) {
  for (const std::size_t columns : {80u, 200u}) {
    AnswerGrid grid = of({trial("a", "", "pass", words(300)), trial("b", "", "fail", words(300)),
                          trial("c", "", "warn", "x")});
    const std::string page = answer_grid(grid, columns);
    expect_whole(page, columns);
    const auto lines = lines_in(page);
    ASSERT_EQ(lines.size(), 14u) << page;
    EXPECT_GT(display_width(lines[0]), columns - 8) << "all the room is used";
    EXPECT_TRUE(lines[3].starts_with("│ a    │ ✓ word1 word2 ")) << page;
    EXPECT_TRUE(lines[4].starts_with("│      │   word")) << page;
    EXPECT_NE(lines[5].find("…"), std::string::npos) << page;
    EXPECT_NE(lines[8].find("…"), std::string::npos) << "a reason takes the third line's place: " << page;
    EXPECT_TRUE(lines[9].starts_with("│      │ └ must_contain: not found: \"Paris\" ")) << page;
  }
}

// Its metric's name alone stood there, and half of the line was empty.
TEST(AnswerGrid, AReasonThatIsTooLongIsCut) {
  std::vector<Observation> observations;
  for (const char* arm : {"a", "b", "c"}) observations.push_back(trial("t", arm, "fail", words(50)));
  const std::string page = answer_grid(of(observations), 80);
  expect_whole(page, 80);
  EXPECT_EQ(times(page, "└ must_contain: "), 3u) << page;
}

TEST(AnswerGrid, WhatMissedALimitIsSaidInTheReportsWords) {
  AnswerGrid grid = of({trial("t", "", "fail", "x")});
  grid.run.observations[0].metrics.text = "[]";
  grid.missed["t"] = {"recall 0.50, below 0.90", "more"};
  EXPECT_NE(answer_grid(grid, 80).find("└ recall 0.50, below 0.90 │"), std::string::npos);
}

// Another check that failed stood there.
TEST(AnswerGrid, AnUndecidedCheckIsTheReasonOfItsError) {
  AnswerGrid grid = of({trial("t", "", "error", "an answer")});
  grid.run.observations[0].error = "latency cannot judge";
  grid.run.observations[0].metrics.text = failed_check;
  const std::string page = answer_grid(grid, 80);
  EXPECT_NE(page.find("└ latency cannot judge"), std::string::npos) << page;
  EXPECT_EQ(page.find("must_contain"), std::string::npos) << page;
}

TEST(AnswerGrid, ArmsWithoutRoomStandInATableBelow) {
  std::vector<Observation> observations;
  const std::vector<std::string> arms{"gpt-5-mini/short", "gpt-5-mini/polite", "opus/short", "opus/polite",
                                      "flash/short"};
  for (const char* test : {"france", "peru"}) {
    for (const std::string& arm : arms) observations.push_back(trial(test, arm, "pass", words(40)));
  }
  AnswerGrid grid = of(observations);
  grid.arms = arms;
  const std::string narrow = answer_grid(grid, 80);
  expect_whole(narrow, 80);
  EXPECT_EQ(times(narrow, "╭"), 2u) << narrow;
  EXPECT_EQ(times(narrow, "│ france │"), 2u) << narrow;
  const auto second = narrow.rfind("╭");
  EXPECT_LT(narrow.find("opus/short"), second) << narrow;
  EXPECT_GT(narrow.find("opus/polite"), second) << narrow;
  const std::string wide = answer_grid(grid, 200);
  expect_whole(wide, 200);
  EXPECT_EQ(times(wide, "╭"), 1u) << wide;
}

TEST(AnswerGrid, ShortAnswersNeedLittleRoom) {
  std::vector<Observation> observations;
  for (const char* arm : {"one", "two", "three", "four", "five", "six"})
    observations.push_back(trial("t", arm, "pass", "Paris"));
  EXPECT_EQ(times(answer_grid(of(observations), 80), "╭"), 1u);
  observations.push_back(trial("t", "long", "pass", words(40)));
  const std::string page = answer_grid(of(observations), 120);
  expect_whole(page, 120);
  EXPECT_EQ(times(page, "╭"), 1u);
  EXPECT_NE(page.find("│ ✓ word1 word2 word3"), std::string::npos) << page;
}

TEST(AnswerGrid, ForeignTextsCannotLeaveTheirCells) {
  const std::string hostile =
      "a\x1b[31m\n\r\tb\xe2\x80\xae c\xff │ ##[error]x ::error::y " + std::string(900, 'z');
  std::vector<Observation> observations{trial("id \x1b]0;x\x07 " + hostile, "", "fail", hostile),
                                        trial("wide", "", "pass", ""), trial("joined", "", "pass", "")};
  for (int i = 0; i < 300; ++i) observations[1].raw_response += "証明書";
  for (int i = 0; i < 3000; ++i) observations[2].raw_response += "e\u0301";
  observations[0].metrics.text = R"([{"name": "n\u001b[2J", "passed": false, "detail": "\u001b[2J##[x]"}])";
  for (const std::size_t columns : {40u, 80u, 200u}) {
    const std::string page = answer_grid(of(observations), columns);
    expect_whole(page, columns);
    for (const char* bad : {"\x1b", "\x07", "\r", "\t", "\xe2\x80\xae", "##[", "\xff"})
      EXPECT_EQ(page.find(bad), std::string::npos) << page;
    EXPECT_NE(page.find("✓ 証明書"), std::string::npos) << page;
  }
}

TEST(AnswerGrid, SaysWhyThereIsNoAnswer) {
  AnswerGrid grid = of({trial("lost", "", "pass", ""), trial("refused", "", "error", "I cannot."),
                        trial("timeout", "", "error", "")});
  auto& made = grid.run.observations;
  grid.run.lost_answers = {made[0].trial};
  made[1].reason_code = "refusal";
  made[1].error = "the model refused";
  made[2].reason_code = "timeout";
  made[2].error = "no answer within 60 s";
  EXPECT_EQ(answer_grid(grid, 80),
            "╭─────────┬──────────────────────────╮\n"
            "│ Test    │ gpt-5-mini               │\n"
            "├─────────┼──────────────────────────┤\n"
            "│ lost    │ ✓ (in no cache any more) │\n"
            "├─────────┼──────────────────────────┤\n"
            "│ refused │ ! refusal                │\n"
            "│         │   I cannot.              │\n"
            "│         │ └ the model refused      │\n"
            "├─────────┼──────────────────────────┤\n"
            "│ timeout │ ! timeout                │\n"
            "│         │   no answer within 60 s  │\n"
            "╰─────────┴──────────────────────────╯\n"
            "✓ pass, ! error, └ why\n");
}

TEST(AnswerGrid, OfRepeatsTheFirstIsShownAndHowManyPassed) {
  const auto first = trial("t", "", "pass", "Paris");
  AnswerGrid grid =
      of({first, as(trial("t", "", "fail", "Lyon"), "", 1), as(trial("t", "", "warn", "Paris!"), "", 2),
          as(trial("t", "", "fail", "LYON"), "upper", 0)});
  EXPECT_EQ(answer_grid(grid, 60),
            "╭──────┬─────────────────╮\n"
            "│ Test │ gpt-5-mini      │\n"
            "├──────┼─────────────────┤\n"
            "│ t    │ ~ 2 of 3 passed │\n"
            "│      │   Paris         │\n"
            "╰──────┴─────────────────╯\n"
            "~ flaky\n"
            "Without 1 answer to perturbed forms: `sluice show last CASE`\n"
            "shows those of a case.\n");
  grid.run.statuses = {{{"t", "fail"}}};
  EXPECT_NE(answer_grid(grid, 80).find("✗ 2 of 3 passed"), std::string::npos) << "the gate's word counts";
}

TEST(AnswerGrid, OfRepeatsWithAScoreTheGateAloneKnowsHowManyPassed) {
  auto scored = trial("t", "", "pass", "Paris");
  scored.metrics.text = R"([{"name": "rouge_n", "score": 0.1, "passed": null}])";
  AnswerGrid grid = of({scored, as(scored, "", 1)});
  grid.run.statuses = {{{"t", "fail"}}};
  EXPECT_NE(answer_grid(grid, 80).find("✗ 2 repeats"), std::string::npos) << answer_grid(grid, 80);
  const auto graded = trial("t", "", "", "Paris");
  auto ungraded = trial("t", "", "error", "");
  const std::string page = answer_grid(of({graded, as(ungraded, "", 1)}), 80);
  EXPECT_NE(page.find("! 2 repeats"), std::string::npos) << page;
}

TEST(AnswerGrid, SaysHowManyRowsAreLeftOut) {
  std::vector<Observation> observations;
  for (int i = 100; i < 160; ++i) observations.push_back(trial("t-" + std::to_string(i), "", "pass", "x"));
  AnswerGrid grid = of(observations);
  grid.named = "my suite";
  EXPECT_EQ(times(answer_grid(grid, 80), "│ t-"), 60u);
  grid.most_rows = 50;
  const std::string page = answer_grid(grid, 80);
  EXPECT_EQ(times(page, "│ t-"), 50u);
  EXPECT_NE(page.find("│ t-149 │"), std::string::npos) << page;
  EXPECT_TRUE(
      page.ends_with("\n10 more tests: `sluice show 'my suite' --grid --filter '*'` shows all, another\n"
                     "--filter those that fit.\n"))
      << page;
}

TEST(AnswerGrid, OnlyMarksAndReasonsAreColoured) {
  const auto page =
      answer_grid(of({trial("t", "", "pass", "Paris"), trial("u", "", "fail", "Lyon")}), 80, true);
  EXPECT_NE(page.find("│ \x1b[32m✓\x1b[0m Paris "), std::string::npos) << page;
  EXPECT_NE(page.find("│ \x1b[31m✗\x1b[0m Lyon "), std::string::npos) << page;
  EXPECT_NE(page.find("│ \x1b[2m└ must_contain: not found: \"Paris\"\x1b[0m │"), std::string::npos) << page;
}

TEST(AnswerGrid, WhatPassesNothingHasNoMark) {
  AnswerGrid grid = of({trial("t", "before", "", "Paris"), trial("t", "after", "", "Lyon")});
  grid.arms = {"before", "after"};
  grid.run.observations[0].metrics.text = failed_check;
  const std::string page = answer_grid(grid, 80);
  EXPECT_NE(page.find("│ t    │   Paris │   Lyon │\n╰"), std::string::npos) << page;
  EXPECT_TRUE(page.ends_with("╯\n")) << page;
}

}  // namespace sluice::answer_grid_test
