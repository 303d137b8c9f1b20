#include "common/model/grading.hpp"

#include "common/model/comparison.hpp"
#include "worker/scoring/grading.hpp"

#include <limits>
#include <memory>

#include <gtest/gtest.h>

namespace sluice {
namespace grading_test {

SharedVector vector_of(std::vector<float> values) {
  return std::make_shared<const std::vector<float>>(std::move(values));
}

GradedAnswer answer(std::string text) {
  GradedAnswer made;
  made.text = std::move(text);
  made.usage = {10, 5};
  return made;
}

Reason refused(const Grade& grade) {
  const auto result = grading_result(grade, answer("a"), answer("b"));
  return result ? Reason::internal_error : result.error().reason;
}

// --- The result ---

TEST(GradingResult, TakesAScoreFromZeroToOneAlone) {
  for (const double score : {0.0, 0.3, 1.0}) {
    EXPECT_TRUE(grading_result({score, "", "exact"}, answer("a"), answer("b"))) << score;
  }
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double score : {-0.001, 1.001, nan, infinity, -infinity}) {
    EXPECT_EQ(refused({score, "", "exact"}), Reason::quality_score_invalid) << score;
    EXPECT_EQ(refused({0.5, "", "llm", OrderedScores{score, 0.5}}), Reason::quality_score_invalid) << score;
    EXPECT_EQ(refused({0.5, "", "llm", OrderedScores{0.5, score}}), Reason::quality_score_invalid) << score;
  }
}

TEST(GradingResult, SaysWhoGraded) {
  EXPECT_EQ(refused({0.5, "good", ""}), Reason::grader_id_missing);
}

TEST(GradingResult, KeepsBothAnswers) {
  const auto result = grading_result({0.0, "", "exact"}, answer("Paris"), answer("Rome"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->baseline, answer("Paris"));
  EXPECT_EQ(result->candidate, answer("Rome"));
}

TEST(GradeJudges, HaveTheirNames) {
  for (const auto judge : {GradeJudge::exact, GradeJudge::embedding, GradeJudge::llm}) {
    EXPECT_EQ(grade_judge_from(to_string(judge)), judge);
  }
  EXPECT_EQ(to_string(GradeJudge::llm), "llm");
  EXPECT_FALSE(grade_judge_from("model"));
}

// --- exact ---

TEST(ExactGrade, IsOneForTheSameTextAndElseZero) {
  EXPECT_EQ(grade_exact("Paris", "Paris").quality_score, 1.0);
  EXPECT_EQ(grade_exact("Paris\r\nis it", " Paris\nis it\n").quality_score, 1.0);
  EXPECT_EQ(grade_exact("Paris", "paris").quality_score, 0.0);
  EXPECT_EQ(grade_exact("Paris", "").quality_score, 0.0);
  EXPECT_EQ(grade_exact("", "").quality_score, 1.0);
  EXPECT_EQ(grade_exact("a", "b").grader_id, "exact");
}

// --- embedding ---

TEST(EmbeddingGrade, NeedsExactlyTwoVectors) {
  const std::vector<SharedVector> three(3, vector_of({1, 0}));
  for (const std::size_t count : {0u, 1u, 3u}) {
    const auto grade = grade_vectors(std::span(three).first(count), "embed-1");
    ASSERT_FALSE(grade) << count;
    EXPECT_EQ(grade.error().reason, Reason::embedding_count_wrong);
    EXPECT_NE(grade.error().message.find(std::to_string(count)), std::string::npos);
  }
  EXPECT_TRUE(grade_vectors(std::span(three).first(2), "embed-1"));
}

TEST(EmbeddingGrade, RefusesVectorsOfTwoModels) {
  const std::vector<SharedVector> vectors{vector_of({1, 0}), vector_of({1, 0, 0})};
  EXPECT_EQ(grade_vectors(vectors, "embed-1").error().reason, Reason::embedding_count_wrong);
}

TEST(EmbeddingGrade, IsTheCosineWithinZeroAndOne) {
  const auto score = [](std::vector<float> a, std::vector<float> b) {
    const std::vector<SharedVector> vectors{vector_of(std::move(a)), vector_of(std::move(b))};
    return grade_vectors(vectors, "embed-1")->quality_score;
  };
  EXPECT_EQ(score({1, 2}, {1, 2}), 1.0);
  EXPECT_EQ(score({1, 0}, {0, 1}), 0.0);
  EXPECT_EQ(score({1, 0}, {-1, 0}), 0.0) << "clamped";
  EXPECT_EQ(score({0, 0}, {1, 0}), 0.0);
  EXPECT_NEAR(score({3, 4}, {4, 3}), 0.96, 1e-9);
}

TEST(EmbeddingGrade, LooksForTheVectorsOfBothTexts) {
  const EmbeddedTexts embedded{{"big", vector_of({1, 0})}, {"large", vector_of({1, 0})}};
  const auto grade = grade_embedded("big", "large", embedded, "embed-1");
  ASSERT_TRUE(grade);
  EXPECT_EQ(grade->quality_score, 1.0);
  EXPECT_EQ(grade->grader_id, "embedding:embed-1");
  EXPECT_EQ(grade_embedded("big", "small", embedded, "embed-1").error().reason,
            Reason::embedding_count_wrong);
  EXPECT_EQ(grade_embedded("same", "same", {}, "embed-1")->quality_score, 1.0) << "no model is needed";
  EXPECT_EQ(grade_embedded("same", " ", {}, "embed-1")->quality_score, 0.0);
}

// --- llm ---

TEST(ComparisonRubrics, ShowTheSamePairInBothOrders) {
  const auto& rubrics = comparison_rubrics();
  ASSERT_EQ(rubrics.size(), 2u);
  EXPECT_EQ(rubrics[0].system, rubrics[1].system) << "nothing says which is the candidate's";
  const RubricTexts texts{"the prompt", "of the candidate", "", "of the baseline", "be short"};
  const std::string first = render_rubric(rubrics[0], texts);
  const std::string swapped = render_rubric(rubrics[1], texts);
  EXPECT_EQ(first,
            "----- INSTRUCTIONS -----\nbe short\n----- PROMPT -----\nthe prompt\n"
            "----- ANSWER A -----\nof the baseline\n----- ANSWER B -----\nof the candidate");
  EXPECT_EQ(swapped,
            "----- INSTRUCTIONS -----\nbe short\n----- PROMPT -----\nthe prompt\n"
            "----- ANSWER A -----\nof the candidate\n----- ANSWER B -----\nof the baseline");
}

TEST(ReadComparison, TakesAScoreAndPerhapsNotes) {
  EXPECT_EQ(read_comparison(R"({"notes": "B is right.", "quality_score": 0.75})"),
            (Vote{0.75, "B is right."}));
  EXPECT_EQ(read_comparison("```json\n{\"quality_score\": 1}\n```"), (Vote{1.0, ""}));
}

TEST(ReadComparison, NeverMakesAScoreOfAnythingElse) {
  for (const char* text :
       {"", "B is better", R"({"score": 0.5})", R"({"quality_score": "0.5"})", R"({"quality_score": 1.5})",
        R"({"quality_score": null})", R"({"quality_score": 0.5, "quality_score": 0.6})",
        R"({"quality_score": 0.5, "notes": 1})", R"({"quality_score": 0.5)"}) {
    const auto given = read_comparison(text);
    ASSERT_FALSE(given) << text;
    EXPECT_EQ(given.error().reason, Reason::grade_unparsable) << text;
  }
}

TEST(ComparisonGrade, IsTheMeanOfBothOrders) {
  // The second answer is about the baseline's, which stood last.
  const Grade grade = grade_comparisons({Vote{0.75, "b1"}, Vote{0.0, "b2"}}, "judge-1");
  EXPECT_EQ(grade.quality_score, 0.875);
  EXPECT_EQ(grade.orders, (OrderedScores{0.75, 1.0}));
  EXPECT_EQ(grade.grader_id, "llm:judge-1:comparison-v1");
  EXPECT_EQ(grade.notes, "Candidate as B: b1 Candidate as A: b2");
  EXPECT_EQ(grade_comparisons({Vote{0.5, ""}, Vote{0.5, ""}}, "judge-1").quality_score, 0.5);
}

TEST(ComparisonGrade, IsATieWhereTheOrderDecides) {
  const std::pair<double, double> flips[] = {{1.0, 1.0}, {0.0, 0.0}, {0.75, 0.5}, {0.5, 0.25}};
  for (const auto& [last, swapped] : flips) {
    const Grade grade = grade_comparisons({Vote{last, ""}, Vote{swapped, ""}}, "judge-1");
    EXPECT_TRUE(position_flips(*grade.orders)) << last << " " << swapped;
    EXPECT_EQ(grade.quality_score, 0.5) << last << " " << swapped;
  }
  EXPECT_FALSE(position_flips({0.6, 0.9}));
  EXPECT_FALSE(position_flips({0.5, 0.5}));
  EXPECT_FALSE(position_flips({0.1, 0.4}));
}

}  // namespace grading_test
}  // namespace sluice
