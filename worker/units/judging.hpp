#pragma once

#include "common/checks/key_mask.hpp"
#include "common/model/judge.hpp"
#include "common/model/run_settings.hpp"
#include "worker/answer_store.hpp"
#include "worker/calls/call_engine.hpp"
#include "worker/calls/model_call.hpp"
#include "worker/scoring/votes.hpp"
#include "worker/units/enricher.hpp"
#include "worker/units/renewed_votes.hpp"

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

/// The call for a vote: a model call whose entry is a vote. The request and the store must outlive it.
class VoteCall final : public ModelCall {
 public:
  using ModelCall::ModelCall;
  EntryKey entry_key() const { return {EntryKind::vote, keyed_.key}; }
  Result<void> take_entry(std::string_view entry) override;
  CallKind kind() const override { return CallKind::judge; }
  std::string log_member() const override { return R"("unit":null)"; }
};

/// How a judge is made to answer, and read.
struct VoteForm {
  std::string_view schema_name;
  SharedText schema;
  Result<Vote> (*read)(std::string_view text) = read_vote;
  Reason unreadable = Reason::judge_unparsable;  ///< The error of `read` after which it is asked again.
  bool names_scores = true;                      ///< Errors say of which score they are, of a test's.
};

/// `answer_too_long` of a text that is too long for a judge: what is cut off would be judged unread. `whose`:
/// "the answer".
std::optional<Error> too_long_for_judge(std::string_view text, std::string_view whose);

/// Gets the votes of judges about the answers of one run (docs/judges.md): from the cache, from other
/// workers' caches, or by ordinary calls; all votes of an answer at once, and each that several units need
/// once. Holds no clock and no connection; not thread-safe.
class Judging final : public Enricher {
 public:
  /// Settings, engine and keys must outlive it. What a judge says that gives no vote is told without the
  /// keys.
  Judging(const RunSettings& settings, std::shared_ptr<AnswerStore> store, CallEngine& engine,
          std::uint32_t owner, const KeyMask& keys);
  /// The same by another judge than the run's, who answers in a form of its own. It must outlive this.
  Judging(const RunSettings& settings, const JudgeSettings& judge, VoteForm form,
          std::shared_ptr<AnswerStore> store, CallEngine& engine, std::uint32_t owner, const KeyMask& keys);

  std::optional<std::variant<Evidence, Error>> begin(std::uint64_t unit, const WorkUnit& work,
                                                     std::string_view answer, TimePoint deadline,
                                                     const Moment& moment) override;
  void start_calls(const Moment& moment) override;
  void on_call_ended(const CallEnded& ended, const Moment& moment, std::vector<Enriched>& outcomes) override;
  TimePoint deadline(std::uint64_t unit, TimePoint now) override;
  Spend leave(std::uint64_t unit) override;
  std::vector<UnitSpend> take_late() override { return std::exchange(late_, {}); }
  Error late() const override;
  void cancel() override;

 private:
  /// A vote of a unit: by its task, by the task's judge metric, by its index.
  struct Seat {
    std::size_t task = 0;
    std::size_t metric = 0;
    std::uint32_t index = 0;
  };
  /// A unit that lacks votes.
  struct Waiting {
    UnitId of_run = 0;
    UnitVotes votes;
    std::map<Digest, std::vector<Seat>> open;  ///< Seats by the key of the vote that they lack.
    TimePoint deadline;
    Duration outages_before{};  ///< Of the judge's provider, when it began.
    Spend spend;
    /// Why there will be no score. It still waits for votes whose calls are under way, which it pays for.
    std::optional<Error> failed{};
    bool given_up = false;  ///< As Enriched has it.
  };
  /// Why a vote does not come.
  struct NoVote {
    Error error;
    bool given_up = false;  ///< As CallEnded has it.
  };
  /// A vote on its way.
  struct UnderWay {
    UnderWay(std::shared_ptr<const ModelRequest> to_send, std::shared_ptr<const JudgeExpectation> by,
             const Digest& key, AnswerStore& store)
        : request(std::move(to_send)), asked(std::move(by)), call({request.get(), key, {}}, store) {}
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

    std::shared_ptr<const ModelRequest> request;    ///< That of all votes of one metric on one answer.
    std::shared_ptr<const JudgeExpectation> asked;  ///< Likewise: what an error says that it is of.
    VoteCall call;
    CallId call_id = 0;
    TimePoint deadline{};          ///< Of the call.
    bool was_sought = false;       ///< In other workers' caches: that is done once.
    bool was_called = false;       ///< Each further call repeats one.
    std::uint32_t unreadable = 0;  ///< Answers that were no votes.
    std::vector<std::uint64_t> waiters;
    UnitId left_by = 0;  ///< Who pays where nobody waits any more: the last who did.
  };
  using Votes = std::map<Digest, UnderWay>;

  /// What became of a vote in the caches.
  using Found = std::optional<std::variant<Vote, Error>>;

  ModelRequest request_for(const JudgeExpectation& expectation, const JudgedQuestion& question,
                           std::string_view answer) const;
  std::string score_in_words(const JudgeExpectation& expectation) const;
  std::string quoted(std::string text) const;
  bool renews() const { return !settings_.read_cache || judge_.refresh; }
  Found find(const Digest& key) const;
  std::optional<Error> take_seats(std::uint64_t unit, const WorkUnit& work, std::string_view answer,
                                  Waiting& waiting);
  void submit(Votes::iterator vote, TimePoint deadline, const Moment& moment);
  Result<Vote> read(UnderWay& vote, bool lent);
  void hand_out(Votes::iterator vote, const Vote& given, bool lent, std::vector<Enriched>& outcomes);
  void ask_again(Votes::iterator vote, std::vector<Enriched>& outcomes);
  void drop(Votes::iterator vote);
  void fail_waiters(Votes::iterator vote, const NoVote& why, std::vector<Enriched>& outcomes);
  void fail_units(const Digest& vote, const std::vector<std::uint64_t>& units, const NoVote& why,
                  std::vector<Enriched>& outcomes);
  void expire(Votes::iterator vote, const Error& error, std::vector<Enriched>& outcomes);
  void leave_votes(std::uint64_t unit, Waiting& waiting);
  bool stop_waiting(std::uint64_t unit, Waiting& waiting, Votes::iterator vote);
  static void count_repeats(UnderWay& vote, Spend& spend);
  bool withdraw(UnderWay& vote, Waiting& waiting);
  void finish(std::map<std::uint64_t, Waiting>::iterator unit, std::vector<Enriched>& outcomes);
  TimePoint deadline_of(const Waiting& waiting, TimePoint now) const;

  const RunSettings& settings_;
  const JudgeSettings& judge_;
  const ProviderSettings* provider_ = nullptr;  ///< Null if nobody was named.
  VoteForm form_;
  std::vector<SharedText> systems_;  ///< Of the rubrics.
  std::shared_ptr<AnswerStore> store_;
  CallEngine& engine_;
  std::uint32_t owner_;
  const KeyMask& keys_;
  std::map<std::uint64_t, Waiting> waiting_;
  Votes votes_;
  std::map<std::uint64_t, Digest> by_number_;  ///< Votes that are called for, by their calls' numbers.
  std::uint64_t next_number_ = 1;
  std::vector<UnitSpend> late_;
  std::vector<Digest> again_;  ///< Votes that are to be asked for again with the next turn.
  RenewedVotes renewed_;       ///< Where votes are renewed: those that this run has got already.
};

}  // namespace sluice
