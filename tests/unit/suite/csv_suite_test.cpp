// Tests of a suite as rows of a table: its columns, its checks, and what is wrong with either.

#include "tests/unit/suite/matrix_suite.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {
namespace {

class CsvSuite : public MatrixSuite {
 protected:
  /// What each judge score asks, and what it is called.
  static std::string scores_of(const LoadedSuite& loaded) {
    std::string scores;
    for (std::size_t i = 0; i < loaded.suite.cases.size(); ++i) {
      for (const Expectation& one : (*loaded.suite.cases.read(i))->expectations) {
        if (one.judge) scores += one.judge->criteria + ' ' + score_text(one.what.metric, one.name) + '\n';
      }
    }
    return scores;
  }
};

TEST_F(CsvSuite, ReadsTestsFromCsv) {
  write("data/capitals.csv",
        "country,note,__expected,__expected2,__description,__id,__category\r\n"
        "France,\"big, old\",contains: Paris,not-contains: Rome,The first,fr,europe\r\n"
        "\r\n"
        "Peru,,Lima,,,,\r\n");
  const LoadedSuite loaded = load(std::string(capitals_prompts) + "tests_file: data/capitals.csv\n");
  EXPECT_EQ(cases(loaded),
            "capitals-2 [Capital of Peru?] exact_match Lima\n"
            "fr [Capital of France?] must_contain Paris must_not_contain Rome\n");
  const auto first = *loaded.suite.cases.read(1);
  EXPECT_EQ(first->name, "The first");
  EXPECT_EQ(first->category, "europe");
  EXPECT_EQ(first->line, 2u);
  EXPECT_EQ(first->source, "data/capitals.csv");
}

// The column was a variable that no check looked at, and the check asked for an input.context.
TEST_F(CsvSuite, ChecksOfCsvJudgeByTheColumnContext) {
  const std::string checks =
      "__expected,__expected2,__expected3\nFrance,#context-faithfulness(0.8),context-recall: "
      "Paris,context-relevance\n";
  const auto of = [&](std::string csv, const std::string& context, const std::string& keys) {
    csv.replace(csv.find('#'), 1, context);
    write("t.csv", "country," + csv);
    const auto first = load(std::string(capitals_prompts) + keys + "tests_file: t.csv\n").suite.cases.read(0);
    std::string contexts;
    for (const Expectation& one : (*first)->expectations) contexts += one.judge->context + "|";
    return contexts;
  };
  EXPECT_EQ(of("context," + checks, "Paris is it.,", ""), "Paris is it.|Paris is it.|Paris is it.|");
  EXPECT_EQ(of(checks, "", "default_test: {vars: {context: Of all.}}\n"), "Of all.|Of all.|Of all.|");
  EXPECT_EQ(of(checks, "", "default_test: {input: {context: Sent.}}\n"), "|||") << "input.context is shown";
}

TEST_F(CsvSuite, TakesMetadataOfCsvAsTagsAndAThresholdAsAPassMark) {
  write("t.csv",
        "country,__expected,__expected2,__threshold,__metadata:area,__metadata:uses[]\n"
        "France,contains: Paris,contains: river,0.5,europe,\"fast, a\\,b\"\n"
        "Peru,Lima,,,,\n"
        "Chile,contains: Santiago,contains: river,0,,\n");
  const LoadedSuite loaded = load(std::string(capitals_prompts) + "tests_file: t.csv\n");
  const auto first = *loaded.suite.cases.read(0);
  EXPECT_EQ(first->tags, (std::vector<std::string>{"area:europe", "uses:fast", "uses:a,b"}));
  ASSERT_EQ(first->expectations.size(), 1u);
  const TextExpectation& group = first->expectations[0].what;
  EXPECT_EQ(group.metric, MetricId::all_of);
  EXPECT_EQ(group.numbers, std::vector<double>{0.5});
  EXPECT_EQ(group.parts.size(), 2u);
  const auto second = *loaded.suite.cases.read(1);
  EXPECT_TRUE(second->tags.empty());
  EXPECT_EQ(second->expectations.at(0).what.metric, MetricId::exact_match);
  const std::size_t prompts = loaded.suite.cases.size() / 3;
  const auto third = *loaded.suite.cases.read(2 * prompts);
  EXPECT_EQ(third->expectations.at(0).what.metric, MetricId::must_contain) << "0 is no threshold";
}

TEST_F(CsvSuite, ReadsColumnsOfCsvThatAreJsonWithTheirTypes) {
  const std::string suite =
      "suite: s\nprompts: ['Send {{n}} of {{code}}: {{note}}']\ntests_file: t.csv\ndefault_test:\n  "
      "expected:\n"
      "  - {type: tool_call, name: send, arguments: {n: '{{n}}', code: '{{code}}', note: '{{note}}'}}\n"
      "  - {type: command, command: [x]}\n";
  write("t.csv", "n:json,code,note:json\n1.50,007,\"\"\"a, b\"\"\"\n");
  const LoadedSuite loaded = load(suite);
  const auto one = loaded.suite.cases.read(0);
  ASSERT_TRUE(one);
  EXPECT_EQ((*one)->content, "Send 1.50 of 007: a, b");
  EXPECT_EQ((*one)->expectations.at(0).what.texts.at(1), R"({"code":"007","n":1.5,"note":"a, b"})");
  EXPECT_EQ((*one)->command_vars, R"({"code":"007","n":1.5,"note":"a, b"})");
  const auto found = [&](const std::string& table) {
    write("t.csv", table);
    return findings(suite);
  };
  EXPECT_EQ(found("n:json,code,note\n1 2,007,x\n"),
            "t.csv:2: the column \"n:json\" must hold JSON, such as 12, true or \"a text\", not \"1 2\"\n");
  EXPECT_NE(found("n:json,code,note\n[1],007,x\n").find("must be a string, a number or a boolean"),
            std::string::npos);
  EXPECT_NE(found("n:json,n,code,note\n1,1,2,x\n").find("the column \"n\" stands twice"), std::string::npos);
  EXPECT_NE(found("n:yaml,code,note\n1,2,x\n").find("cannot be a variable's name"), std::string::npos);
}

TEST_F(CsvSuite, RefusesAThresholdOfCsvThatNoPassMarkCanBe) {
  const auto of = [&](const std::string& row) {
    write("t.csv", "country,__expected,__threshold\n" + row + "\n");
    return findings(std::string(capitals_prompts) + "tests_file: t.csv\n");
  };
  EXPECT_EQ(of("Peru,Lima,most"), "t.csv:2: \"__threshold\" must be a number from 0 to 1, not \"most\"\n");
  EXPECT_EQ(of("Peru,Lima,1.5"), "t.csv:2: \"__threshold\" must be a number from 0 to 1, not \"1.5\"\n");
  EXPECT_EQ(of("Peru,,0.5"), "t.csv:2: \"__threshold\" is of the checks in its row, which has none\n");
  EXPECT_EQ(
      of("Peru,llm-rubric: It is polite,0.5"),
      "t.csv:2: \"__threshold\" is of checks that need no model, and its row has rubric: leave it empty, "
      "so that each check must pass\n");
  write("t.csv", "country,__expected,__metadata:conversationId\nPeru,Lima,1\n");
  EXPECT_EQ(
      findings(std::string(capitals_prompts) + "tests_file: t.csv\n")
          .find("t.csv:1: the column \"__metadata:conversationId\" has no counterpart here: take it out;"),
      0u);
}

// Each was looked for among all before it: 100,000 took more than a minute.
TEST_F(CsvSuite, ReadsManyColumnsInOnePass) {
  std::string names = "country";
  std::string cells = "Peru";
  for (int i = 0; i < 60'000; ++i) {
    names += ",c" + std::to_string(i);
    cells += ",x";
  }
  write("t.csv", names + ",__expected\n" + cells + ",Lima\n");
  EXPECT_EQ(findings(std::string(capitals_prompts) + "tests_file: t.csv\n"), "(none)\n");
}

TEST_F(CsvSuite, SaysWhatIsWrongInCsvWithItsLine) {
  const auto of = [&](const std::string& csv) {
    write("t.csv", csv);
    return findings(std::string(capitals_prompts) + "tests_file: t.csv\n");
  };
  EXPECT_EQ(of(""), "t.csv: the tests file is empty: its first line has the names of the variables\n");
  EXPECT_EQ(of("country\n"), "t.csv:1: there is no row below the names of the variables\n");
  EXPECT_EQ(of("country,country,a b,__prefix\nx,y,z,m\n"),
            "t.csv:1: the column \"country\" stands twice\n"
            "t.csv:1: the column \"a b\" cannot be a variable's name: these are of letters, digits, \"_\", "
            "\"-\" and \".\", and begin with none of the last two\n"
            "t.csv:1: the column \"__prefix\" has no counterpart here: take it out; there are __expected, "
            "__threshold, __metric, __description, __metadata:KEY, __id and __category\n");
  EXPECT_EQ(
      of("country,__expected\nx\nFrance,javascript: 1\nPeru,\nChile,\"contains: a\"\n"),
      "t.csv:2: the row has 1 field, and there are 2 columns: an empty field has its comma, too\n"
      "t.csv:3: \"__expected\" asks for javascript, which has no counterpart (`type: command` runs a program "
      "of yours): docs/suites.md lists what a cell may ask for\n"
      "t.csv:4: missing \"expected\" in the test: expected what the answer is judged by\n");
  EXPECT_EQ(of("country,__expected\nPeru,Lima, or so\n"),
            "t.csv:2: the row has 3 fields, and there are 2 columns: a field with a comma in it stands in "
            "quotes\n");
  EXPECT_EQ(of("country,__expected\nC\xf4te d'Ivoire,Abidjan\n"),
            "t.csv:2: is not valid UTF-8: save it as UTF-8 (`iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW` "
            "converts what "
            "Windows wrote)\n");
  EXPECT_EQ(of("country,__expected\nFrance,contain: Paris\nPeru,Contains: Lima\nChile,Note: x\n"),
            "t.csv:2: \"__expected\" asks for \"contain\", which is no check; did you mean \"contains:\"? A "
            "text that begins so is \"equals: contain: ...\"\n"
            "t.csv:3: \"__expected\" asks for \"Contains\", which is no check; did you mean \"contains:\"? A "
            "text that begins so is \"equals: Contains: ...\"\n");
  // They were texts that no answer equals.
  EXPECT_EQ(of("country,__expected\nFrance,must_contain: Paris\nPeru,tool-calls: f\n")
                .find("t.csv:2: \"__expected\" asks for \"must_contain\", a check of suites in YAML, which "
                      "no cell can ask for"),
            0u);
  EXPECT_NE(of("country,__expected\nPeru,tool-calls: f\n").find("asks for \"tool-calls\", a check of suites"),
            std::string::npos);
  EXPECT_EQ(of("country,__expected\nFrance,latency(abc)\n"),
            "t.csv:2: \"__expected\" asks for \"latency(abc)\", which is no check; did you mean "
            "\"latency(NUMBER)\"? A text that begins so is \"equals: latency(abc)\"\n");
  EXPECT_EQ(of("country;__expected\nFrance;Paris, Lyon\n"),
            "t.csv:1: there is one column, \"country;__expected\": columns stand between commas, not between "
            "semicolons\n");
  EXPECT_EQ(
      of("country\t__expected\nFrance\tParis\n"),
      "t.csv:1: there is one column, \"country\\t__expected\": columns stand between commas, not between "
      "tabs\n");
  EXPECT_EQ(
      of("country,expected\nFrance,Paris\nPeru,Lima\n"),
      "t.csv:1: the column \"expected\" is a variable, and none says what the answers are judged by: call "
      "it \"__expected\"\n");
  write("t.csv", "country,expected\nFrance,Paris\n");
  EXPECT_EQ(
      findings(std::string(capitals_prompts) +
               "default_test: {expected: {type: must_contain, text: '{{expected}}'}}\ntests_file: t.csv\n"),
      "(none)\n");
  EXPECT_EQ(
      of("land,__expected\nFrance,Paris\n"),
      "t.csv:2: the prompt \"short\" (suite.yaml:3) uses {{country}}, which the test's \"vars\" do not "
      "have, only \"land\"\n"
      "t.csv:2: the prompt \"polite\" (suite.yaml:4) uses {{country}}, which the test's \"vars\" do not "
      "have, only \"land\"\n");
  EXPECT_EQ(of("country,__expected\nFrance,\"Par\nis\"\nPeru,\"Li\nma\n"),
            "t.csv:4: the quote that opens a field here is closed by nothing\n");
}

// They were texts that the answer had to equal.
TEST_F(CsvSuite, ACellThatIsNearlyACheckWithoutAValueIsAFinding) {
  const auto of = [&](const std::string& cell) {
    write("t.csv", "country,__expected\nPeru,\"" + cell + "\"\n");
    return findings(std::string(capitals_prompts) + "tests_file: t.csv\n");
  };
  const auto hint = [](const std::string& word, const std::string& meant) {
    return "t.csv:2: \"__expected\" asks for \"" + word + "\", which is no check; did you mean \"" + meant +
           "\"? A text that begins so is \"equals: " + word + "\"\n";
  };
  EXPECT_EQ(of("is-jason"), hint("is-jason", "is-json"));
  EXPECT_EQ(of("contain-json"), hint("contain-json", "contains-json"));
  EXPECT_EQ(of("contains_json"), hint("contains_json", "contains-json"));
  EXPECT_EQ(of("answer_relevance(0.8)"), hint("answer_relevance(0.8)", "answer-relevance(0.8)"));
  EXPECT_EQ(
      of("not_refusal"),
      "t.csv:2: \"__expected\" asks for \"not_refusal\", a check of suites in YAML, which no cell can ask "
      "for: docs/suites.md lists what a cell may ask for. A text that begins so is \"equals: "
      "not_refusal\"\n");
  EXPECT_NE(of("contains_any: a").find("did you mean \"contains-any:\"?"), std::string::npos)
      << of("contains_any: a");
  for (const char* text :
       {"refusal", "Lima", "equals: is-jason", "must_contain", "faithfulness", "no refusal"})
    EXPECT_EQ(of(text), "(none)\n");
}

// Who took it out lost the checks.
TEST_F(CsvSuite, AMisspeltColumnAboutTheTestIsToldItsName) {
  const auto of = [&](const std::string& column) {
    write("t.csv", "country," + column + "\nPeru,Lima\n");
    const std::string start = "t.csv:1: the column \"" + column + "\" ";
    const std::string found = findings(std::string(capitals_prompts) + "tests_file: t.csv\n");
    return found.starts_with(start) ? found.substr(start.size()) : found;
  };
  const auto meant = [](const std::string& name) { return "is unknown; did you mean \"" + name + "\"?\n"; };
  EXPECT_EQ(of("__expcted"), meant("__expected"));
  EXPECT_EQ(of("__Expected"), meant("__expected"));
  EXPECT_EQ(of("__expcted2"), meant("__expected2"));
  EXPECT_EQ(of("__expected_2"), meant("__expected2"));
  EXPECT_EQ(of("__treshold"), meant("__threshold"));
  EXPECT_EQ(of("__metadta:area"), meant("__metadata:area"));
  EXPECT_EQ(of("__expected100"),
            "is none of those for checks: these are __expected, and __expected1 to __expected99\n");
}

TEST_F(CsvSuite, AColumnInAPatternOfCsvIsAFinding) {
  write("t.csv",
        "country,bad,__expected,__expected2\nFrance,Rome,not-regex: {{bad}},\n"
        "Peru,x,contains: {{bad}},not-regex: {{nothing}}\nChile,x,is-json: s.json,not-contains: {{bad}}\n");
  write("s.json", R"({"const": "{{bad}}"})");
  EXPECT_EQ(
      findings(std::string(capitals_prompts) + "tests_file: t.csv\n"),
      "t.csv:2: \"pattern\" in the column \"__expected\" holds {{bad}}, a variable of the test, which is not "
      "filled in "
      "here: look for its text with \"contains:\" or \"not-contains:\", or write the pattern out; "
      "\\{\\{bad\\}\\} looks for the braces themselves\n"
      "t.csv:4: \"schema\" in the column \"__expected\" names \"s.json\", which holds {{bad}}, a variable of "
      "the test, "
      "which is not filled in here: look for its text with \"contains:\" or \"not-contains:\", or write "
      "the schema out\n");
}

TEST_F(CsvSuite, ScoresOfOneMetricAreCalledByTheirColumns) {
  write("t.csv",
        "country,__expected,__expected2,__expected7\nPeru,grade: polite,Lima,grade: brief\n"
        "Chile,,grade: polite,grade: brief\nFrance,,,grade: brief\n");
  EXPECT_EQ(scores_of(load(std::string(capitals_prompts) + "tests_file: t.csv\n")),
            "polite rubric\nbrief rubric:expected7\n"
            "polite rubric:expected2\nbrief rubric:expected7\n"
            "brief rubric:expected7\n");
}

// A row could not call its score by a name.
TEST_F(CsvSuite, TheColumnMetricNamesTheScoresOfARow) {
  write("t.csv",
        "country,__expected,__expected2,__metric\nPeru,contains: Lima,grade: polite, tone \n"
        "Chile,grade: polite,grade: brief,tone\nFrance,,grade: brief,\n");
  EXPECT_EQ(scores_of(load(std::string(capitals_prompts) + "tests_file: t.csv\n")),
            "polite rubric:tone\n"
            "polite rubric:tone\nbrief rubric:tone-expected2\n"
            "brief rubric\n");
  const auto of = [&](const std::string& row) {
    write("t.csv", "country,__expected,__threshold,__metric\n" + row + "\n");
    return findings(std::string(capitals_prompts) + "tests_file: t.csv\n");
  };
  EXPECT_EQ(
      of("Peru,grade: polite,,Tone of voice"),
      "t.csv:2: \"__metric\" must be of letters, digits, \".\", \"_\" and \"-\", at most 64 of them, not "
      "\"Tone of voice\": such as \"Tone-of-voice\"\n");
  for (const char* row : {"Peru,contains: Lima,,tone", "Peru,rouge-n: Lima,0.5,tone"}) {
    EXPECT_EQ(of(row),
              "t.csv:2: \"__metric\" names the scores among the row's checks, and the row has none: leave it "
              "empty; \"__category\" groups tests\n");
  }
}

TEST_F(CsvSuite, ScoresOfOneColumnARowHaveNoNames) {
  write("t.csv",
        "country,__expected,__expected2,__threshold\nPeru,grade: polite,Lima,\nChile,,grade: brief,\n"
        "France,rouge-n: a b,rouge-n: c d,0.5\n");
  const LoadedSuite loaded = load(std::string(capitals_prompts) + "tests_file: t.csv\n");
  EXPECT_EQ(loaded.suite.cases.size(), 3u);
  EXPECT_EQ(loaded.suite.scores, std::vector{ScoreId{MetricId::rubric}});
}

// They named the metrics by numbers that no table has, and a row as the line of both.
TEST_F(CsvSuite, WhatIsWrongWithACheckOfCsvNamesItsColumn) {
  const auto of = [&](const std::string& cells) {
    write("t.csv", "country,__expected,__expected2,__expected7\n" + cells + "\n");
    return findings(std::string(capitals_prompts) + "tests_file: t.csv\n");
  };
  EXPECT_EQ(
      of("Peru,,regex: (,contains: a").find("t.csv:2: \"pattern\" in the column \"__expected2\" cannot"), 0u);
  EXPECT_NE(
      of("Peru,,regex: a,contains: {{x}}").find("t.csv:2: \"text\" in the column \"__expected7\" uses "),
      std::string::npos);
}

// Each row was said to lack an "input", which none can have.
TEST_F(CsvSuite, ATableWithoutPromptsIsOneFinding) {
  write("t.csv", "country,__expected\nFrance,Paris\nPeru,Lima\nChile,contain: x\n");
  const std::string what =
      "t.csv:1: the rows of a table are asked by the suite's \"prompts\", and it has none: add them, such as "
      "prompts: [\"Capital of {{country}}?\"]\n";
  const std::string other =
      "t.csv:4: \"__expected\" asks for \"contain\", which is no check; did you mean \"contains:\"? A text "
      "that begins so is \"equals: contain: ...\"\n";
  EXPECT_EQ(findings("suite: s\ntests_file: t.csv\n"), what + other);
  EXPECT_EQ(findings("suite: s\ndefault_test: {input: {system: S}}\ntests_file: t.csv\n"), what + other);
}

}  // namespace
}  // namespace sluice
