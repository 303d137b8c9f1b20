#pragma once

#include "common/checks/key_mask.hpp"
#include "common/model/grading.hpp"
#include "common/model/run_settings.hpp"
#include "worker/answer_store.hpp"
#include "worker/calls/call_engine.hpp"
#include "worker/calls/model_call.hpp"
#include "worker/units/enricher.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {

/// The call for the baseline's answer to a unit's request.
class BaselineCall final : public ModelCall {
 public:
  using ModelCall::ModelCall;
  CallKind kind() const override { return CallKind::baseline; }
  std::string log_member() const override { return R"("unit":null)"; }
};

/// Compares the answers of a run that grades with the baseline's (docs/grading.md): gets the baseline's
/// answer to the same request from the cache or by an ordinary call, and then the comparison, by itself or
/// from the enricher whose calls it takes. Holds no clock and no connection; not thread-safe.
class Grading final : public Enricher {
 public:
  /// Settings, engine and keys must outlive it. What the baseline says is compared without the keys.
  Grading(const RunSettings& settings, std::shared_ptr<AnswerStore> store, CallEngine& engine,
          std::uint32_t owner, const KeyMask& keys);

  std::optional<std::variant<Evidence, Error>> begin(std::uint64_t unit, const WorkUnit& work,
                                                     std::string_view answer, TimePoint deadline,
                                                     const Moment& moment) override;
  void start_calls(const Moment& moment) override;
  void on_call_ended(const CallEnded& ended, const Moment& moment, std::vector<Enriched>& outcomes) override;
  void on_entry(const EntryKey& key, std::string_view entry, std::vector<Enriched>& outcomes) override;
  TimePoint deadline(std::uint64_t unit, TimePoint now) override;
  Spend leave(std::uint64_t unit) override;
  std::vector<BaselineOfUnit> take_baselines() override { return std::exchange(baselines_, {}); }
  std::vector<UnitSpend> take_late() override;
  Error late() const override;
  void cancel() override;

 private:
  /// A unit whose answer is not graded yet.
  struct Pair {
    Pair(ModelRequest to_send, const Digest& key, const TakenNonAnswers& non_answers, AnswerStore& store)
        : request(std::move(to_send)),
          call({&request, key, {{}, false, non_answers}}, store),
          taken(non_answers) {}
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    UnitId of_run = 0;
    ModelRequest request;  ///< The baseline's.
    BaselineCall call;
    CallId call_id = 0;        ///< Of the call for the baseline's answer; 0 if none is under way.
    bool is_compared = false;  ///< It waits for `comparer_`.
    TakenNonAnswers taken;     ///< The baseline's as well are answers.
    GradedAnswer baseline;
    GradedAnswer candidate;
    TimePoint deadline;
    Duration outages_before{};  ///< Of the baseline's provider, when it began.
    Spend spend;
  };
  using Pairs = std::map<std::uint64_t, Pair>;
  /// What a stage came to; nothing: it waits.
  using Outcome = std::optional<std::variant<Evidence, Error>>;

  Outcome on_baseline(std::uint64_t unit, Pair& pair, Completion answer, const Moment& moment);
  Outcome compare(std::uint64_t unit, Pair& pair, const Moment& moment);
  std::variant<Evidence, Error> graded(const Pair& pair, const Evidence& evidence) const;
  Result<Grade> grade(const Pair& pair, const Evidence& evidence) const;
  /// The answer of an ended call, stored where it replaces nothing.
  struct NewAnswer {
    Completion answer;
    std::optional<PaidBaseline> paid = {};  ///< Nothing if it was lent, is not stored, or is no answer.
  };
  Result<NewAnswer> take_new(Pair& pair, bool lent);
  static void charge(const CallEnded& ended, Spend& spend);
  void on_baseline_call(const CallEnded& ended, const Moment& moment, std::vector<Enriched>& outcomes);
  void finish(Pairs::iterator pair, std::variant<Evidence, Error> result, std::vector<Enriched>& outcomes);
  void take_compared(std::vector<Enriched>& outcomes);

  const RunSettings& settings_;
  const GradingSettings* grading_ = nullptr;    ///< Null if the run grades nothing.
  const ProviderSettings* provider_ = nullptr;  ///< The baseline's.
  JudgeSettings llm_;
  std::unique_ptr<Enricher> comparer_;  ///< Null for GradeJudge::exact.
  std::shared_ptr<AnswerStore> store_;
  CallEngine& engine_;
  std::uint32_t owner_;
  const KeyMask& keys_;
  Pairs pairs_;
  /// Nobody waits for these, but their calls are under way: what is paid for is stored, unless it would
  /// replace what no result of theirs pins any more.
  Pairs left_;
  std::vector<BaselineOfUnit> baselines_;
  std::vector<UnitSpend> late_;
  std::vector<Enriched> compared_;
};

}  // namespace sluice
