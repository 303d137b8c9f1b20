// What becomes of checks that have a score: their limits, their names, and who embeds.
#include "tests/unit/import/promptfoo_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::promptfoo_scores_test {

// The first stayed, however lenient it was.
TEST_F(Promptfoo, KeepsTheStrictestOfScoresThatAskForTheSame) {
  const std::string made = suite(R"yaml(prompts: [a]
tests:
  - assert:
      - {type: similar, value: Lima, threshold: 0.6}
      - {type: similar, value: Lima, threshold: 0.9}
      - {type: not-rouge-n, value: Lima, threshold: 0.2}
      - {type: not-rouge-n, value: Lima, threshold: 0.7}
)yaml");
  EXPECT_NE(made.find("text: Lima\n        min_score: 0.9\n"), std::string::npos) << made;
  EXPECT_EQ(made.find("min_score: 0.6"), std::string::npos) << made;
  EXPECT_NE(made.find("min_score: 0.8\n"), std::string::npos) << "at most that is let pass: " << made;
  EXPECT_EQ(made.find("is left out"), std::string::npos) << made;
}

TEST_F(Promptfoo, NamesScoresOfOneKind) {
  const std::string config = R"yaml(prompts: [a]
defaultTest:
  assert:
    - {type: llm-rubric, value: is kind, threshold: 0.4}
    - {type: llm-rubric, value: is true, metric: Truth}
tests:
  - assert:
      - {type: factuality, value: Lima is in Peru}
      - {type: factuality, value: Lima is big, threshold: 0.9}
      - {type: llm-rubric, value: is short, metric: Tone of voice}
      - {type: llm-rubric, value: is loud, metric: Tone of voice}
  - assert:
      - {type: llm-rubric, value: is kind, threshold: 0.9}
      - {type: llm-rubric, value: is calm, metric: "{{tone}}"}
)yaml";
  const std::string made = suite(config);
  const auto has = [&](const char* text) { return made.find(text) != std::string::npos; };
  EXPECT_TRUE(
      has("    - type: rubric\n      criteria: is kind\n      min_score: 0.4\n"
          "    - type: rubric\n      name: Truth\n      criteria: is true\n"))
      << made;
  EXPECT_TRUE(
      has("      - type: correctness\n        reference: Lima is in Peru\n"
          "      - type: correctness\n        name: \"2\"\n        reference: Lima is big\n"
          "        min_score: 0.9\n"
          "      - type: rubric\n        name: Tone-of-voice\n        criteria: is short\n"
          "      - type: rubric\n        name: Tone-of-voice-2\n        criteria: is loud\n"))
      << made;
  // What the default test asks for as well keeps its place, by the stricter of both limits.
  EXPECT_TRUE(
      has("      - type: rubric\n        criteria: is kind\n        min_score: 0.9\n"
          "      - type: rubric\n        name: \"2\"\n        criteria: is calm\n"))
      << made;
  EXPECT_NE(
      notes(config).find(":14: \"metric\" of the check llm-rubric, \"{{tone}}\", is a template, which "),
      std::string::npos)
      << notes(config);
  EXPECT_NE(
      notes(config).find(":11: a further score of the kind rubric with the \"metric\" \"Tone of voice\" is "
                         "called \"Tone-of-voice-2\""),
      std::string::npos)
      << notes(config);
}

// Texts went to another host than the one that was named, and could not be taken over.
TEST_F(Promptfoo, AnEmbedderThatIsLeftOutHasNoStandIn) {
  const auto of = [&](const char* options) {
    return suite("prompts: [a]\ndefaultTest: {options: {provider: {" + std::string(options) +
                 "}}}\ntests: [{assert: [{type: similar, value: x}]}]\n");
  };
  EXPECT_TRUE(has(of("text: 'openai:gpt-5'"), "embedding_model: text-embedding-3-large")) << of("text: x");
  EXPECT_FALSE(has(of("embedding: 'file://embed.py'"), "embedding_model"))
      << of("embedding: 'file://embed.py'");
}

// The provider was left out, and the suite had text-embedding-3-large, to which the thresholds do not fit.
TEST_F(Promptfoo, TakesTheEmbedderThatAllSimilaritiesName) {
  const std::string small = "provider: 'openai:embedding:text-embedding-3-small'";
  const std::string check = "{type: similar, value: a, threshold: 0.5, " + small + "}";
  const std::string start = "prompts: [p]\ntests:\n  - assert: [" + check + "]\n";
  const std::string made = suite(start +
                                 "  - assert: [{type: not-contains, value: b}, {type: similar, value: c, "
                                 "provider: {embedding: 'openai:embedding:text-embedding-3-small'}}]\n");
  EXPECT_TRUE(has(made, "  embedding_provider: openai\n  embedding_model: text-embedding-3-small\n")) << made;
  EXPECT_FALSE(has(made, "# ")) << made;
  const std::string over_default = suite(
      "defaultTest: {options: {provider: {embedding: 'openai:embedding:text-embedding-3-large'}}}\n" + start);
  EXPECT_TRUE(has(over_default, "embedding_model: text-embedding-3-small\n")) << over_default;
  EXPECT_FALSE(has(over_default, "# ")) << over_default;
}

// Its file was read as that of a model that answers: an embedder was left out, and a chat embedded.
TEST_F(Promptfoo, TakesAnEmbedderOutOfAFile) {
  write("small.yaml", "id: 'openai:embedding:text-embedding-3-small'\n");
  write("chat.yaml", "id: 'openai:gpt-5'\n");
  const auto start = [](const std::string& file) {
    return "prompts: [p]\ndefaultTest: {options: {provider: {embedding: 'file://" + file +
           "'}}}\ntests: [{assert: [{type: similar, value: x}]}]\n";
  };
  const std::string made = suite(start("small.yaml"));
  EXPECT_TRUE(has(made, "  embedding_provider: openai\n  embedding_model: text-embedding-3-small\n")) << made;
  EXPECT_FALSE(has(suite(start("chat.yaml")), "embedding_model"));
  EXPECT_TRUE(has(notes(start("chat.yaml")), "chat.yaml:1: the provider \"openai:gpt-5\" is no embedder"))
      << notes(start("chat.yaml"));
}

// Temperatures and other params were dropped without a word, and embedders of different size were one.
TEST_F(Promptfoo, SaysWhatOfAnEmbeddersConfigIsLeftOut) {
  const auto similar = [](const std::string& config) {
    return "  - assert: [{type: similar, value: a, provider: {id: 'openai:embedding:text-embedding-3-small', "
           "config: {" +
           config + "}}}]\n";
  };
  const std::string start = "prompts: [p]\ntests:\n";
  const std::string small = "\"dimensions\" in config of an embedder has no counterpart: left out";
  EXPECT_EQ(notes(start + similar("dimensions: 256") + similar("dimensions: 256")),
            "promptfooconfig.yaml:3: " + small + "\n");
  EXPECT_TRUE(has(notes(start + similar("temperature: 0")), "\"temperature\" in config of an embedder"));
  const std::string said = notes(start + similar("dimensions: 256") + similar("dimensions: 512"));
  EXPECT_TRUE(has(said, "promptfooconfig.yaml:4: the \"provider\" of a check similar is not that of all"))
      << said;
}

TEST_F(Promptfoo, SaysWhichOfSeveralEmbeddersEmbeds) {
  const auto similar = [](const std::string& model) {
    return "  - assert: [{type: similar, value: a, provider: 'openai:embedding:" + model + "'}]\n";
  };
  const std::string lost =
      "the \"provider\" of a check similar is not that of all such checks, and a suite has one embedding "
      "model: left out, and ";
  const std::string start = "prompts: [p]\ntests:\n" + similar("text-embedding-3-small");
  EXPECT_EQ(notes(start + "  - assert: [{type: similar, value: b}]\n"),
            "promptfooconfig.yaml:3: " + lost + "\"text-embedding-3-large\" embeds for all\n");
  EXPECT_EQ(notes(start + similar("text-embedding-ada-002")),
            "promptfooconfig.yaml:4: " + lost + "\"text-embedding-3-small\" embeds for all\n");
  EXPECT_EQ(
      notes("defaultTest: {options: {provider: {embedding: 'openai:embedding:text-embedding-ada-002'}}}\n" +
            start + similar("text-embedding-ada-002")),
      "promptfooconfig.yaml:4: " + lost + "\"text-embedding-ada-002\" embeds for all\n");
  const std::string unknown = suite(
      "prompts: [p]\ntests: [{assert: [{type: similar, value: a, provider: "
      "'file://embed.py'}]}]\n");
  EXPECT_FALSE(has(unknown, "embedding_model")) << unknown;
}

TEST_F(Promptfoo, ALongerNameOfTheSameQuestionIsNoFurtherScore) {
  const std::string said = notes(
      "prompts: [a]\ntests:\n  - assert: [{type: llm-rubric, value: kind, metric: tone-of-voice}]\n"
      "  - assert: [{type: llm-rubric, value: other}, {type: llm-rubric, value: kind, metric: tone}]\n"
      "  - assert: [{type: llm-rubric, value: kind, metric: tone-of-voice}, {type: llm-rubric, value: o}]\n");
  EXPECT_EQ(said.find("a further score"), std::string::npos) << said;
}

// The check of the default test went by another name in each test, and its own to other questions.
TEST_F(Promptfoo, AQuestionHasOneNameInAllTests) {
  const std::string made = suite(R"yaml(prompts: [a]
defaultTest:
  assert: [{type: llm-rubric, value: "says {{expected}}"}]
tests:
  - {vars: {expected: Lima}}
  - {vars: {expected: ""}, assert: [{type: llm-rubric, value: is short}]}
  - {options: {disableDefaultAsserts: true}, assert: [{type: llm-rubric, value: is short}]}
  - {assert: [{type: factuality, value: x}]}
  - {assert: [{type: factuality, value: y}, {type: factuality, value: x}]}
)yaml");
  std::string names;
  for (std::size_t at = made.find("type: "); at != std::string::npos; at = made.find("type: ", at + 1)) {
    const auto check = made.substr(at, made.find("- type: ", at) - at);
    for (const char* what : {"says", "is short", "reference: x", "reference: y"}) {
      if (check.find(what) == std::string::npos) continue;
      names += std::string(what) + (check.find("name: \"2\"") != std::string::npos ? " 2, " : ", ");
    }
  }
  EXPECT_EQ(names.find("is short, "), std::string::npos) << made;
  EXPECT_EQ(names.find("says 2, "), std::string::npos) << made;
  EXPECT_EQ(names.find("reference: x, "), std::string::npos) << made;
  EXPECT_NE(names.find("reference: y, "), std::string::npos) << made;
}

TEST_F(Promptfoo, NamesOfScoresAreThoseOfTheirMetrics) {
  const std::string longest(72, 'm');
  const std::string config =
      "prompts: [a]\ntests:\n  - assert:\n      - {type: llm-rubric, value: kind, metric: \u793c\u8c8c}\n"
      "      - {type: llm-rubric, value: exact, metric: \u51c6\u786e}\n"
      "  - assert:\n      - {type: llm-rubric, value: exact too, metric: \u51c6\u786e}\n"
      "      - {type: llm-rubric, value: one, metric: " +
      longest + "}\n      - {type: llm-rubric, value: two, metric: " + longest +
      "}\n      - {type: llm-rubric, value: two, metric: Other}\n"
      "  - {threshold: 0.5, assert: [{type: rouge-n, value: a, metric: Words}]}\n";
  const std::string made = suite(config);
  EXPECT_TRUE(has(made, "name: unnamed\n        criteria: kind\n")) << made;
  EXPECT_TRUE(has(made, "name: unnamed-2\n        criteria: exact\n")) << made;
  EXPECT_TRUE(has(made, "name: unnamed-2\n        criteria: exact too\n")) << made;
  EXPECT_TRUE(has(made, "name: " + std::string(64, 'm') + "\n        criteria: one\n")) << made;
  EXPECT_TRUE(has(made, "name: " + std::string(62, 'm') + "-2\n        criteria: two\n")) << made;
  const std::string said = notes(config);
  EXPECT_TRUE(has(said, "the score \"\u51c6\u786e\" is called \"unnamed-2\": names are of letters")) << said;
  EXPECT_TRUE(has(said, "\"metric\" of the check llm-rubric, \"Other\": left out")) << said;
  EXPECT_TRUE(has(said, "\"metric\" of the check rouge-n, \"Words\", names a score, and with a")) << said;
}

}  // namespace sluice::promptfoo_scores_test
