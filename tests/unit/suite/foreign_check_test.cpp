#include "coordinator/suite/expectations/foreign_check.hpp"

#include "common/checks/pattern.hpp"
#include "common/documents/canonical_json.hpp"
#include "coordinator/suite/documents/json_document.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string json_of(DocumentNode node) {
  return canonical_json(in_order(std::move(node)));
}

std::string cell(const std::string& text) {
  const auto made = expectation_of(parse_foreign_check(text, 7));
  return made ? json_of(*made) : "! " + made.error();
}

struct Row {
  std::string cell;
  std::string expectation;
};

TEST(ForeignChecks, AreExpectationsOfASuite) {
  const std::string opposite =
      R"({"criteria":"The answer must meet nothing of this (1.0 if it meets nothing of it, 0.0 if it meets )"
      R"(all of it, evenly between): \"is polite\"")";
  const std::vector<Row> rows{
      {"Paris", R"({"text":"Paris","type":"exact_match"})"},
      {"Note: it rains", R"({"text":"Note: it rains","type":"exact_match"})"},
      {"equals: Paris", R"({"text":"Paris","type":"exact_match"})"},
      {"contains: Paris", R"({"text":"Paris","type":"must_contain"})"},
      {"contains: {{capital}}", R"({"text":"{{capital}}","type":"must_contain"})"},
      {"contains-all: a, b", R"({"text":["a","b"],"type":"must_contain"})"},
      {"not-contains: Paris", R"({"text":"Paris","type":"must_not_contain"})"},
      {"not-contains-any: a,b", R"({"text":["a","b"],"type":"must_not_contain"})"},
      {"contains-any: a.b, c", R"({"text":["a.b","c"],"type":"contains_any"})"},
      {R"(contains-any: a,"b,c")", R"({"text":["a","b,c"],"type":"contains_any"})"},
      {R"(contains-any: "x, y",z)", R"({"text":["x, y","z"],"type":"contains_any"})"},
      {R"(contains-all: "say ""hi""" , 5" wide)",
       R"({"text":["say \"hi\"","5\" wide"],"type":"must_contain"})"},
      {R"(contains-any: "a)", "! has a quote that nothing closes"},
      {R"(contains-any: "a" b, c)", "! has more behind a closing quote than a comma"},
      {"icontains: a b", R"({"text":"a b","type":"icontains"})"},
      {"icontains: {{capital}}", R"({"text":"{{capital}}","type":"icontains"})"},
      {"icontains-all: a,b", R"({"text":["a","b"],"type":"icontains"})"},
      {"icontains-any: a,b", R"({"text":["a","b"],"type":"icontains_any"})"},
      {"not-icontains: a", R"({"text":"a","type":"not_icontains"})"},
      {"not-icontains-all: a,b", R"({"text":["a","b"],"type":"not_icontains_all"})"},
      {"not-icontains-any: {{a}}", R"({"text":"{{a}}","type":"not_icontains"})"},
      {"not-icontains-any: a.b,c", R"({"text":["a.b","c"],"type":"not_icontains_any"})"},
      {"starts-with: (a", R"({"text":"(a","type":"starts_with"})"},
      {"not-starts-with: {{a}}", R"({"text":"{{a}}","type":"not_starts_with"})"},
      {"regex: ^a+$", R"({"pattern":"^a+$","type":"regex_match"})"},
      {"not-regex: a", R"({"pattern":"a","type":"regex_not_match"})"},
      {"regex: (?<year>\\d+)-", R"({"pattern":"(?<year>\\d+)-","type":"regex_match"})"},
      {"not-equals: a", R"({"text":"a","type":"not_exact_match"})"},
      {"contains-json", R"({"schema":{},"type":"contains_json"})"},
      {"not-contains-json: order.json", R"({"schema":"order.json","type":"not_contains_json"})"},
      {"not-is-json", R"({"schema":{},"type":"not_json_schema"})"},
      {"levenshtein: a", R"({"text":"a","type":"levenshtein"})"},
      {"levenshtein(7): {{a}}", R"({"max_distance":7,"text":"{{a}}","type":"levenshtein"})"},
      {"not-levenshtein(7): a", R"({"max_distance":7,"text":"a","type":"not_levenshtein"})"},
      {"rouge-n(0.5): a b", R"({"min_score":0.5,"text":"a b","type":"rouge_n"})"},
      {"rouge-n: a b", R"({"min_score":0.75,"text":"a b","type":"rouge_n"})"},
      {"not-rouge-n(0.7): a b", R"({"min_score":0.3,"text":"a b","type":"not_rouge_n"})"},
      {"latency(1500)", R"({"max_ms":1500,"type":"latency"})"},
      {"not-latency(1500)", R"({"max_ms":1500,"type":"not_latency"})"},
      {"cost(0.25)", R"({"max_dollars":0.25,"type":"cost"})"},
      {"is-json", R"({"schema":{},"type":"json_schema"})"},
      {"is-json: order.json", R"({"schema":"order.json","type":"json_schema"})"},
      {"similar(0.5): warm", R"({"min_score":0.5,"text":"warm","type":"semantic_similarity_to"})"},
      {"similar: warm", R"({"min_score":0.8,"text":"warm","type":"semantic_similarity_to"})"},
      {"llm-rubric: is polite", R"({"criteria":"is polite","type":"rubric"})"},
      {"g-eval: is polite", R"({"criteria":"is polite","min_score":0.7,"type":"rubric"})"},
      {"g-eval(0.9): is polite", R"({"criteria":"is polite","min_score":0.9,"type":"rubric"})"},
      {"grade: is polite", R"({"criteria":"is polite","type":"rubric"})"},
      {"factuality: It is warm.", R"({"reference":"It is warm.","type":"correctness"})"},
      {"answer-relevance(0.9)", R"({"min_score":0.9,"type":"relevancy"})"},
      {"context-faithfulness", R"({"type":"faithfulness"})"},
      {"context-recall(0.8): It is warm.",
       R"({"min_score":0.8,"reference":"It is warm.","type":"context_recall"})"},
      {"context-recall(0.8)", "! names no value"},
      {"context-relevance(0.5)", R"({"min_score":0.5,"type":"context_relevance"})"},
      {"not-context-relevance(0.5)",
       "! is judged there as without \"not-\": take that out, or ask for the opposite by `llm-rubric`"},
      {"not-factuality: It is warm.",
       "! is judged there as without \"not-\": take that out, or ask for the opposite by `llm-rubric`"},
      {"not-llm-rubric: is polite", opposite + R"(,"type":"rubric"})"},
      {"not-llm-rubric(0.8): is polite", opposite + R"(,"min_score":0.2,"type":"rubric"})"},
      {"not-g-eval: is polite", opposite + R"(,"min_score":0.3,"type":"rubric"})"},
      {"not-llm-rubric(7): is polite", "! has a threshold beyond 0 to 1"},
      {"contains:", "! names no value"},
      {"contains-any: a,,b", "! has an empty value, by which no answer can be judged"},
      {"equals:", R"({"text":"","type":"exact_match"})"},
      {"not-equals:", R"({"text":"","type":"not_exact_match"})"},
      {"llm-rubric: ", "! names no value"},
      {"not-icontains-any: {{a}}, b", R"({"text":["{{a}}","b"],"type":"not_icontains_any"})"},
      {"levenshtein(1.5): a", "! has a threshold that is no whole number from 0 to 10000"},
      {"rouge-n(7): a", "! has a threshold beyond 0 to 1"},
      {"not-rouge-n(7): a", "! has a threshold beyond 0 to 1"},
      {"latency", "! names no threshold"},
      {"cost(1e9)", "! has a threshold that no answer can have"},
      {"cost(0)", R"({"max_dollars":0,"type":"cost"})"},
      {"latency(0)", "! has a threshold that no answer can have"},
      {"not-similar: a",
       "! has no counterpart (a similarity has a lower bound here, and no upper one: `not-llm-rubric` asks a "
       "judge, `command` a program of yours)"},
      {"not-contains-all: a,b", R"({"of":[{"text":["a","b"],"type":"must_contain"}],"type":"not_all_of"})"},
      {"similar(7): a", "! has a threshold beyond 0 to 1"},
      {"similar(nan): Paris", R"({"text":"similar(nan): Paris","type":"exact_match"})"},
      {"not-rouge-n(inf): Rome", R"({"text":"not-rouge-n(inf): Rome","type":"exact_match"})"},
      {"javascript: output.length > 3", "! has no counterpart (`type: command` runs a program of yours)"},
      {"fn: output.length > 3", "! has no counterpart (`type: command` runs a program of yours)"},
      {"tool-call-f1",
       "! has no counterpart (`type: tool_call` checks a tool that the answer calls, and its arguments)"},
      {"agent-rubric: is done", "! has no counterpart"},
      {"python: len(output)", "! has no counterpart (`type: command` runs a program of yours)"},
  };
  for (const Row& row : rows) EXPECT_EQ(cell(row.cell), row.expectation) << row.cell;
}

// An answer that warns and complies, or says "cannot" of something else, must not pass for a refusal.
TEST(ForeignChecks, OfRefusalsKnowTheProvidersOwnAndWordsAtTheBeginning) {
  const auto made = expectation_of(parse_foreign_check("is-refusal", 7));
  ASSERT_TRUE(made) << made.error();
  const auto* parts = std::get_if<DocumentNode::Array>(&find_entry(*made, "of")->value.value);
  ASSERT_TRUE(parts != nullptr && parts->size() == 2);
  EXPECT_EQ(json_of((*parts)[0]), R"({"type":"refusal"})");
  const auto pattern =
      Pattern::compile(std::get<std::string>(find_entry((*parts)[1], "pattern")->value.value));
  ASSERT_TRUE(pattern) << pattern.error().message;
  for (const char* refusal :
       {"I'm sorry, I cannot help with that.", "I’m sorry, but I can’t assist with that request.",
        "Sorry, I can't help you with that.", "I won't do that.",
        "Unfortunately, I am unable to provide it."})
    EXPECT_TRUE(pattern->find(refusal)) << refusal;
  for (const char* answer :
       {"I can't wait to tell you.", "I can't help but tell you.", "Sure. I cannot help with more.",
        "Sorry for the wait! First, mix ...", "As an AI, I know how. First, mix ..."})
    EXPECT_FALSE(pattern->find(answer)) << answer;
  EXPECT_TRUE(cell("not-is-refusal").ends_with(R"("type":"not_any_of"})")) << cell("not-is-refusal");
}

// They were texts that the answer must equal, and said nothing.
TEST(ForeignChecks, CountWordsExactly) {
  const auto pattern_of = [](const DocumentNode& bounds) {
    ForeignCheck check{"word-count", false, {}};
    check.schema = bounds;
    const auto made = expectation_of(check);
    return made ? std::get<std::string>(find_entry(*made, "pattern")->value.value) : "! " + made.error();
  };
  const auto fits = [&](const char* bounds, const std::string& answer) {
    const auto pattern = Pattern::compile(pattern_of(*parse_json(bounds)));
    EXPECT_TRUE(pattern) << bounds;
    return pattern && pattern->find(answer).has_value();
  };
  const std::string three = " one, two\u00a0three\n\v\u2028\ufeff";
  EXPECT_TRUE(fits(R"({"min": 3, "max": 3})", three));
  EXPECT_FALSE(fits(R"({"min": 4})", three));
  EXPECT_TRUE(fits(R"({"min": 3})", three));
  EXPECT_FALSE(fits(R"({"max": 2})", three));
  EXPECT_TRUE(fits(R"({"max": 2})", "")) << "no words are few";
  EXPECT_TRUE(fits(R"({"max": 0})", " \n"));
  EXPECT_FALSE(fits(R"({"min": 1})", " \n"));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "word ";
  EXPECT_TRUE(fits(R"({"min": 1000, "max": 1000})", many));
  EXPECT_FALSE(fits(R"({"max": 1000})", many + "more"));
  EXPECT_TRUE(fits(R"({"min": 1000})", many));
  EXPECT_EQ(pattern_of(*parse_json(R"({"min": 0})")), "! asks for no words, which every answer has");
  EXPECT_EQ(pattern_of(*parse_json(R"({"min": 3, "max": 2})")), "! asks for more words than it allows");
  for (const char* bounds :
       {R"({"max": 1001})", R"({"max": 1.5})", R"({"min": -1})", "{}", R"({"min": "x"})"})
    EXPECT_EQ(pattern_of(*parse_json(bounds)), "! has a value that is no number of words from 0 to 1000")
        << bounds;
}

TEST(ForeignChecks, AreFoundInMisspeltWords) {
  const auto meant = [](const std::string& text) {
    const auto found = misspelt_check(text);
    return found ? found->word + " -> " + found->meant : std::string();
  };
  EXPECT_EQ(meant("contain: Paris"), "contain -> contains:");
  EXPECT_EQ(meant("Contains: Paris"), "Contains -> contains:");
  EXPECT_EQ(meant("contains_any: a, b"), "contains_any -> contains-any:");
  EXPECT_EQ(meant("Not-Contains: a"), "Not-Contains -> not-contains:");
  EXPECT_EQ(meant("not contains: a"), "not contains -> not-contains:");
  EXPECT_EQ(meant("LLM rubric: is kind"), "LLM rubric -> llm-rubric:");
  EXPECT_EQ(meant("similar (0.8): a"), "similar (0.8) -> similar:");
  EXPECT_EQ(meant("is-jsn:"), "is-jsn -> is-json:");
  EXPECT_EQ(meant("latency(abc)"), "latency(abc) -> latency(NUMBER)");
  EXPECT_EQ(meant("not-latency(1,500) "), "not-latency(1,500) -> not-latency(NUMBER)");
  EXPECT_EQ(meant("cost($0.1): cheap"), "cost($0.1) -> cost(NUMBER)");
  EXPECT_EQ(meant("perplexity()"), "perplexity() -> perplexity(NUMBER)");
  EXPECT_EQ(meant("answer-relevance(high)"), "answer-relevance(high) -> answer-relevance(NUMBER)");
  EXPECT_EQ(meant("is-jason"), "is-jason -> is-json");
  EXPECT_EQ(meant("not_is_json"), "not_is_json -> not-is-json");
  EXPECT_EQ(meant("is json"), "is json -> is-json");
  EXPECT_EQ(meant("contain-json "), "contain-json -> contains-json");
  EXPECT_EQ(meant("latncy(1500)"), "latncy(1500) -> latency(1500)");
  EXPECT_EQ(meant("nto-contains: a"), "nto-contains -> not-contains:") << "it was the opposite";
  EXPECT_EQ(meant("notcontains: a"), "notcontains -> not-contains:");
  for (const std::string text : {"latency(1500)",
                                 "json",
                                 "not json",
                                 "is soon",
                                 "refusal",
                                 "is the answer json",
                                 "not not contains: a",
                                 "Cost (USD): 5",
                                 "latency",
                                 "equals: cost(x)",
                                 "contains(x)",
                                 "cost(a) + b",
                                 "Note: x",
                                 "Paris",
                                 "contain",
                                 "contains : a",
                                 "contains: a",
                                 "contains-any: a",
                                 "equals: contain: a",
                                 "Host: example.org",
                                 "Cost: 5 dollars",
                                 "Human: hi",
                                 "Python: a language",
                                 "fn: 1",
                                 "grade: x",
                                 "12:30",
                                 ": a",
                                 "",
                                 "https://example.org",
                                 "Result: contains: a",
                                 "is-json"}) {
    EXPECT_EQ(meant(text), "") << text;
  }
  EXPECT_EQ(meant(std::string(1 << 20, 'a') + ": b"), "");
}

TEST(ForeignChecks, KeepEveryCharacterOfATextThatMustNotBeThere) {
  std::string text;
  for (char c = 0x21; c < 0x7f; ++c) text += c;
  ForeignCheck check{"icontains-any", true, {text + "\xc3\xa9\n", "no such text"}, {}, {}, 1};
  const auto made = expectation_of(check);
  ASSERT_TRUE(made);
  EXPECT_EQ(std::get<std::string>(find_entry(*made, "type")->value.value), "not_icontains_any");
  const DocumentEntry* texts = find_entry(*made, "text");
  ASSERT_NE(texts, nullptr);
  const auto& list = std::get<DocumentNode::Array>(texts->value.value);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(std::get<std::string>(list[0].value), text + "\xc3\xa9\n");
}

TEST(ForeignChecks, OfAValueThatIsNoTextAreSchemas) {
  const DocumentNode value{std::int64_t{7}, 3, {}};
  EXPECT_EQ(json_of(*expectation_of({"equals", false, {}, {}, value, 3})),
            R"({"schema":{"const":7},"type":"json_schema"})");
  EXPECT_EQ(json_of(*expectation_of({"is-json", false, {}, {}, value, 3})),
            R"({"schema":7,"type":"json_schema"})");
}

}  // namespace
}  // namespace sluice
