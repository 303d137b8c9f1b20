#include "coordinator/session/run_retrieval.hpp"

#include "common/model/embedding.hpp"
#include "coordinator/session/embedding_run.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_plan.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

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

/// A live run whose embedder is a provider's.
RunOptions options_with_a_provider() {
  RunOptions options;
  options.settings.mode.value = Mode::live;
  ProviderConfig provider;
  provider.name = "openai";
  provider.base_url.value = "http://127.0.0.1:1/v1";
  options.settings.providers = {provider};
  options.settings.embedding_provider.value = "openai";
  options.settings.embedding_model = {"text-embedding-3-small", Origin::flag, "--embedding-model"};
  return options;
}

TEST(RunRetrieval, AwaitsTheEmbeddingsOfAProvider) {
  RunOptions options = options_with_a_provider();
  const auto inputs = load_run_inputs(options, suite_with_examples());
  ASSERT_TRUE(inputs) << join_findings(inputs.error());
  EXPECT_TRUE(awaits_embeddings(*inputs));
  options.settings.mode.value = Mode::mock;
  const auto mocked = load_run_inputs(options, suite_with_examples());
  ASSERT_TRUE(mocked);
  EXPECT_FALSE(awaits_embeddings(*mocked)) << "where nobody is called";
}

TEST(EmbeddingRun, HasACaseForEachTextAndNothingElseOfTheRun) {
  RunOptions options = options_with_a_provider();
  options.settings.repeat.value = 3;
  options.baseline = "baseline.json";
  options.reports = {{}};
  options.given_flags = "{}";
  const auto inputs = load_run_inputs(options, suite_with_examples());
  ASSERT_TRUE(inputs);
  const auto run = embedding_run(options, *inputs);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->names, (std::vector<std::string>{"solved example \"log4j\"", "test \"b\""}))
      << "the example's text is a test's, too";
  ASSERT_EQ(run->inputs.suite.cases.size(), 2u);
  EXPECT_EQ(run->inputs.suite.cases.id(1), "00001 test \"b\"");
  EXPECT_TRUE(run->options.returns_embeddings);
  EXPECT_EQ(run->options.settings.repeat.value, 1u);
  EXPECT_FALSE(run->options.baseline);
  EXPECT_TRUE(run->options.reports.empty());
  EXPECT_EQ(run->options.given_flags, "");
  const auto plan = make_plan(run->options, run->inputs);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ((*plan)->unit_count(), 2u);
  EXPECT_EQ((*plan)->render(1)->recorded->text, "Sing!");
}

/// A case of an embedding run that came to this.
CaseResult of(const EmbeddingRun& run, std::size_t index, const UnitResult& unit,
              const Error* error = nullptr) {
  CaseResult result{**run.inputs.suite.cases.read(index)};
  result.unit = &unit;
  result.error = error;
  return result;
}

TEST(EmbeddingFold, FindsTheExamplesByTheVectors) {
  const RunOptions options = options_with_a_provider();
  const auto inputs = load_run_inputs(options, suite_with_examples());
  ASSERT_TRUE(inputs);
  const auto run = embedding_run(options, *inputs);
  ASSERT_TRUE(run);
  UnitResult first;
  first.embedding = pack_embedding(std::vector{1.0f, 0.0f});
  UnitResult second;
  second.embedding = pack_embedding(std::vector{0.7f, 0.7f});
  EmbeddingFold fold(*run);
  fold.add(0, of(*run, 0, first));
  fold.add(1, of(*run, 1, second));
  const auto found = fold.retrieve(*inputs, std::nullopt);
  ASSERT_TRUE(found) << found.error().message;
  const auto events = events_of(*found);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, RetrievalKind::hit);
  EXPECT_EQ(events[1].kind, RetrievalKind::degraded);
  EXPECT_EQ(events[1].embedder, "text-embedding-3-small");
  const auto again = retrieval_again(inputs->suite, events);
  EXPECT_EQ(few_shots_of(again, 2)[1] != nullptr, true);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(again.of_cases[i].shown, found->of_cases[i].shown) << i;
  const auto stopped = fold.retrieve(*inputs, Error{Reason::deadline_reached, "all is spent"});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message,
            "the tests' solved examples were not found, and no test was asked: all is spent");
}

TEST(EmbeddingFold, NamesTheFirstTextWithoutAVector) {
  const RunOptions options = options_with_a_provider();
  const auto inputs = load_run_inputs(options, suite_with_examples());
  ASSERT_TRUE(inputs);
  const auto run = embedding_run(options, *inputs);
  ASSERT_TRUE(run);
  const auto message = [&](const std::string& of_second, const Error* error) {
    UnitResult first;
    first.embedding = pack_embedding(std::vector{1.0f, 0.0f});
    UnitResult second;
    second.embedding = of_second;
    EmbeddingFold fold(*run);
    fold.add(0, of(*run, 0, first));
    fold.add(1, of(*run, 1, second, error));
    const auto found = fold.retrieve(*inputs, std::nullopt);
    return found ? std::string() : found.error().message;
  };
  const Error refused{Reason::refusal, "no"};
  EXPECT_NE(message("", &refused).find("the text of test \"b\": no"), std::string::npos);
  EXPECT_NE(message("", nullptr).find("without its embedding"), std::string::npos);
  EXPECT_NE(message(pack_embedding(std::vector{1.0f}), nullptr).find("has 1 dimensions"), std::string::npos);
}

TEST(EmbeddingRun, IsCountedWithTheRunThatFollows) {
  RunFacts facts;
  facts.paid.of(CallKind::embedding).input_tokens = 300;
  facts.paid_by_arm = facts.paid;
  facts.requests = 2;
  RunFacts both;
  both.requests = 5;
  add_embedding_run(facts, both);
  EXPECT_EQ(both.requests, 7u);
  EXPECT_EQ(both.paid.of(CallKind::embedding).input_tokens, 300u);
  EXPECT_EQ(both.paid_by_arm.total(), both.paid);
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
