#include "coordinator/suite/prompts/prompt.hpp"

#include "config/embedded_config.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

PromptTemplate prompt_of(const std::string& toml) {
  auto prompt = parse_prompt(toml, "p.toml");
  EXPECT_TRUE(prompt) << join_findings(prompt.error());
  return prompt ? *prompt : PromptTemplate{};
}

std::string error_of(const std::string& toml) {
  const auto prompt = parse_prompt(toml, "p.toml");
  EXPECT_FALSE(prompt);
  return prompt ? "" : join_findings(prompt.error());
}

TEST(Prompt, ExpandsEachPlaceholderOnce) {
  const PromptTemplate prompt = prompt_of(
      "version = \"1\"\nsystem = \"s\"\nuser = \"{{language}}: {{content}} {{ x }} {{language}}\"\n");
  Case one;
  one.language = "{{content}}";
  one.content = "{{language}} {{ontology}}";
  EXPECT_EQ(render_user(prompt, one), "{{content}}: {{language}} {{ontology}} {{ x }} {{content}}");
}

TEST(Prompt, RendersTheVocabulary) {
  const auto ontology = Ontology::parse(
      "version = \"1\"\n[[subject]]\npath = \"tls/min_version\"\ndescription = \"Oldest version\"\n"
      "[[subject.predicate]]\nname = \"value\"\ntype = \"text\"\ndescription = \"As 1.0\"\n",
      "o.toml");
  ASSERT_TRUE(ontology) << ontology.error().message;
  const PromptTemplate prompt = prompt_of("version=\"1\"\nsystem=\"<{{ontology}}>\"\nuser=\"{{content}}\"\n");
  const std::string type(to_string(ValueType::text));
  EXPECT_EQ(render_system(prompt, *ontology),
            "<- tls/min_version: Oldest version\n  - value (" + type + "): As 1.0>");
}

TEST(Prompt, NamesEverythingThatIsWrong) {
  EXPECT_EQ(error_of("version = \"1\"\nsystem = \"{{content}}\"\nuser = \"{{langauge}}\"\nextra = 1\n"),
            "p.toml:2: \"system\" has the unknown placeholder {{content}}; known there: {{ontology}}; "
            "p.toml:3: \"user\" has the unknown placeholder {{langauge}}; known there: {{language}} and "
            "{{content}}; "
            "p.toml:3: \"user\" must contain {{content}}, where the code to analyse goes; "
            "p.toml:4: unknown key \"extra\"; valid here: version, system, user");
  EXPECT_EQ(error_of("version = 1\nuser = \"{{content}}\"\n"),
            "p.toml:1: \"version\" must be a string, not a whole number; "
            "p.toml:1: missing \"system\": expected a string");
}

TEST(Prompt, HashCoversVersionAndBothTexts) {
  const std::string user = "user=\"{{content}}\"\n";
  const Digest hash = prompt_of("version=\"1\"\nsystem=\"a\"\n" + user).hash;
  EXPECT_EQ(hash, prompt_of("# a comment\nsystem=\"a\"\nversion=\"1\"\n" + user).hash);
  EXPECT_NE(hash, prompt_of("version=\"2\"\nsystem=\"a\"\n" + user).hash);
  EXPECT_NE(hash, prompt_of("version=\"1\"\nsystem=\"b\"\n" + user).hash);
  EXPECT_NE(hash, prompt_of("version=\"1\"\nsystem=\"a\"\nuser=\"{{content}}.\"\n").hash);
}

TEST(Prompt, ShippedPromptAndOntologyFitTogether) {
  const auto prompt = parse_prompt(embedded::claims_prompt, "claims.toml");
  ASSERT_TRUE(prompt) << join_findings(prompt.error());
  const auto ontology = Ontology::parse(embedded::ontology, "ontology.toml");
  ASSERT_TRUE(ontology) << ontology.error().message;
  const std::string system = render_system(*prompt, *ontology);
  for (const OntologySubject& subject : ontology->subjects()) {
    EXPECT_NE(system.find("- " + subject.path + ":"), std::string::npos) << subject.path;
  }
  EXPECT_EQ(system.find("{{"), std::string::npos);
}

}  // namespace
}  // namespace sluice
