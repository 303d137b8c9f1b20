#include "coordinator/retrieval/retrieve.hpp"

#include "common/text/lexical_embedder.hpp"
#include "coordinator/retrieval/example_index.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::retrieve_test {

TEST(ExampleIndex, TheNearestIsFoundExactly) {
  const ExampleIndex index({"a", "b", "c"}, {{1.0f, 0.0f}, {3.0f, 4.0f}, {0.0f, 2.0f}});
  const auto nearest = index.nearest(std::vector{6.0f, 8.0f});
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->example, 1u);
  EXPECT_EQ(nearest->score, 1.0);
  EXPECT_EQ(index.nearest(std::vector{6.0f, 8.0f}, "b")->example, 2u);
  EXPECT_EQ(index.nearest(std::vector{6.0f, 8.0f}, "b")->score, 0.8);
  EXPECT_FALSE(ExampleIndex({"a"}, {{1.0f}}).nearest(std::vector{1.0f}, "a"));
}

TEST(ExampleIndex, OfEquallyNearExamplesTheFirstIsTaken) {
  const ExampleIndex index({"a", "b"}, {{2.0f, 0.0f}, {1.0f, 0.0f}});
  EXPECT_EQ(index.nearest(std::vector{1.0f, 0.0f})->example, 0u);
}

RC_GTEST_PROP(ExampleIndex, NoOtherExampleIsNearer, ()) {
  const auto vectors = *rc::gen::container<std::vector<std::vector<float>>>(
      7, rc::gen::container<std::vector<float>>(
             5, rc::gen::map(rc::gen::inRange(-9, 10), [](int n) { return static_cast<float>(n); })));
  std::vector<std::string> ids;
  for (std::size_t i = 1; i < vectors.size(); ++i) ids.push_back(std::to_string(i));
  const ExampleIndex index(ids, {vectors.begin() + 1, vectors.end()});
  const auto nearest = index.nearest(vectors[0]);
  RC_ASSERT(nearest);
  for (std::size_t i = 1; i < vectors.size(); ++i) {
    double product = 0.0;
    double a = 0.0;
    double b = 0.0;
    for (std::size_t k = 0; k < 5; ++k) {
      product += vectors[0][k] * vectors[i][k];
      a += vectors[0][k] * vectors[0][k];
      b += vectors[i][k] * vectors[i][k];
    }
    if (a > 0.0 && b > 0.0) RC_ASSERT(product / (std::sqrt(a) * std::sqrt(b)) <= nearest->score + 1e-8);
  }
}

Case test_of(const std::string& id, const std::string& prompt) {
  Case one;
  one.id = id;
  one.kind = CaseKind::text;
  one.category = "upgrades";
  one.language = "java";
  one.content = prompt;
  one.examples = {true, "bump", "maven"};
  return one;
}

constexpr const char* plugin_text =
    "high_floor: 0.8\ndegraded_floor: 0.3\n"
    "overrides:\n"
    "  - {task_class: rename, degraded_floor: 0.79}\n";

Suite suite_of(std::vector<Case> cases) {
  Suite suite;
  for (Case& one : cases) suite.cases.push_back(std::move(one));
  suite.examples = std::make_shared<const SuiteExamples>(
      SuiteExamples{{{"log4j", "Raise the version of log4j in this pom.xml to 2.17.", "2.17", {}},
                     {"rename", "Rename the method fetch to load.", "load", {}}},
                    parse_plugin(plugin_text, "upgrades", "plugin.yaml").value()});
  return suite;
}

TEST(RetrieveExamples, EachCaseGetsItsNearestByTheFloorsOfItsTriple) {
  Case other_floors = test_of("d", "Raise the version of jackson in this pom.xml to 2.9.");
  other_floors.examples.task_class = "rename";
  Case not_wanted = test_of("e", "Raise the version of log4j in this pom.xml to 2.17.");
  not_wanted.examples = {};
  const Suite suite = suite_of({test_of("a", "Raise the version of log4j in this pom.xml to 2.17."),
                                test_of("b", "Raise the version of jackson in this pom.xml to 2.9."),
                                test_of("c", "Sing!"), other_floors, not_wanted});
  const auto found = retrieve_examples(suite, lexical_embedding, "lexical-ngrams-v1");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 4u) << "one wants none";
  const RetrievalEvent& hit = (*found)[0].event;
  EXPECT_EQ(hit.kind, RetrievalKind::hit);
  EXPECT_EQ(hit.score, 1.0);
  EXPECT_EQ(hit.example, "log4j");
  EXPECT_EQ(hit.test, "a");
  EXPECT_EQ(hit.category, "upgrades");
  EXPECT_EQ(hit.plugin, "upgrades");
  EXPECT_EQ(hit.embedder, "lexical-ngrams-v1");
  EXPECT_EQ(hit.task_class + "/" + hit.language + "/" + hit.build_system, "bump/java/maven");
  EXPECT_EQ(hit.high_floor, 0.8);
  EXPECT_EQ(hit.degraded_floor, 0.3);
  EXPECT_NE((*found)[0].shown.find("Solution:\n2.17"), std::string::npos);

  const RetrievalEvent& near = (*found)[1].event;
  EXPECT_EQ(near.kind, RetrievalKind::degraded) << *near.score;
  EXPECT_NE((*found)[1].shown.find("guidance, not as a template"), std::string::npos);

  const RetrievalEvent& miss = (*found)[2].event;
  EXPECT_EQ(miss.kind, RetrievalKind::miss) << *miss.score;
  EXPECT_TRUE(miss.score) << "what a calibration reads";
  EXPECT_EQ((*found)[2].shown, "");

  EXPECT_EQ((*found)[3].event.kind, RetrievalKind::miss) << "the floor of its task class is higher";
  EXPECT_EQ((*found)[3].event.degraded_floor, 0.79);
  EXPECT_EQ((*found)[3].event.case_index, 3u);
}

// Else a case that was added to the examples would be shown its own answer.
TEST(RetrieveExamples, ACaseIsNeverShownTheExampleMadeOfIt) {
  const std::string task = "Raise the version of log4j in this pom.xml to 2.17.";
  Suite suite = suite_of({test_of("log4j", task)});
  auto found = retrieve_examples(suite, lexical_embedding, "e");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at(0).event.example, "rename");
  EXPECT_EQ(found->at(0).event.kind, RetrievalKind::miss);

  Arm arm;
  arm.name = "mini";
  suite.cases = suite.cases.under(std::vector{arm});
  found = retrieve_examples(suite, lexical_embedding, "e");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at(0).event.test, "log4j@mini");
  EXPECT_EQ(found->at(0).event.example, "rename");
}

}  // namespace sluice::retrieve_test
