#include "worker/reports.hpp"

#include "common/defaults.hpp"
#include "common/wire/codec.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace reports_test {

std::vector<UnitResult> results(std::size_t count) {
  std::vector<UnitResult> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i].unit = i;
  return made;
}

TEST(Reports, SmallResultsGoTogether) {
  const auto reports = make_reports("run-1", 4, {7}, results(defaults::max_units_per_work + 1), {8});
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].results.size(), defaults::max_units_per_work);
  EXPECT_EQ(reports[0].started, std::vector<UnitId>{7});
  EXPECT_EQ(reports[0].returned, std::vector<UnitId>{8});
  EXPECT_EQ(reports[1].results.size(), 1u);
  EXPECT_TRUE(make_reports("run-1", 4, {}, {}, {}).empty());
}

// 256 of them were twice what a frame takes: the coordinator refused the message each time it came.
TEST(Reports, TheAnswersOfAGradedPairCountByWhatIsSentOfThem) {
  auto graded = results(8);
  for (UnitResult& result : graded) {
    result.grade = GradingResult{{1.0, "", "exact"}, {}, {}};
    result.grade->baseline.text = std::string(defaults::max_graded_bytes, 'a');
    result.grade->candidate.text = std::string(2 * defaults::max_graded_bytes, 'b');
  }
  const auto reports = make_reports("run-1", 4, {}, std::move(graded), {});
  ASSERT_EQ(reports.size(), 4u);
  for (const auto& report : reports) {
    EXPECT_EQ(report.results.size() * 2 * defaults::max_graded_bytes, defaults::max_bytes_per_work);
  }
}

// Two of nearly as many values as a message may have were one message, which was refused each time.
TEST(Reports, AResultOfVeryManyTrialsGoesAlone) {
  auto made = results(4);
  made[1].scores.resize(defaults::max_wire_items);
  made[2].scores.resize(1);
  made[2].scores[0].claims.unexpected.resize(1u << 19);
  const auto reports = make_reports("run-1", 4, {}, std::move(made), {});
  ASSERT_EQ(reports.size(), 4u);
  for (const auto& report : reports) EXPECT_EQ(report.results.size(), 1u);
}

// They counted as nothing, however many there were.
TEST(Reports, WordsAndVotesCount) {
  auto made = results(8);
  for (UnitResult& result : made) result.error = Error{Reason::request_refused, std::string(1u << 19, 'e')};
  EXPECT_EQ(make_reports("run-1", 4, {}, std::move(made), {}).size(), 4u);
  auto judged = results(4);
  for (UnitResult& result : judged) {
    result.scores.resize(1);
    result.scores[0].judged.assign(1000, {.metric = MetricId::relevancy,
                                          .votes = std::vector<CountedVote>(defaults::max_judge_samples),
                                          .rationale = std::string(defaults::max_rationale_bytes, 'r')});
  }
  EXPECT_EQ(make_reports("run-1", 4, {}, std::move(judged), {}).size(), 4u);
}

JudgeScore judged_by_many() {
  return {.metric = MetricId::relevancy,
          .votes = std::vector<CountedVote>(defaults::max_judge_samples),
          .rationale = std::string(defaults::max_rationale_bytes, 'r')};
}

bool is_taken(const wire::Report& report) {
  const auto frames = wire::encode(report);
  return wire::decode_to_coordinator(frames.header, frames.body).has_value();
}

TEST(Reports, AMessageOfManyVotesIsTaken) {
  auto judged = results(256);
  for (UnitResult& result : judged) {
    result.scores.resize(1);
    result.scores[0].judged.assign(60, judged_by_many());
  }
  const auto reports = make_reports("run-1", 4, {}, std::move(judged), {});
  std::size_t reported = 0;
  for (const auto& report : reports) {
    EXPECT_TRUE(is_taken(report)) << report.results.size();
    reported += report.results.size();
  }
  EXPECT_EQ(reported, 256u);
}

/// What calls took, with as many bytes as there can be.
Spend largest_spend() {
  constexpr std::uint32_t most = 0xffffffff;
  Spend spend;
  spend.calls = spend.retries = spend.rate_limited = spend.latency_ms = most;
  spend.waited_permit_ms = spend.waited_pause_ms = spend.waited_retry_ms = most;
  for (const auto kind : {CallKind::answer, CallKind::embedding, CallKind::judge, CallKind::baseline})
    spend.paid.of(kind) = {std::uint64_t{1} << 63, std::uint64_t{1} << 63};
  spend.unmetered = 0x0f;
  return spend;
}

// What a coordinator refuses as too large is not sent again in parts: so there must be none of it. Units that
// began, were given back and were paid for do not count when REPORTs are cut; no worker has more of each than
// its window holds, with the two results beside them that have most values for their bytes.
TEST(Reports, TheFullestMessageOfAWorkerIsTaken) {
  const std::vector<UnitId> units(defaults::max_window, 0xffffffff);
  const std::vector<UnitSpend> spent(defaults::max_window, {0xffffffff, largest_spend()});
  auto dense = results(3);
  for (UnitResult& result : dense) {
    result.scores.resize(4);
    std::size_t positions = (defaults::max_bytes_per_work - defaults::reported_result_bytes -
                             result.scores.size() * defaults::reported_trial_bytes - 1) /
                            defaults::reported_position_bytes;
    for (TrialScore& score : result.scores) {
      score.claims.missing.resize(std::min<std::size_t>(positions, defaults::max_wire_items));
      positions -= score.claims.missing.size();
    }
  }
  const auto reports = make_reports("run-1", 4, units, dense, units, spent);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].results.size(), 2u) << "as many as come beside all that is else to be said";
  for (const auto& report : reports) EXPECT_TRUE(is_taken(report)) << report.results.size();
}

// It has a third of the bytes that a message may have, and was refused each time that it came.
TEST(Reports, AResultOfMoreValuesThanAMessageHoldsIsAnError) {
  UnitResult result;
  result.answer = sha256("answer");
  result.scores.resize(1);
  result.scores[0].judged.assign(15'000, judged_by_many());
  EXPECT_FALSE(is_taken({"run-1", 4, {}, {result}}));
  const UnitResult fit = fit_for_report(std::move(result));
  ASSERT_TRUE(fit.error);
  EXPECT_EQ(fit.error->reason, Reason::answer_too_large);
  EXPECT_NE(fit.error->message.find("values"), std::string::npos) << fit.error->message;
  EXPECT_TRUE(is_taken({"run-1", 4, {}, {fit}}));
}

std::size_t bytes_on_the_wire(UnitResult result) {
  const auto reports = make_reports("run-1", 4, {7}, {std::move(result)}, {});
  EXPECT_EQ(reports.size(), 2u) << "what is nearly as large as a message goes alone";
  return wire::encode(reports.back()).body.size();
}

TEST(Reports, TheLargestResultFitsIntoAMessage) {
  UnitResult result;
  result.observed.emplace().text = std::string(defaults::max_reported_bytes - 1000, 'x');
  const UnitResult same = fit_for_report(result);
  EXPECT_EQ(same, result);
  EXPECT_LE(bytes_on_the_wire(same), defaults::max_frame_bytes);
  result.observed->text[0] = '\xff';
  EXPECT_FALSE(fit_for_report(result).observed) << "mended it may be three times as long";
}

// The coordinator refused its message each time that it came, and the run never ended.
TEST(Reports, AResultThatNoMessageHoldsIsAnErrorThatSaysWhatIsTooLarge) {
  UnitResult result;
  result.unit = 3;
  result.key = sha256("key");
  result.answer = sha256("answer");
  result.usage = {5, 6};
  result.spend.calls = 2;
  result.shown_text = "two\nlines";
  result.scores.resize(1);
  result.observed.emplace().text = std::string(defaults::max_reported_bytes, 'x');
  const UnitResult fit = fit_for_report(result);
  UnitResult expected;
  expected.unit = 3;
  expected.key = result.key;
  expected.answer = result.answer;
  expected.usage = result.usage;
  expected.spend = result.spend;
  expected.shown_text = "two lines";
  expected.error = fit.error;
  EXPECT_EQ(fit, expected);
  ASSERT_TRUE(fit.error);
  EXPECT_EQ(fit.error->reason, Reason::answer_too_large);
  EXPECT_NE(fit.error->message.find("--save-observations"), std::string::npos) << fit.error->message;

  result.error = Error{Reason::truncated, "cut off"};
  const UnitResult ended = fit_for_report(std::move(result));
  EXPECT_EQ(ended.error->reason, Reason::truncated);
  EXPECT_TRUE(ended.error->message.starts_with("cut off; the result has ")) << ended.error->message;
}

TEST(Reports, ClaimsOfWhichNoMessageHoldsTheResultAreNamed) {
  UnitResult result;
  result.parsed.resize(2);
  result.claims.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    result.parsed[i].value = std::string(defaults::max_reported_bytes / 4, 'p');
    result.claims[i].value = std::string(defaults::max_reported_bytes / 4, 'c');
  }
  const UnitResult fit = fit_for_report(std::move(result));
  ASSERT_TRUE(fit.error);
  EXPECT_EQ(fit.error->reason, Reason::answer_too_large);
  EXPECT_NE(fit.error->message.find("the answer's 2 claims"), std::string::npos) << fit.error->message;
  EXPECT_TRUE(fit.claims.empty());
}

}  // namespace reports_test
}  // namespace sluice
