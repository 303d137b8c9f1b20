#pragma once

#include "tests/unit/report/gated_run.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sluice::sample {

/// A test that sends a prompt and has the answer judged.
inline Case judged_case(std::string id, std::string name, MetricId metric, JudgeQuestion question = {}) {
  Case one = text_case(std::move(id), std::move(name), metric, {});
  one.expectations[0].judge = std::move(question);
  return one;
}

/// The votes on an answer, each of which passes from 0.5 on.
inline JudgeScore judged_by(MetricId metric, const std::vector<Vote>& votes,
                            JudgeSource source = JudgeSource::judge) {
  return count_votes(metric, votes, 0.5, source);
}

inline MetricOutcome outcome_of(const JudgeScore& judged) {
  return {judged.metric, judged.score(), judged.passed(), judged.passed() ? "" : judged.rationale};
}

inline CommittedTrial voted(TrialId trial, std::string text, JudgeScore judged) {
  CommittedTrial result = answered(trial, std::move(text), outcome_of(judged));
  result.unit.scores[0].judged = {std::move(judged)};
  return result;
}

/// A run whose answers are judged: votes that agree, that disagree, a tie, a majority against the answer
/// whose judge writes what a report must not obey, a judge that gave no vote, and a judge metric beside a
/// text.
struct JudgedRun {
  Suite suite;
  MemorySource source;
  Gate gate;
  RunResults results = results_of(suite, source, gate);

  JudgedRun() {
    add_cases();
    add_results();
    results.trials = suite.cases.size();
  }
  JudgedRun(const JudgedRun&) = delete;
  JudgedRun& operator=(const JudgedRun&) = delete;

  Aggregates aggregates() const { return *aggregate(results, sample_price); }

  ReportInput input(const Aggregates& aggregates) const {
    ReportInput input = input_of(results, aggregates);
    input.identity.judge = {"openai", "gpt-4o", "gateway"};
    input.facts.paid.of(CallKind::judge) = {4000, 600};
    input.paid_judge_cost = 0.002;
    input.source_folder = "evals";
    return input;
  }

 private:
  void add_cases() {
    using enum MetricId;
    suite.name = "judged";
    suite.rubrics = {{"faithfulness", "v1", "You judge.", "{{answer}}"},
                     {"correctness", "v2", "You judge.", "{{answer}}"},
                     {"relevancy", "v1", "You judge.", "{{answer}}"},
                     {"rubric", "mine", "You judge.", "{{criteria}}"}};
    Case beside = judged_case("judge-006", "Beside a text", faithfulness);
    beside.expectations.push_back({.what = {must_contain, {"Berlin"}}, .thresholding = {}, .min_score = {}});
    suite.cases = {
        judged_case("judge-001", "Agreed", faithfulness),
        judged_case(
            "judge-002", "Disputed", correctness,
            {.rubric = 1, .samples = {}, .reference = "Refunds take five working days.", .criteria = {}}),
        judged_case("judge-003", "A tie", relevancy,
                    {.rubric = 2, .samples = {}, .reference = {}, .criteria = {}}),
        judged_case("judge-004", "Outvoted", rubric,
                    {.rubric = 3, .samples = {}, .reference = {}, .criteria = "It is polite."}),
        judged_case("judge-005", "Unreadable", faithfulness),
        std::move(beside),
    };
  }

  void add_results() {
    using enum MetricId;
    const std::string hostile =
        "Rude.\n::error::pwned\r\n<img src=x> @everyone ]]> &amp; | `x` \x1b[31m\xe2\x80\xae \xff" +
        std::string(700, 'x') + " the end";
    source.trials = {
        voted(0, "All of it is in the text.",
              judged_by(faithfulness, {{0.9, "Supported."}, {1.0, "Yes."}, {0.8, "Mostly."}})),
        voted(1, "Refunds take a week.",
              judged_by(correctness, {{0.75, "A week is about\nfive working days."},
                                      {0.25, "A week is seven days."},
                                      {1.0, "It says the same."}})),
        voted(2, "Perhaps.",
              judged_by(relevancy, {{1.0, "It answers."}, {0.25, "It says nothing."}}, JudgeSource::cache)),
        voted(3, "Go away.",
              judged_by(rubric,
                        {{0.125, hostile}, {0.0, "No."}, {0.0, "Never."}, {0.5, "Blunt."}, {0.0, "No."}})),
        errored(4, 4,
                {Reason::judge_unparsable,
                 "the judge's answer is no vote: it is no JSON object (asked 3 times)"}),
        voted(5, "It is Paris.", judged_by(faithfulness, {{0.75, "Yes."}})),
    };
    auto& metrics = source.trials[5].unit.scores[0].metrics;
    metrics.insert(metrics.begin(), {must_contain, std::nullopt, false, "does not contain \"Berlin\""});
  }
};

}  // namespace sluice::sample
