#include "coordinator/suite/canonical_case.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <string>
#include <vector>

namespace sluice {
namespace {

/// Metrics of the answer, as a suite names them.
class AnswerChecksSuite : public SuiteFiles {
 protected:
  static std::string with_expected(const std::string& expected) {
    return "suite: s\ntests:\n- id: t\n  input: {prompt: p}\n  expected: " + expected + "\n";
  }
  Case first(const std::string& expected) const { return first_case(with_expected(expected)); }
  TextExpectation only(const std::string& expected) const {
    const Case test = first(expected);
    return test.expectations.size() == 1 ? test.expectations[0].what : TextExpectation{};
  }
};

TEST_F(AnswerChecksSuite, AreReadWithTheirParameters) {
  EXPECT_EQ(only("{type: icontains, text: a}"), (TextExpectation{MetricId::icontains, {"a"}}));
  EXPECT_EQ(only("{type: levenshtein, text: a}"), (TextExpectation{MetricId::levenshtein, {"a"}, {5}}));
  EXPECT_EQ(only("{type: not_levenshtein, text: a, max_distance: 0}"),
            (TextExpectation{MetricId::not_levenshtein, {"a"}, {0}}));
  EXPECT_EQ(only("{type: rouge_n, text: [a b, b c d], n: 2, min_score: 0.5}"),
            (TextExpectation{MetricId::rouge_n, {"a b", "b c d"}, {2}}));
  EXPECT_EQ(only("{type: contains_json}"), (TextExpectation{MetricId::contains_json, {"{}"}}));
  EXPECT_EQ(only("{type: contains_json, schema: {type: array}}"),
            (TextExpectation{MetricId::contains_json, {R"({"type":"array"})"}}));
  EXPECT_EQ(only("{type: tool_call, name: f, arguments: {b: 1, a: [x]}}"),
            (TextExpectation{MetricId::tool_call, {"f", R"({"a":["x"],"b":1})"}}));
  EXPECT_EQ(only("{type: tool_calls, calls: [{name: f, arguments: {a: 1}}, {name: g}], order: listed}"),
            (TextExpectation{MetricId::tool_calls, {"f", R"({"a":1})", "g", "{}"}, {1}}));
  EXPECT_EQ(only("{type: not_tool_calls, calls: [{name: f}]}"),
            (TextExpectation{MetricId::not_tool_calls, {"f", "{}"}, {0}}));
  EXPECT_TRUE(checks_all_calls(only("{type: tool_calls, calls: [{name: f}]}")));
  EXPECT_EQ(only("{type: not_tool_call}"), (TextExpectation{MetricId::not_tool_call, {}}));
  EXPECT_TRUE(checks_all_calls(only("{type: all_of, of: [{type: not_tool_call}]}")));
  EXPECT_FALSE(checks_all_calls(only("{type: all_of, of: [{type: not_tool_call, name: f}]}")));
  EXPECT_EQ(only("{type: latency, max_ms: 200}"), (TextExpectation{MetricId::latency, {}, {200}}));
  EXPECT_EQ(only("{type: not_cost, max_dollars: 0.01}"), (TextExpectation{MetricId::not_cost, {}, {0.01}}));
}

TEST_F(AnswerChecksSuite, ARefusalTakesNoParameter) {
  EXPECT_EQ(only("{type: refusal}"), (TextExpectation{MetricId::refusal}));
  EXPECT_EQ(only("{type: not-refusal}"), (TextExpectation{MetricId::not_refusal}));
  EXPECT_TRUE(is_complete(only("{type: refusal}")));
  EXPECT_TRUE(load(with_expected("{type: all_of, of: [{type: not_refusal}]}")).suite.takes_non_answers);
  EXPECT_FALSE(load(with_expected("{type: icontains, text: a}")).suite.takes_non_answers);
  EXPECT_TRUE(load(with_expected("{type: any_of, of: [{type: equals, text: ' '}]}")).suite.takes_non_answers);
  EXPECT_FALSE(load(with_expected("{type: not_equals, text: ''}")).suite.takes_non_answers);
  EXPECT_NE(findings(with_expected("{type: refusal, text: no}"))
                .find("does not belong to refusal, which takes no parameter"),
            std::string::npos);
}

TEST_F(AnswerChecksSuite, GroupsHoldOthersWithTheirWeights) {
  const TextExpectation group = only(
      "{type: all_of, pass_mark: 0.5, of: [{type: icontains, text: a, weight: 3}, {type: rouge-n, text: b, "
      "min_score: "
      "0.4}, {type: any_of, of: [{type: cost, max_dollars: 1}]}]}");
  TextExpectation first_part{MetricId::icontains, {"a"}};
  first_part.weight = 3;
  const TextExpectation cost{MetricId::cost, {}, {1}};
  const TextExpectation expected{
      MetricId::all_of,
      {},
      {0.5},
      1.0,
      {first_part, {MetricId::rouge_n, {"b"}, {1, 0.4}}, {MetricId::any_of, {}, {1}, 1.0, {cost}}}};
  EXPECT_EQ(group, expected);
  EXPECT_TRUE(load(with_expected("{type: any_of, of: [{type: cost, max_dollars: 1}]}")).suite.checks_costs);
  EXPECT_FALSE(load(with_expected("{type: any_of, of: [{type: icontains, text: a}]}")).suite.checks_costs);
}

TEST_F(AnswerChecksSuite, TextsInGroupsAreTemplates) {
  const LoadedSuite loaded = load(
      "suite: s\ntests:\n- id: t\n  vars: {word: Paris}\n  input: {prompt: p}\n"
      "  expected: {type: any_of, of: [{type: icontains, text: '{{word}}'}]}\n");
  ASSERT_EQ(loaded.suite.cases.size(), 1u);
  EXPECT_EQ((*loaded.suite.cases.read(0))->expectations[0].what.parts[0].texts,
            std::vector<std::string>{"Paris"});
}

TEST_F(AnswerChecksSuite, WordsOfReferencesAreCountedOnceTheyAreRendered) {
  const auto with = [](const std::string& word) {
    return "suite: s\ndefault_test: {expected: {type: rouge_n, n: 2, min_score: 0.5, text: '{{word}}'}}\n"
           "tests:\n- id: t\n  vars: {word: " +
           word + "}\n  input: {prompt: p}\n";
  };
  EXPECT_EQ(load(with("two words")).suite.cases.size(), 1u);
  EXPECT_NE(findings(with("one")).find("must have at least \"n\" words, 2 here: \"one\" has 1"),
            std::string::npos)
      << findings(with("one"));
}

TEST_F(AnswerChecksSuite, NamesOfOtherHarnessesAreTaken) {
  const auto metric = [&](const std::string& type, const std::string& rest) {
    return only("{type: " + type + ", " + rest + "}").metric;
  };
  for (const auto& [name, id] : std::vector<std::pair<std::string, MetricId>>{
           {"contains", MetricId::must_contain},
           {"contains-all", MetricId::must_contain},
           {"contains-any", MetricId::contains_any},
           {"not-contains", MetricId::must_not_contain},
           {"icontains-all", MetricId::icontains},
           {"icontains-any", MetricId::icontains_any},
           {"not-icontains", MetricId::not_icontains},
           {"not-icontains-any", MetricId::not_icontains_any},
           {"starts-with", MetricId::starts_with},
           {"not-starts-with", MetricId::not_starts_with},
           {"equals", MetricId::exact_match},
           {"not-equals", MetricId::not_exact_match},
           {"similar", MetricId::semantic_similarity_to},
       }) {
    EXPECT_EQ(metric(name, "text: a"), id) << name;
  }
  EXPECT_EQ(metric("regex", "pattern: a"), MetricId::regex_match);
  EXPECT_EQ(metric("not-regex", "pattern: a"), MetricId::regex_not_match);
  EXPECT_EQ(only("{type: is-json}"), (TextExpectation{MetricId::json_schema, {"{}"}}));
  EXPECT_EQ(only("{type: not-is-json}"), (TextExpectation{MetricId::not_json_schema, {"{}"}}));
}

TEST_F(AnswerChecksSuite, EachParameterChangesTheFingerprint) {
  const auto of = [&](const std::string& expected) { return case_fingerprints(first(expected)).whole; };
  EXPECT_EQ(of("{type: contains, text: a}"), of("{type: must_contain, text: a}"));
  EXPECT_NE(of("{type: levenshtein, text: a}"), of("{type: levenshtein, text: a, max_distance: 4}"));
  EXPECT_NE(of("{type: tool_call, name: f}"), of("{type: tool_call, name: f, arguments: {a: 1}}"));
  const std::string group = "{type: all_of, of: [{type: icontains, text: a";
  EXPECT_NE(of(group + "}]}"), of(group + ", weight: 2}]}"));
  EXPECT_NE(of(group + "}]}"), of(group + "}], pass_mark: 0.5}"));
  EXPECT_EQ(of(group + "}, {type: icontains, text: b}]}"),
            of("{type: all_of, of: [{type: icontains, text: b}, {type: icontains, text: a}]}"))
      << "their order says nothing";
}

// A slip in the name passed: nothing calls what is not there.
TEST_F(AnswerChecksSuite, ToolsThatAreNamedAreThoseOfTheTest) {
  const auto with_tools = [](const std::string& tools, const std::string& expected) {
    return "suite: s\ntests:\n- id: t\n  input: {prompt: p" + tools + "}\n  expected:\n  - " + expected +
           "\n";
  };
  const std::string tools = ", tools: [{name: delete_account}, {type: function, function: {name: notify}}]";
  for (const char* fine : {"{type: not_tool_call, name: delete_account}", "{type: tool_call, name: notify}"})
    EXPECT_EQ(findings(with_tools(tools, fine)), "(none)\n") << fine;
  EXPECT_EQ(findings(with_tools("", "{type: not_tool_call, name: delet_account}")), "(none)\n")
      << "an application has tools of its own";
  const std::string none = "which is none of the \"tools\" in the test's input";
  EXPECT_EQ(findings(with_tools(tools, "{type: not_tool_call, name: delet_account}")),
            "suite.yaml:6: \"name\" in expected[0] is \"delet_account\", " + none +
                "; did you mean \"delete_account\"?\n");
  EXPECT_EQ(findings(with_tools(tools, "{type: all_of, of: [{type: tool_call, name: pay}]}")),
            "suite.yaml:6: \"name\" in expected[0].of[0] is \"pay\", " + none +
                "; these are delete_account, notify\n");
  EXPECT_NE(findings(with_tools(tools, "{type: not_tool_call, name: pay}")), "(none)\n");
  EXPECT_EQ(findings(with_tools(tools, "{type: tool_calls, calls: [{name: notify}, {name: notifi}]}")),
            "suite.yaml:6: \"name\" in expected[0].calls[1] is \"notifi\", " + none +
                "; did you mean \"notify\"?\n");
  EXPECT_EQ(findings(with_tools(tools,
                                "{type: any_of, of: [{type: tool_call, name: pay}, {type: tool_call, "
                                "name: notify}]}")),
            "(none)\n")
      << "a suite's tests may have different tools";
  EXPECT_NE(findings(with_tools(tools, "{type: any_of, of: [{type: tool_call, name: notifi}]}")), "(none)\n");
  EXPECT_EQ(findings(with_tools(", tools: []", "{type: tool_call}")).find("none of"), std::string::npos);
}

std::string with_refund(const std::string& expected, const std::string& parameters = "") {
  return "suite: s\ntests:\n- id: t\n  input:\n    prompt: p\n    tools:\n    - name: refund\n      "
         "parameters: " +
         (parameters.empty() ? "{type: object, required: [amount], properties: {amount: {type: number}, "
                               "reason: {type: string, enum: [late, damaged]}}}"
                             : parameters) +
         "\n  expected: " + expected + "\n";
}

// Such a check passed whatever was called.
TEST_F(AnswerChecksSuite, ArgumentsAreSuchAsTheToolTakes) {
  for (const char* fine :
       {"{type: not_tool_call, name: refund, arguments: {amount: 100}}",
        "{type: tool_call, name: refund, arguments: {reason: late}}", "{type: tool_call, name: refund}"})
    EXPECT_EQ(findings(with_refund(fine)), "(none)\n") << fine;
  EXPECT_EQ(findings(with_refund("{type: not_tool_call, name: refund, arguments: {amount: '100'}}")),
            "suite.yaml:9: \"arguments\" in expected are none that the \"parameters\" of refund take: "
            "{\"amount\":\"100\"} does not fit the schema at /amount: Value type not permitted by 'type' "
            "constraint\n");
  for (const char* slip : {"{type: not_tool_call, name: refund, arguments: {amuont: 100}}",
                           "{type: not_tool_call, name: refund, arguments: {reason: LATE}}",
                           "{type: any_of, of: [{type: tool_call, name: refund, arguments: {amuont: 1}}]}"}) {
    EXPECT_NE(findings(with_refund(slip)).find("are none that the \"parameters\" of refund take: "),
              std::string::npos)
        << slip;
  }
  EXPECT_EQ(findings(with_refund("{type: not_tool_call, name: refund, arguments: {amuont: 100}}",
                                 "{properties: {amount: {}}, additionalProperties: true}")),
            "(none)\n");
}

TEST_F(AnswerChecksSuite, ParametersOfToolsAreSchemas) {
  EXPECT_EQ(findings(with_refund("{type: not_tool_call}", "{type: objekt}")),
            "suite.yaml:8: \"parameters\" in input.tools[0] cannot be used: the schema is wrong at /type: "
            "\"objekt\" "
            "is no type; did you mean \"object\"?\n");
  EXPECT_EQ(findings(with_refund("{type: tool_call, name: refund, arguments: {a: 1}}", "{requird: [a]}")),
            "suite.yaml:8: \"parameters\" in input.tools[0] cannot be used: the schema is wrong at the root: "
            "\"requird\" is no keyword; did you mean \"required\"?\n");
  const std::string later = "{patternProperties: {'^x': {}}}";
  EXPECT_EQ(findings(with_refund("{type: not_tool_call}", later)), "(none)\n") << "the provider may know it";
  EXPECT_EQ(findings(with_refund("{type: tool_calls_valid}")), "(none)\n");
  EXPECT_EQ(findings(with_refund("{type: tool_calls_valid}", later))
                .find("suite.yaml:9: \"type\" in expected is tool_calls_valid, which cannot use the "
                      "\"parameters\" of "
                      "refund: the schema is wrong at the root: \"patternProperties\" is not supported"),
            0u)
      << findings(with_refund("{type: tool_calls_valid}", later));
  EXPECT_EQ(findings("suite: s\ndefault_test: {expected: {type: tool_calls_valid}}\ntests:\n"
                     "- {id: t, input: {prompt: p}}\n"),
            "(none)\n")
      << "some of the tests may have tools";
}

TEST_F(AnswerChecksSuite, ADefaultTestMayForbidAToolOfOtherTests) {
  const auto with_default = [](const std::string& check) {
    return "suite: s\ndefault_test: {expected: " + check +
           "}\ntests:\n- id: t\n  input: {prompt: p, tools: [{name: delete_account}]}\n"
           "  expected: {type: icontains, text: a}\n"
           "- {id: u, input: {prompt: p}, expected: {type: icontains, text: a}}\n";
  };
  EXPECT_EQ(findings(with_default("{type: not_tool_call, name: pay}")), "(none)\n");
  const std::string of_default =
      ", which is none of the \"tools\" in the test's input (the check is that of default_test); ";
  EXPECT_EQ(findings(with_default("{type: not_tool_call, name: delet_account}")),
            "suite.yaml:4: \"name\" in expected[1] is \"delet_account\"" + of_default +
                "did you mean \"delete_account\"?\n");
  EXPECT_EQ(findings(with_default("{type: tool_call, name: pay}")),
            "suite.yaml:4: \"name\" in expected[1] is \"pay\"" + of_default + "these are delete_account\n");
}

// Beside it stood that a "min_score" was missing, and that there was no "criteria".
TEST_F(AnswerChecksSuite, APartThatCanBeNoneIsOneFinding) {
  EXPECT_EQ(
      findings("suite: s\ntests:\n- id: t\n  input: {prompt: p}\n  expected:\n  - {type: refusal}\n"
               "  - {type: any_of, of: [{type: refusal}, {type: all_of, of: [{type: rubric, criteria: "
               "x}]}]}\n"),
      "suite.yaml:7: \"type\" in expected[1].of[1].of[0] cannot be rubric here: parts are metrics of the "
      "answer that need no model; put it beside the group, as an entry of its own in \"expected\"\n");
}

TEST_F(AnswerChecksSuite, KeysOfPromptfooAreToldTheirNamesHere) {
  const auto of = [&](const std::string& expected) { return findings(with_expected(expected)); };
  const auto called = [](const std::string& other, const std::string& key,
                         const std::string& where = "expected") {
    return "suite.yaml:5: \"" + other + "\" in " + where + " is called \"" + key + "\"\n";
  };
  EXPECT_EQ(of("{type: must_contain, value: a}"), called("value", "text"));
  EXPECT_EQ(of("{type: regex, value: a}"), called("value", "pattern"));
  EXPECT_EQ(of("{type: json_schema, value: {}}"), called("value", "schema"));
  EXPECT_EQ(of("{type: llm-rubric, value: a, threshold: 0.5}"),
            called("value", "criteria") + called("threshold", "min_score"));
  EXPECT_EQ(of("{type: correctness, value: a}"), called("value", "reference"));
  EXPECT_EQ(of("{type: latency, threshold: 5}"), called("threshold", "max_ms"));
  EXPECT_EQ(of("{type: cost, threshold: 5}"), called("threshold", "max_dollars"));
  EXPECT_EQ(of("{type: any_of, of: [{type: rouge_n, value: a, threshold: 0.5}]}"),
            called("value", "text", "expected.of[0]") + called("threshold", "min_score", "expected.of[0]"));
}

TEST_F(AnswerChecksSuite, SaysWhatIsWrong) {
  struct Slip {
    std::string expected;
    std::string finding;
  };
  for (const Slip& slip : std::vector<Slip>{
           {"{type: icontain, text: a}", "is the unknown metric \"icontain\"; did you mean \"icontains\"?"},
           {"{type: not_must_contain, text: a}",
            "is the unknown metric \"not_must_contain\"; did you mean \"must_not_contain\"?"},
           {"{type: not_regex_match, pattern: a}", "did you mean \"regex_not_match\"?"},
           {"{type: regex_match, pattern: ''}", "\"pattern\" in expected must not be empty"},
           {"{type: levenshtein, text: a, max_distance: 1.5}",
            "\"max_distance\" in expected must be a whole number"},
           {"{type: levenshtein, text: a, max_distance: 20000}", "from 0 to 10000"},
           {"{type: rouge_n, text: a, n: 0, min_score: 0.5}", "\"n\" in expected must be"},
           {"{type: rouge_n, text: [a b, a], n: 2, min_score: 0.5}",
            "\"text\" in expected must have at least \"n\" words, 2 here: \"a\" has 1"},
           {"{type: not_any_of, of: [{type: rouge_n, text: '...', min_score: 0.5}]}",
            "\"text\" in expected.of[0] must have at least \"n\" words, 1 here: \"...\" has 0"},
           {"{type: latency}", "missing \"max_ms\""},
           {"{type: latency, max_ms: 0}", "\"max_ms\" in expected must be more than 0"},
           {"{type: not_latency, max_ms: 0}", "\"max_ms\" in expected must be more than 0"},
           {"{type: cost, max_dollars: -1}", "\"max_dollars\" in expected"},
           {"{type: tool_call, arguments: {a: 1}}",
            "\"arguments\" in expected need the \"name\" of the tool that is called with them"},
           {"{type: tool_calls}", "missing \"calls\""},
           {"{type: tool_calls, calls: []}", "\"calls\" in expected must not be empty"},
           {"{type: tool_calls, calls: [f]}", "calls[0] must be a mapping such as {\"name\": \"look_up\"}"},
           {"{type: tool_calls, calls: [{}]}", "missing \"name\" in expected.calls[0]"},
           {"{type: tool_calls, calls: [{name: f, args: {}}]}", "unknown key \"args\" in expected.calls[0]"},
           {"{type: tool_calls, calls: [{name: f}], order: strict}",
            "\"order\" in expected must be \"any\" or \"listed\""},
           {"{type: tool_calls, name: f}", "\"name\" in expected does not belong to tool_calls"},
           {"{type: tool_calls_valid, name: f}",
            "\"name\" in expected does not belong to tool_calls_valid, which takes no parameters"},
           {"{type: tool_calls_valid}",
            "\"type\" in expected is tool_calls_valid, and the test's input has no \"tools\" that calls "
            "could "
            "be held against"},
           {"{type: icontains, text: a, max_ms: 3}",
            "\"max_ms\" in expected does not belong to icontains, which takes "
            "\"text\""},
           {"{type: any_of, of: []}", "\"of\" in expected must not be empty"},
           {"{type: any_of, of: [{type: correctness, reference: a}]}",
            "\"type\" in expected.of[0] cannot be correctness here: parts are metrics of the answer that "
            "need no "
            "model; put it beside the group, as an entry of its own in \"expected\"\n"},
           {"{type: any_of, of: [{type: rouge_n, text: a}]}", "missing \"min_score\" in expected.of[0]"},
           {"{type: any_of, of: [{type: icontains, text: a, weight: 0}]}",
            "\"weight\" in expected.of[0] must be more than 0"},
           {"{type: any_of, pass_mark: 0.5, of: [{type: icontains, text: a}]}",
            "\"pass_mark\" in expected does not belong to any_of"},
           {"{type: any_of, of: [{type: any_of, of: [{type: any_of, of: [{type: any_of, of: [{type: any_of, "
            "of: "
            "[{type: icontains, text: a}]}]}]}]}]}",
            "nests deeper than 4 groups"},
           {"{type: icontains, text: a, weight: 2}", "unknown key \"weight\""},
       }) {
    const std::string said = findings(with_expected(slip.expected));
    EXPECT_NE(said.find(slip.finding), std::string::npos) << slip.expected << "\n" << said;
  }
}

}  // namespace
}  // namespace sluice
