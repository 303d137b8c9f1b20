#pragma once

#include "coordinator/plan/plan.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace sluice {

inline Case make_case(std::string id, std::string content, double min_confidence = 0.5) {
  Case one;
  one.id = std::move(id);
  one.language = "python";
  one.content = std::move(content);
  one.must_contain = {{"tls/cert", one.id, false, "why"}};
  one.must_not_contain = {{"tls/cert", "not " + one.id, true, std::nullopt}};
  one.min_confidence = min_confidence;
  return one;
}

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    prompt.version = "1";
    prompt.system = "Read: {{ontology}}";
    prompt.user = "{{language}}: {{content}}";
    settings.provider.name = "local";
    settings.provider.cache_identity = "local";
    settings.model = "m";
    settings.temperature = 0.1;
    settings.max_tokens = 100;
    settings.seed = 7;
    settings.response_schema = share("{}");
    suite.cases = {make_case("a", "one"), make_case("b", "two"), make_case("c", "one", 0.9),
                   make_case("d", "three"), make_case("e", "two")};
  }

  Plan plan() const { return *Plan::make(suite, prompt, Ontology(), settings); }

  Suite suite;
  PromptTemplate prompt;
  RequestSettings settings;
};

inline Case text_case(std::string id, std::string prompt) {
  Case one;
  one.id = std::move(id);
  one.kind = CaseKind::text;
  one.content = std::move(prompt);
  return one;
}

}  // namespace sluice
