#include "worker/scoring/similarity.hpp"

#include "common/cosine.hpp"
#include "common/text/lexical_embedder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace {

double lexical(std::string_view a, std::string_view b) {
  return similarity(lexical_embedding(a), lexical_embedding(b));
}

TEST(Similarity, IsTheClampedCosine) {
  EXPECT_DOUBLE_EQ(similarity(std::vector{3.0f, 4.0f}, std::vector{4.0f, 3.0f}), 24.0 / 25.0);
  EXPECT_EQ(similarity(std::vector{1.0f, 0.0f}, std::vector{0.0f, 5.0f}), 0.0);
  EXPECT_EQ(similarity(std::vector{1.0f, 2.0f}, std::vector{-1.0f, -2.0f}), 0.0)
      << "opposite is no less than 0";
  EXPECT_EQ(similarity(std::vector{0.0f}, std::vector{1.0f}), 0.0);
  constexpr auto most = std::numeric_limits<float>::max();
  constexpr auto least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(similarity(std::vector{most, most}, std::vector{most, most}), 1.0);
  EXPECT_EQ(similarity(std::vector{least, least}, std::vector{least, least}), 1.0);
}

rc::Gen<std::vector<float>> some_vector(std::size_t dimension) {
  return rc::gen::container<std::vector<float>>(
      dimension,
      rc::gen::map(rc::gen::inRange(-1'000'000, 1'000'001), [](int n) { return float(n) / 7.0f; }));
}

RC_GTEST_PROP(Similarity, IsSymmetricBoundedAndOneForEqualVectors, ()) {
  const auto dimension = *rc::gen::inRange<std::size_t>(1, 40);
  const auto a = *some_vector(dimension);
  const auto b = *some_vector(dimension);
  const auto score = similarity(a, b);
  RC_ASSERT(score >= 0.0 && score <= 1.0);
  RC_ASSERT(similarity(b, a) == score);
  RC_PRE(std::ranges::any_of(a, [](float x) { return x != 0.0f; }));
  RC_ASSERT(similarity(a, a) == 1.0);
}

WorkUnit unit_with(std::vector<std::vector<TextExpectation>> tasks) {
  WorkUnit unit;
  for (auto& texts : tasks) unit.tasks.push_back({0, {}, {}, 0.0, false, std::move(texts)});
  return unit;
}

TEST(TextsToEmbed, AreTheReferencesOnceAndTheAnswer) {
  const auto unit =
      unit_with({{{MetricId::semantic_similarity_to, {"a", "b"}}, {MetricId::must_contain, {"c"}}},
                 {{MetricId::semantic_similarity_to, {"b", "d"}}}});
  EXPECT_EQ(texts_to_embed("x", unit), (std::vector<std::string>{"a", "b", "d", "x"}));
  EXPECT_TRUE(texts_to_embed("x", unit_with({{{MetricId::must_contain, {"c"}}}})).empty());
}

TEST(TextsToEmbed, NoneWhereNoModelIsNeeded) {
  const auto same = unit_with({{{MetricId::semantic_similarity_to, {"x", " "}}}});
  EXPECT_TRUE(texts_to_embed("x", same).empty());
  const auto reference = unit_with({{{MetricId::semantic_similarity_to, {"a"}}}});
  EXPECT_TRUE(texts_to_embed(" \n", reference).empty());
  const auto assessed = assess_similarity(" \n", reference.tasks[0].texts[0], {});
  EXPECT_EQ(assessed.value().score, 0.0) << "an answer of nothing is like nothing";
  EXPECT_EQ(assess_similarity("x", same.tasks[0].texts[0], {}).value().score, 1.0);
  const TextExpectation nothing{MetricId::semantic_similarity_to, {""}};
  EXPECT_EQ(assess_similarity("", nothing, {}).value().score, 1.0);
}

RC_GTEST_PROP(LexicalEmbedder, IsAUnitVectorWhateverTheBytes, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
  const auto vector = lexical_embedding(text);
  RC_ASSERT(vector.size() == lexical_dimension);
  double square = 0;
  for (const float x : vector) square += double{x} * double{x};
  RC_ASSERT(square == 0.0 || std::abs(square - 1.0) < 1e-5);
  RC_ASSERT(lexical_embedding(text) == vector);
}

TEST(LexicalEmbedder, MeasuresSharedPiecesOfText) {
  EXPECT_EQ(lexical("The capital is Paris.", "The capital is Paris."), 1.0);
  EXPECT_EQ(lexical("The  CAPITAL\nis Paris. ", "the capital is paris."), 1.0) << "case and blanks";
  EXPECT_GT(lexical("The capital of France is Paris.", "Paris is the capital of France."), 0.7);
  EXPECT_GT(lexical("verify the certificate", "verify the certificates"), 0.85);
  EXPECT_LT(lexical("verify the certificate", "bananas grow upward"), 0.15);
  EXPECT_LT(lexical("a quick car", "an automobile that is fast"), 0.3) << "lexical: it knows no synonyms";
}

TEST(LexicalEmbedder, LowersTheLettersOfManyScripts) {
  EXPECT_EQ(lexical("\u00dcBER \u0141\u00d3D\u0179", "\u00fcber \u0142\u00f3d\u017a"), 1.0);
  EXPECT_EQ(lexical("\u0391\u0398\u0397\u039d\u0391 \u0389", "\u03b1\u03b8\u03b7\u03bd\u03b1 \u03ae"), 1.0);
  EXPECT_EQ(
      lexical("\u041c\u041e\u0421\u041a\u0412\u0410 \u0401", "\u043c\u043e\u0441\u043a\u0432\u0430 \u0451"),
      1.0);
  EXPECT_LT(lexical("\u6771\u4eac\u90fd", "\u5927\u962a\u5e9c"), 0.5);
  EXPECT_EQ(lexical("a", "A"), 1.0) << "one character has its blanks";
}

TEST(LexicalEmbedder, TakesEmptyAndHugeTexts) {
  EXPECT_EQ(lexical("", ""), 0.0) << "no direction; equal texts are settled before";
  EXPECT_EQ(lexical_embedding(" \t\n").size(), lexical_dimension);
  std::string huge;
  while (huge.size() < (4u << 20)) huge += "lorem ipsum dolor sit amet ";
  EXPECT_GT(lexical(huge, "lorem ipsum dolor sit amet"), 0.9);
}

/// Golden: scores of suites rest on these vectors; another embedder takes another name.
TEST(LexicalEmbedder, IsTheOneThatItsNameStandsFor) {
  const auto vector = lexical_embedding("Sluice \u00dc");
  std::string places;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (vector[i] != 0.0f) places += (vector[i] > 0 ? "+" : "-") + std::to_string(i) + " ";
  }
  EXPECT_EQ(places,
            "+64 +70 +115 -167 -240 +269 -282 -311 -324 -458 +511 -605 -673 +720 -933 -1289 -1395 -1405 "
            "+1607 -1968 "
            "+1983 ");
}

}  // namespace
}  // namespace sluice
