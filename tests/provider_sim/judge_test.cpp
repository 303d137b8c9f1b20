#include "tests/provider_sim/judge.hpp"

#include "tests/provider_sim/settings.hpp"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::sim {
namespace {

JudgedAnswer answer_of(double quality, std::size_t bytes = 0, std::string family = {}) {
  return {quality, bytes, std::move(family), true};
}

/// The score of a reply that must be a vote; -1 for any other.
double score_of(const JudgeReply& reply) {
  const auto json = nlohmann::json::parse(reply.text, nullptr, false);
  if (reply.is_refusal || !json.is_object() || !json.contains("score")) return -1;
  return json.at("score").get<double>();
}

double score_of(const JudgeSettings& settings, const std::vector<JudgedAnswer>& answers) {
  return score_of(judge(settings, answers, 1, 0));
}

TEST(FindJudgedAnswers, BeginAtAMarkerAndEndWhereTheirTextDoes) {
  const std::string answer = "[quality 0.8] [by gpt] In Paris.\n\nAnd in [by none] Lyon.";
  const std::vector<JudgedAnswer> expected{{0.8, answer.size(), "gpt", true}};
  EXPECT_EQ(find_judged_answers("Where?\n<answer>\n" + answer + "\n</answer>\nScore it."), expected);
  EXPECT_EQ(find_judged_answers("Where? " + answer + " [end] Score it.\n</answer>"), expected);
  EXPECT_EQ(find_judged_answers("Where? " + answer + " \n"), expected);
  const std::string code = "[quality 1]<b>\n</b>";
  EXPECT_EQ(find_judged_answers(code + "[end]\n"), (std::vector<JudgedAnswer>{{1, code.size(), {}, true}}))
      << "a line of the answer's own that begins like an end";
}

TEST(FindJudgedAnswers, ArePairsWithTwoMarkers) {
  const std::string message =
      "A:\n[quality 0.25] [by a]\n</a>\nB: [by nobody]\n[quality 1.0] ab [end] Which?";
  const std::vector<JudgedAnswer> pair{{0.25, 21, "a", true}, {1, 16, {}, true}};
  EXPECT_EQ(find_judged_answers(message), pair);
  EXPECT_EQ(find_judged_answers("[quality 0] " + message), pair) << "the last two of three";
  EXPECT_EQ(find_judged_answers("[quality 0][quality 0.5]"),
            (std::vector<JudgedAnswer>{{0, 11, {}, true}, {0.5, 13, {}, true}}));
}

TEST(FindJudgedAnswers, HaveTheQualityOfTheirHashWithoutAMarker) {
  std::set<double> qualities;
  for (const std::string message : {"[quality high] x", "[quality 1.5] x", "[quality -1] x", "[quality 0.5",
                                    "[quality nan]", "[quality ]", "[quality", ""}) {
    const auto answers = find_judged_answers(message);
    ASSERT_EQ(answers.size(), 1u) << message;
    EXPECT_FALSE(answers[0].is_marked) << message;
    EXPECT_EQ(answers[0].bytes, message.size());
    EXPECT_TRUE(answers[0].quality >= 0 && answers[0].quality <= 1) << message;
    EXPECT_EQ(std::round(answers[0].quality * 100) / 100, answers[0].quality) << message;
    EXPECT_EQ(find_judged_answers(message), answers);
    qualities.insert(answers[0].quality);
  }
  EXPECT_GE(qualities.size(), 6u) << "other messages, other qualities";
  EXPECT_EQ(find_judged_answers("says [by gpt]")[0].family, "gpt");
}

TEST(SimulatedJudge, IsHonestWithoutAnySetting) {
  EXPECT_EQ(judge({}, std::vector{answer_of(0.8, 5000, "gpt")}, 7, 3).text,
            R"({"rationale":"Quality 0.8, taken for 0.8.","score":0.8})");
  EXPECT_EQ(judge({}, std::vector{answer_of(0.8), answer_of(0.6)}, 7, 3).text,
            R"({"rationale":"First: quality 0.8, taken for 0.8. Second: quality 0.6, taken for 0.6.",)"
            R"("score":0.6})");
  EXPECT_DOUBLE_EQ(score_of({}, {answer_of(0.6), answer_of(0.8)}), 0.4);
  EXPECT_DOUBLE_EQ(score_of({}, {answer_of(0), answer_of(1)}), 0);
  EXPECT_DOUBLE_EQ(score_of({}, {answer_of(0.7), answer_of(0.7)}), 0.5);
}

TEST(SimulatedJudge, FavoursWhatStandsFirstInAPairAlone) {
  JudgeSettings settings;
  settings.position_bias = 0.1;
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.5), answer_of(0.5)}), 0.55);
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.75), answer_of(0.25)}), 0.8);
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(1), answer_of(1)}), 0.5) << "no more than 1";
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.5)}), 0.5);
  settings.position_bias = -0.1;
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.5), answer_of(0.5)}), 0.45);
}

TEST(SimulatedJudge, ComparesTheSecondOfAPairWithTheFirst) {
  const std::vector better{answer_of(0.6), answer_of(0.8)};
  EXPECT_EQ(judge({}, better, 7, 3, JudgeForm::comparison).text,
            R"({"notes":"First: quality 0.6, taken for 0.6. Second: quality 0.8, taken for 0.8.",)"
            R"("quality_score":0.6})");
  JudgeSettings settings;
  settings.position_bias = 0.4;
  EXPECT_TRUE(judge(settings, better, 7, 3, JudgeForm::comparison).text.ends_with(R"("quality_score":0.4})"));
}

TEST(FindComparedAnswers, AreEquallyGoodWithoutMarkers) {
  const std::string pair = "A -----\n[quality 0.25] a\n----- B -----\n[quality 0.75] b\n";
  const std::vector<JudgedAnswer> expected{{0.25, 16, {}, true}, {0.75, 16, {}, true}};
  EXPECT_EQ(find_compared_answers(pair), expected);
  const std::vector<JudgedAnswer> equal(2, JudgedAnswer{.quality = 0.5});
  for (const std::string message : {"A: Lima, B: Paris", "A: [quality 1] Lima, B: Paris", ""})
    EXPECT_EQ(find_compared_answers(message), equal) << message;
}

TEST(SimulatedJudge, FavoursLengthInProportionAndWithinBounds) {
  JudgeSettings settings;
  settings.length_bias = 0.2;
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.5, 0)}), 0.5);
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.5, 500)}), 0.6);
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.5, 501)}), 0.6002) << "one byte is seen";
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.5, 1000)}), 0.7);
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.5, 9000)}), 0.7);
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.9, 9000)}), 1.0);
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.5, 250), answer_of(0.5, 750)}), 0.45);
  settings.length_bias = -0.2;
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.1, 9000)}), 0.0);
}

TEST(SimulatedJudge, FavoursAFamily) {
  JudgeSettings settings;
  settings.family_biases = {{"gpt", 0.25}, {"claude", -0.25}};
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.5, 0, "gpt")}), 0.75);
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.5, 0, "claude")}), 0.25);
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.5, 0, "gpt-4")}), 0.5);
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.5, 0, "claude"), answer_of(0.5, 0, "gpt")}), 0.25);
}

TEST(SimulatedJudge, TurnsTheHonestScoreOverBeforeTheBiases) {
  JudgeSettings settings;
  settings.noise = 1;
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.75)}), 0.25);
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.75), answer_of(0.25)}), 0.25);
  settings.family_biases = {{"gpt", 0.5}};
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.75, 0, "gpt")}), 0.75);
  settings.position_bias = 0.5;
  EXPECT_DOUBLE_EQ(score_of(settings, {answer_of(0.75), answer_of(0.25)}), 0.5);
}

/// True if so many of n are not surprising at a probability: within four standard deviations.
testing::AssertionResult is_expected(int hits, int n, double probability) {
  const double mean = n * probability;
  const double tolerance = 4 * std::sqrt(n * probability * (1 - probability));
  if (std::abs(hits - mean) <= tolerance) return testing::AssertionSuccess();
  return testing::AssertionFailure() << hits << " of " << n << ", expected " << mean << " +- " << tolerance;
}

TEST(SimulatedJudge, TurnsVotesOverIndependentlyAtItsRate) {
  const std::vector<JudgedAnswer> answers{answer_of(0.75)};
  for (const std::uint64_t seed : {1, 2, 99}) {
    for (const double noise : {0.02, 0.1, 0.3}) {
      JudgeSettings settings;
      settings.seed = seed;
      settings.noise = noise;
      const auto is_turned = [&](std::uint64_t content, std::uint64_t number) {
        return score_of(judge(settings, answers, content, number)) == 0.25;
      };
      constexpr int n = 2000;
      int first = 0;
      int second = 0;
      int both = 0;
      int neighbours = 0;
      for (std::uint64_t content = 0; content < n; ++content) {
        const bool one = is_turned(content, 0);
        const bool two = is_turned(content, 1);
        first += one;
        second += two;
        both += one && two;
        neighbours += one && is_turned(content + 1, 0);
      }
      SCOPED_TRACE("seed " + std::to_string(seed) + ", noise " + std::to_string(noise));
      EXPECT_TRUE(is_expected(first, n, noise));
      EXPECT_TRUE(is_expected(second, n, noise));
      EXPECT_TRUE(is_expected(both, n, noise * noise));
      EXPECT_TRUE(is_expected(neighbours, n, noise * noise));
    }
  }
}

TEST(SimulatedJudge, GivesNoVoteAtItsRates) {
  JudgeSettings settings;
  settings.unreadable = 0.2;
  settings.refusal = 0.1;
  const std::vector<JudgedAnswer> answers{answer_of(0.5)};
  constexpr int n = 3000;
  int refusals = 0;
  int unreadable = 0;
  std::set<std::string> forms;
  for (std::uint64_t number = 0; number < n; ++number) {
    const auto reply = judge(settings, answers, 42, number);
    if (reply.is_refusal) {
      ++refusals;
    } else if (score_of(reply) != 0.5) {
      ++unreadable;
      forms.insert(reply.text);
      EXPECT_TRUE(score_of(reply) < 0 || score_of(reply) > 1) << reply.text;
    }
  }
  EXPECT_TRUE(is_expected(refusals, n, 0.1));
  EXPECT_TRUE(is_expected(unreadable, n, 0.2));
  EXPECT_EQ(forms.size(), 3u);
}

TEST(SimulatedJudge, NumbersTheRequestsOfEachMessage) {
  JudgeSettings settings;
  settings.noise = 0.5;
  const std::vector<JudgedAnswer> answers{answer_of(0.75)};
  Judge judged(settings);
  const auto next = [&](std::uint64_t content) {
    const auto reply = judged.reply(answers, content, JudgeForm::vote);
    EXPECT_EQ(judged.reply(answers, content, JudgeForm::vote).text, reply.text) << "until it is counted";
    judged.count(content);
    return reply.text;
  };
  for (int round = 0; round < 2; ++round) {
    std::set<std::string> seen;
    for (std::uint64_t number = 0; number < 20; ++number) {
      EXPECT_EQ(next(1), judge(settings, answers, 1, number).text) << number;
      seen.insert(next(2));
    }
    EXPECT_EQ(seen.size(), 2u);
    judged.reset();
  }
}

ParsedOptions parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "provider-sim");
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

TEST(JudgeOptions, AreReadWithTheSeed) {
  const auto parsed = parse({"--judge-noise", "0.1", "--judge-position-bias", "-0.2", "--judge-length-bias",
                             "0.3", "--judge-family-bias", "gpt,0.1", "--judge-family-bias", "a,b,-0.5",
                             "--judge-unreadable", "0.4", "--judge-refuses", "0.6", "--seed", "9"});
  ASSERT_TRUE(parsed.options);
  const JudgeSettings& judge = parsed.options->sim.judge;
  EXPECT_EQ(judge.seed, 9u);
  EXPECT_EQ(judge.noise, 0.1);
  EXPECT_EQ(judge.position_bias, -0.2);
  EXPECT_EQ(judge.length_bias, 0.3);
  const std::vector<std::pair<std::string, double>> families{{"gpt", 0.1}, {"a,b", -0.5}};
  EXPECT_EQ(judge.family_biases, families);
  EXPECT_EQ(judge.unreadable, 0.4);
  EXPECT_EQ(judge.refusal, 0.6);
}

TEST(JudgeOptions, AreRefusedBeyondTheirBounds) {
  const std::vector<std::vector<std::string>> wrong{
      {"--judge-noise", "1.1"},         {"--judge-noise", "-0.1"},
      {"--judge-position-bias", "2"},   {"--judge-length-bias", "-1.5"},
      {"--judge-family-bias", "gpt"},   {"--judge-family-bias", ",0.1"},
      {"--judge-family-bias", "gpt,2"}, {"--judge-family-bias", "gpt,"},
      {"--judge-unreadable", "x"},      {"--judge-unreadable", "0.6", "--judge-refuses", "0.5"}};
  for (const auto& arguments : wrong) {
    const auto parsed = parse(arguments);
    EXPECT_FALSE(parsed.options) << arguments[0] << ' ' << arguments[1];
    EXPECT_EQ(parsed.exit_code, 2);
  }
}

}  // namespace
}  // namespace sluice::sim
