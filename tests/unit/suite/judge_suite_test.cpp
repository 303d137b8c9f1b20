// Metrics of judges in a suite: their keys, their texts, and what is wrong in them.
#include "tests/unit/suite/judge_suite.hpp"

#include "coordinator/defaults.hpp"
#include "tests/support/paths.hpp"

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sluice::judge_suite_test {

/// Keys of a metric, and the only finding about them.
struct Bad {
  std::string keys;
  std::string finding;
};

TEST_F(JudgeSuite, EveryMetricIsReadWithItsKeys) {
  const LoadedSuite loaded = load(expecting(R"(
      - {type: faithfulness, min_score: 0.85, rubric_version: v1, samples: 5}
      - {type: relevancy, thresholding: {max_drop: 0.1}}
      - {type: correctness, reference: "the\nright one"}
      - {type: rubric, criteria: Is polite.}
      - {type: must_contain, text: a}
      - {type: context_recall, reference: r, context: c}
      - {type: context-relevance, context: c}
)"));
  const Case test = first_case(loaded);
  EXPECT_EQ(test.kind, CaseKind::text);
  ASSERT_EQ(test.expectations.size(), 7u);
  const auto expect = [&](std::size_t index, MetricId metric, const char* rubric) {
    const Expectation& expectation = test.expectations[index];
    EXPECT_EQ(expectation.what, (TextExpectation{metric, {}}));
    ASSERT_TRUE(expectation.judge);
    EXPECT_EQ(loaded.suite.rubrics.at(expectation.judge->rubric).id, rubric);
  };
  expect(0, MetricId::faithfulness, "faithfulness");
  expect(1, MetricId::relevancy, "relevancy");
  expect(2, MetricId::correctness, "correctness");
  expect(3, MetricId::rubric, "rubric");
  expect(5, MetricId::context_recall, "context_recall");
  expect(6, MetricId::context_relevance, "context_relevance");
  EXPECT_EQ(test.expectations[0].min_score, 0.85);
  EXPECT_EQ(test.expectations[0].judge->samples, 5u);
  EXPECT_EQ(test.expectations[1].min_score, std::nullopt);
  EXPECT_EQ(test.expectations[1].judge->samples, std::nullopt);
  EXPECT_EQ(test.expectations[1].thresholding.max_drop, 0.1);
  EXPECT_EQ(test.expectations[2].judge->reference, "the\nright one");
  EXPECT_EQ(test.expectations[2].judge->criteria, "");
  EXPECT_EQ(test.expectations[3].judge->criteria, "Is polite.");
  EXPECT_FALSE(test.expectations[4].judge);
  EXPECT_EQ(loaded.suite.rubrics.size(), 6u);
  EXPECT_EQ(loaded.suite.metrics, (std::vector{MetricId::must_contain, MetricId::faithfulness,
                                               MetricId::relevancy, MetricId::correctness, MetricId::rubric,
                                               MetricId::context_recall, MetricId::context_relevance}));
}

TEST_F(JudgeSuite, ReadsBackFromJsonLinesWhatYamlWouldGive) {
  write_rubric("tone", "v1");
  const std::string test =
      R"("input": {"prompt": "p", "context": "c"}, "expected": [{"type": "faithfulness", "samples": 1},)"
      R"( {"type": "correctness", "reference": "r", "min_score": 0.5}, {"type": "rubric", "rubric": "tone"}]})";
  const std::string other = R"({"id": "b", "input": {"prompt": "p"}, "expected": {"type": "relevancy"}})";
  write("l.jsonl", other + "\n{\"id\": \"a\", " + test + "\n");
  const LoadedSuite lines = load("suite: s\nrubrics: r\ntests_file: l.jsonl\n");
  const LoadedSuite yaml =
      load("suite: s\nrubrics: r\ntests:\n- " + other + "\n- {\"id\": \"a\", " + test + "\n");
  EXPECT_EQ(lines.suite.rubrics, yaml.suite.rubrics);
  EXPECT_EQ(lines.suite.content_fingerprint, yaml.suite.content_fingerprint);
  const auto wanted = (*yaml.suite.cases.read(0))->expectations;
  std::vector<std::jthread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const auto read = lines.suite.cases.read(0);
        EXPECT_TRUE(read && (*read)->expectations == wanted);
      }
    });
  }
}

TEST_F(JudgeSuite, TextsStandThereExactlyIfTheRubricShowsThem) {
  write_rubric("tone", "v1");
  write_rubric("tone", "v2", "{{criteria}} {{reference}} {{answer}}");
  write_rubric("relevancy", "by-reference", "{{reference}} {{answer}}");
  const LoadedSuite loaded = load(with_rubrics("type: rubric, rubric: tone, criteria: c, reference: r"));
  EXPECT_EQ(first_case(loaded).expectations[0].judge->criteria, "c");
  EXPECT_EQ(first_case(loaded).expectations[0].judge->reference, "r");
  EXPECT_EQ(first_case(load(with_rubrics("type: relevancy, reference: r"))).expectations[0].judge->reference,
            "r");
  const std::vector<Bad> bad{
      {"type: correctness",
       "missing \"reference\" in expected: expected the text that correctness v1 shows as {{reference}}"},
      {"type: rubric",
       "missing \"criteria\" in expected: expected the text that rubric v1 shows as {{criteria}}"},
      {"type: correctness, reference: ' '", "\"reference\" in expected must not be empty"},
      {"type: rubric, criteria: ''", "\"criteria\" in expected must not be empty"},
      {"type: rubric, criteria: 1",
       "\"criteria\" in expected must be a string, not a whole number (put it in quotes)"},
      {"type: faithfulness, reference: r",
       "\"reference\" in expected has no effect: faithfulness v1 does not show {{reference}}"},
      {"type: rubric, rubric: tone, rubric_version: v1, criteria: c",
       "\"criteria\" in expected has no effect: tone v1 does not show {{criteria}}"},
      {"type: rubric, rubric: tone, criteria: c",
       "missing \"reference\" in expected: expected the text that tone v2 shows as {{reference}}"},
  };
  for (const Bad& one : bad) {
    EXPECT_EQ(findings(with_rubrics(one.keys)), "suite.yaml:7: " + one.finding + "\n") << one.keys;
  }
}

TEST_F(JudgeSuite, WrongKeysAreNamedWithTheRightOnes) {
  write_rubric("tone", "v1");
  write_rubric("correctness", "blind");
  const std::vector<Bad> bad{
      {"type: relevancy, threshold: 0.5", "\"threshold\" in expected is called \"min_score\""},
      {"type: semantic_similarity_to, text: a, threshold: 0.5",
       "\"threshold\" in expected is called \"min_score\""},
      {"type: relevancy, min_score: 1.5", "\"min_score\" in expected must be from 0 to 1, not 1.5"},
      {"type: relevancy, samples: 0", "\"samples\" in expected must be from 1 to 99, not 0"},
      {"type: relevancy, samples: 100", "\"samples\" in expected must be from 1 to 99, not 100"},
      {"type: relevancy, samples: 2.5", "\"samples\" in expected must be a whole number, not a number"},
      {"type: relevancy, samples: -1", "\"samples\" in expected must not be negative"},
      {"type: relevancy, rubric_version: v7",
       "\"rubric_version\" in expected names \"v7\", which the rubric \"relevancy\" does not have; it has "
       "\"v1\""},
      {"type: correctness, reference: r, rubric_version: v2",
       "\"rubric_version\" in expected names \"v2\", which the rubric \"correctness\" does not have; it has "
       "\"v1\" and \"blind\""},
      {"type: correctness, reference: r",
       "\"type\" in expected is judged by correctness blind (r/correctness/blind.toml), which does not show "
       "{{reference}}: correctness is agreement with it"},
      {"type: relevancy, rubric_version: 1",
       "\"rubric_version\" in expected must be a string, not a whole number (put it in quotes)"},
      {"type: rubric, rubric: tones",
       "\"rubric\" in expected names the rubric \"tones\", which there is not; there are "
       "\"context_recall\", \"context_relevance\", \"correctness\", \"faithfulness\", \"relevancy\", "
       "\"rubric\" and \"tone\"; did you mean \"tone\"?"},
      {"type: relevancy, rubric: tone",
       "\"rubric\" in expected belongs to the metric rubric: relevancy is judged by the rubric of its own "
       "name, and \"rubric_version\" names one of its versions"},
      {"type: relevancy, text: a",
       "\"text\" in expected does not belong to relevancy, which takes \"rubric_version\" and \"samples\""},
      {"type: must_contain, text: a, samples: 3",
       "\"samples\" in expected does not belong to must_contain, which takes \"text\""},
      {"type: relevancy, sample: 3", "unknown key \"sample\" in expected; did you mean \"samples\"?"},
  };
  for (const Bad& one : bad) {
    EXPECT_EQ(findings(with_rubrics(one.keys)), "suite.yaml:7: " + one.finding + "\n") << one.keys;
  }
}

TEST_F(JudgeSuite, FaithfulnessNeedsAContextWhereItsRubricShowsIt) {
  const std::string faithful = "      {type: faithfulness}\n";
  const std::string wanted = "the text that faithfulness v1 shows as {{context}}";
  EXPECT_EQ(findings(expecting(faithful, "{prompt: p}")),
            "suite.yaml:5: missing \"context\" in input: expected " + wanted +
                ", here or as \"context\" of the metric\n");
  EXPECT_EQ(findings(expecting(faithful, "{prompt: p, context: ['', ' ']}")),
            "suite.yaml:5: \"context\" in input must not be empty: it is " + wanted + "\n");
  EXPECT_EQ(
      findings(expecting(faithful, "{prompt: p, context: 1}")),
      "suite.yaml:5: \"context\" in input must be a string or a list of strings, not a whole number (put "
      "it in quotes)\n");
  EXPECT_EQ(findings(expecting("      {type: rubric, criteria: c}\n", "{prompt: p}")), "(none)\n");
  write_rubric("faithfulness", "by-prompt", "{{prompt}} {{answer}}");
  EXPECT_EQ(findings(expecting(faithful, "{prompt: p}", "rubrics: r\n")), "(none)\n");
}

TEST_F(JudgeSuite, WhatJudgesTheContextNeedsOne) {
  for (const std::string metric :
       {"{type: context_relevance}", "{type: rubric, rubric: context_relevance}"}) {
    EXPECT_EQ(
        findings(expecting("      " + metric + "\n", "{prompt: p}")),
        "suite.yaml:5: missing \"context\" in input: expected the text that context_relevance v1 shows as "
        "{{context}}, here or as \"context\" of the metric\n")
        << metric;
  }
  const std::string recall = "      {type: context_recall, reference: r}\n";
  EXPECT_EQ(findings(expecting(recall, "{prompt: p, context: c}")), "(none)\n");
  EXPECT_EQ(
      findings(expecting("      {type: context_recall}\n", "{prompt: p, context: c}")),
      "suite.yaml:7: missing \"reference\" in expected: expected the text that context_recall v1 shows as "
      "{{reference}}\n");
  write_rubric("context_recall", "alone", "{{context}}");
  EXPECT_EQ(
      findings(expecting("      {type: context_recall}\n", "{prompt: p, context: c}", "rubrics: r\n")),
      "suite.yaml:7: \"type\" in expected is judged by context_recall alone (r/context_recall/alone.toml), "
      "which does not show {{reference}}: context_recall is how much of it the context holds\n");
}

// The context of a retrieval stands wherever the prompt's template puts it.
TEST_F(JudgeSuite, AMetricMayHaveAContextOfItsOwn) {
  const Case one = first_case(load(expecting(R"(
      - {type: faithfulness, context: ["Refunds take", five days.]}
      - {type: rubric, criteria: c, context: Orders.}
)",
                                             "{prompt: p}")));
  EXPECT_EQ(one.context, "");
  EXPECT_EQ(one.expectations.at(0).judge->context, "Refunds take\n\nfive days.");
  EXPECT_EQ(one.expectations.at(1).judge->context, "Orders.");
  const LoadedSuite rendered = load(
      "suite: s\nprompts: ['By {{context}}: {{query}}']\ntests:\n- id: t\n"
      "  vars: {query: When?, context: In May.}\n"
      "  expected: {type: faithfulness, context: ['{{context}}', 'Or: {{query}}']}\n");
  EXPECT_EQ(first_case(rendered).expectations.at(0).judge->context, "In May.\n\nOr: When?");
  const std::vector<Bad> bad{
      {"type: faithfulness, context: ' '", "\"context\" in expected must not be empty"},
      {"type: faithfulness, context: []", "\"context\" in expected must not be empty"},
      {"type: faithfulness, context: 1",
       "\"context\" in expected must be a string or a list of strings, not a whole number (put it in "
       "quotes)"},
      {"type: relevancy, context: c",
       "\"context\" in expected has no effect: relevancy v1 does not show {{context}}"},
  };
  for (const Bad& wrong : bad) {
    EXPECT_EQ(findings(expecting("      {" + wrong.keys + "}\n", "{prompt: p}")),
              "suite.yaml:7: " + wrong.finding + "\n")
        << wrong.keys;
  }
}

TEST_F(JudgeSuite, AJudgeDoesNotGoWithClaimsAndStandsOnceInATest) {
  EXPECT_EQ(
      findings(expecting("      - {type: claims_f1}\n      - {type: relevancy}\n", "{prompt: p}")),
      "suite.yaml:8: \"type\" in expected[1] cannot be relevancy here: claims metrics and metrics of the "
      "answer's text need a test each\n");
  EXPECT_EQ(findings(expecting("      - {type: relevancy}\n      - {type: relevancy}\n", "{prompt: p}")),
            "suite.yaml:8: \"type\" in expected[1] relevancy stands in the test already (line 7): give each "
            "a \"name\", such as \"name\": \"tone\", to tell their scores apart\n");
}

TEST_F(JudgeSuite, ScoresOfOneMetricAreToldApartByTheirNames) {
  const std::string polite = "      - {type: rubric, criteria: is polite}\n";
  const std::string brief = "      - {type: rubric, name: brief, criteria: is brief, min_score: 0.9}\n";
  const LoadedSuite loaded = load(expecting(polite + brief, "{prompt: p}"));
  const Case test = first_case(loaded);
  ASSERT_EQ(test.expectations.size(), 2u);
  EXPECT_EQ(test.expectations[0].name, "");
  EXPECT_EQ(test.expectations[1].name, "brief");
  EXPECT_EQ(loaded.suite.scores, (std::vector<ScoreId>{{MetricId::rubric}, {MetricId::rubric, "brief"}}));
  const std::string terse = "      - {type: rubric, name: terse, criteria: is brief, min_score: 0.9}\n";
  EXPECT_NE(load(expecting(polite + terse, "{prompt: p}")).suite.content_fingerprint,
            loaded.suite.content_fingerprint);
  EXPECT_EQ(findings(expecting(brief + brief, "{prompt: p}")),
            "suite.yaml:8: \"name\" in expected[1] \"brief\" stands in the test already (line 7): give each "
            "score of rubric a name of its own\n");
  EXPECT_EQ(findings(expecting("      - {type: rubric, name: so brief, criteria: c}\n", "{prompt: p}")),
            "suite.yaml:7: \"name\" in expected[0] must be of letters, digits, \".\", \"_\" and \"-\", at "
            "most 64 of them, not \"so brief\"\n");
  EXPECT_EQ(
      findings(expecting("      - {type: rubric, name: so brief, criteria: c}\n" + polite, "{prompt: p}")),
      findings(expecting("      - {type: rubric, name: so brief, criteria: c}\n", "{prompt: p}")))
      << "it is not taken for one without a name";
}

// The keys of another harness, and a score as reports call it.
TEST_F(JudgeSuite, SaysWhatTheNameOfAScoreIsCalled) {
  const std::string other = findings(expecting("      - {type: rubric, metric: tone, criteria: c}\n"));
  EXPECT_NE(other.find("unknown key \"metric\" in expected[0]; a score is told apart by \"name\""),
            std::string::npos)
      << other;
  EXPECT_EQ(findings(expecting("      - {type: 'rubric:tone', criteria: c}\n")),
            "suite.yaml:7: \"type\" in expected[0] is \"rubric:tone\", as reports call a score: write type: "
            "rubric, name: tone\n");
}

TEST_F(JudgeSuite, ASuiteHasSoManyNamesOfScores) {
  const auto of = [](std::size_t names) {
    std::string tests = "suite: s\ntests:\n";
    for (std::size_t i = 0; i < names; ++i) {
      const std::string number = std::to_string(i);
      tests += "  - {id: t" + number + ", input: {prompt: p}, expected: {type: rubric, name: n" + number +
               ", criteria: c}}\n";
    }
    return tests;
  };
  EXPECT_EQ(findings(of(defaults::max_score_names)), "(none)\n");
  const std::string first =
      "suite.yaml:" + std::to_string(defaults::max_score_names + 3) + ": a suite has at most ";
  EXPECT_TRUE(findings(of(defaults::max_score_names + 2)).starts_with(first))
      << findings(of(defaults::max_score_names + 2));
}

TEST_F(JudgeSuite, IsThresholdedLikeEveryScoredMetric) {
  const std::string relevancy = "      type: relevancy\n";
  const std::string absolute = "settings: {thresholding: {mode: absolute}}\n";
  EXPECT_EQ(findings(expecting(relevancy, "{prompt: p}", absolute)),
            "suite.yaml:7: \"type\" in expected has the mode \"absolute\" and no \"min_score\", here or in "
            "settings.thresholding\n");
  EXPECT_EQ(findings(expecting(relevancy + "      min_score: 0.7\n", "{prompt: p}", absolute)), "(none)\n");
  EXPECT_EQ(
      findings(expecting(relevancy + "      thresholding: {mode: relative, min_score: 0.5}\n")),
      "suite.yaml:8: \"min_score\" in thresholding has no effect with the mode \"relative\", which takes "
      "\"max_drop\" and \"min_floor\"\n");
}

TEST_F(JudgeSuite, NamesWhatIsWrongInJsonLinesByLine) {
  write("l.jsonl",
        "\n{\"id\":\"a\",\"input\":{\"prompt\":\"p\"},\"expected\":{\"type\":\"faithfulness\",\"threshold\":"
        "1}}\n"
        "{\"id\":\"b\",\"input\":{\"prompt\":\"p\"},\"expected\":{\"type\":\"correctness\"}}\n");
  EXPECT_EQ(findings("suite: s\ntests_file: l.jsonl\n"),
            "l.jsonl:2: \"threshold\" in expected is called \"min_score\"\n"
            "l.jsonl:2: missing \"context\" in input: expected the text that faithfulness v1 shows as "
            "{{context}}, here or as \"context\" of the metric\n"
            "l.jsonl:3: missing \"reference\" in expected: expected the text that correctness v1 shows as "
            "{{reference}}\n");
}

TEST(JudgeExample, TheShippedExampleIsValid) {
  const auto loaded = load_any_suite(support::source_path("docs/examples/judges/suite.yaml"));
  ASSERT_TRUE(loaded) << join_findings(loaded.error());
  EXPECT_EQ(loaded->suite.cases.size(), 5u);
  EXPECT_EQ(loaded->suite.rubrics.size(), 5u);
}

TEST_F(JudgeSuite, TheDocumentedExampleLoads) {
  std::ifstream file(support::source_path("docs/judges.md"), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto begin = text.find("```yaml\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string yaml = text.substr(begin + 8, text.find("```", begin + 8) - begin - 8);
  write("rubrics/tone/v1.toml", rubric_toml("tone", "v1"));
  EXPECT_EQ(load(yaml).suite.cases.size(), 2u);
}

}  // namespace sluice::judge_suite_test
