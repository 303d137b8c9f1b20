#pragma once

#include "tests/actors/model_client_fixture.hpp"
#include "worker/defaults.hpp"
#include "worker/providers/http_message.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {

/// From an answer to the votes about it: the model client with a fake provider.
class JudgingFlowTest : public ModelClientTest {
 protected:
  JudgingFlowTest() {
    settings.judge.judge = Judge::model;
    settings.judge.provider = "openai";
    settings.judge.model = "judge-1";
    settings.judge.max_tokens = 100;
    settings.judge.rubrics = {
        {"faithfulness", "v1", "You judge.", "Q {{prompt}} C {{context}} A {{answer}}"}};
  }

  /// A unit of free text whose answer is judged.
  static SharedUnit judged(UnitId id, std::uint32_t samples = 3, std::string prompt = "question") {
    ScoringTask task;
    task.judged = {{MetricId::faithfulness, 0, samples, 0.5, "", ""}};
    task.question = {std::move(prompt), "context"};
    return std::make_shared<const WorkUnit>(free_text(id, std::move(task)));
  }

  static HttpDone voted(const HttpCall& call, double score, const std::string& why = "so") {
    return said(call.id, R"({\"rationale\":\")" + why + R"(\",\"score\":)" + std::to_string(score) + "}");
  }
  /// Brings a unit to the calls for its votes.
  std::vector<HttpCall> ask_and_answer(const SharedUnit& work, const std::string& text = "answer") {
    complete({work});
    end_calls({said(only_call(), text)});
    return calls();
  }
  static std::vector<double> scores_of(const CompletedUnit& done) {
    std::vector<double> scores;
    if (done.evidence.votes.empty()) return scores;
    for (const Vote& vote : done.evidence.votes.at(0).at(0).votes) scores.push_back(vote.score);
    return scores;
  }
  static JudgeSource source_of(const CompletedUnit& done) { return done.evidence.votes.at(0).at(0).source; }
};

}  // namespace sluice
