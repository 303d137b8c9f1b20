#pragma once

#include "common/model/cache_key.hpp"
#include "tests/actors/model_client_fixture.hpp"
#include "worker/providers/http_message.hpp"
#include "worker/units/unit_result.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice {

/// From an answer to its grade beside the baseline's: the model client with a fake provider.
class GradingFlowTest : public ModelClientTest {
 protected:
  GradingFlowTest() { grade_by(GradeJudge::exact); }

  void grade_by(GradeJudge judge) {
    settings.grading = GradingSettings{judge, "openai", "old-model"};
    settings.grading->llm.judge = Judge::model;
    settings.grading->llm.provider = "openai";
    settings.grading->llm.model = "judge-1";
    settings.grading->llm.temperature = 0.7;
  }

  static SharedUnit question(UnitId id) {
    WorkUnit work = free_text(id);
    work.request.temperature = 0.25;
    work.request.max_tokens = 321;
    work.request.seed = 7;
    return std::make_shared<const WorkUnit>(std::move(work));
  }

  static HttpDone compared(const HttpCall& call, double score) {
    return said(call.id, R"({\"notes\":\"so\",\"quality_score\":)" + std::to_string(score) + "}");
  }
  static nlohmann::json body_of(const HttpCall& call) {
    return nlohmann::json::parse(whole_body(call.request));
  }
  /// Brings a unit to what comes after both answers.
  std::vector<HttpCall> answer_both(const SharedUnit& work, const std::string& candidate,
                                    const std::string& baseline) {
    complete({work});
    end_calls({said(only_call(), candidate)});
    end_calls({said(only_call(), baseline)});
    return calls();
  }
  static GradingResult grade_of(const CompletedUnit& done) {
    EXPECT_TRUE(done.evidence.grade);
    return done.evidence.grade.value_or(GradingResult());
  }
  /// Of the baseline's answer that is pinned with the unit's result; zero: none.
  static Digest pinned_by(const CompletedUnit& done) {
    return done.evidence.baseline ? done.evidence.baseline->digest : Digest{};
  }
  Digest baseline_key() const {
    return cache_key(settings.providers[0], baseline_request(*settings.grading, question(1)->request), 0);
  }
  Completion cached_baseline() const { return store->find_answer(baseline_key()).value().value(); }
};

}  // namespace sluice
