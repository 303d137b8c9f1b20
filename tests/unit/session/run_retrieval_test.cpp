#include "coordinator/session/run_retrieval.hpp"

#include "coordinator/session/run_inputs.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace sluice::run_retrieval_test {

Suite suite_with_examples() {
  Suite suite;
  suite.name = "s";
  for (const char* id : {"a", "b"}) {
    Case one;
    one.id = id;
    one.kind = CaseKind::text;
    one.content = std::string(id) == "a" ? "Raise the version of log4j." : "Sing!";
    one.examples.are_wanted = true;
    suite.cases.push_back(one);
  }
  suite.examples = std::make_shared<const SuiteExamples>(
      SuiteExamples{{{"log4j", "Raise the version of log4j.", "2.17", {}}}, shipped_plugin()});
  return suite;
}

TEST(RunRetrieval, IsDoneInThisProcessByTheBuiltInEmbedder) {
  RunOptions options;
  options.settings.mode.value = Mode::live;
  options.settings.embedding_model.value = lexical_embedding_model;
  const auto inputs = load_run_inputs(options, suite_with_examples());
  ASSERT_TRUE(inputs) << join_findings(inputs.error());
  ASSERT_TRUE(inputs->retrieval);
  const auto events = events_of(*inputs->retrieval);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, RetrievalKind::hit);
  EXPECT_EQ(events[1].kind, RetrievalKind::miss);
  EXPECT_EQ(events[0].embedder, "lexical-ngrams-v1");
  const auto few_shots = few_shots_of(*inputs->retrieval, 2);
  ASSERT_TRUE(few_shots[0]);
  EXPECT_NE(few_shots[0]->find("2.17"), std::string::npos);
  EXPECT_EQ(few_shots[1], nullptr);
}

TEST(RunRetrieval, AnotherEmbedderIsRefusedWithTheWayOut) {
  RunOptions options;
  options.settings.mode.value = Mode::live;
  ResolvedEmbedding embedding;
  embedding.embedding = {"openai", "text-embedding-3-small"};
  embedding.provider.emplace().name = "openai";
  const auto refused = retrieve_for_run(options, suite_with_examples(), embedding);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::usage_invalid);
  EXPECT_NE(refused.error().message.find("\"text-embedding-3-small\" of the provider \"openai\""),
            std::string::npos);
  EXPECT_NE(refused.error().message.find("--embedding-model lexical-ngrams-v1"), std::string::npos);
  options.settings.mode.value = Mode::mock;
  EXPECT_TRUE(retrieve_for_run(options, suite_with_examples(), embedding)) << "where nobody is called";
}

TEST(RunRetrieval, ASuiteWithoutExamplesNeedsNoEmbedder) {
  Suite suite = suite_with_examples();
  suite.examples = nullptr;
  const auto inputs = load_run_inputs({}, suite);
  ASSERT_TRUE(inputs) << join_findings(inputs.error());
  EXPECT_FALSE(inputs->retrieval);
  EXPECT_TRUE(inputs->embedding.embedding.model.empty());
}

}  // namespace sluice::run_retrieval_test
