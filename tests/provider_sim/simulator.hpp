#pragma once

#include "tests/provider_sim/answer_book.hpp"
#include "tests/provider_sim/counters.hpp"
#include "tests/provider_sim/event_log.hpp"
#include "tests/provider_sim/limiter.hpp"
#include "tests/provider_sim/outage.hpp"
#include "tests/provider_sim/provider_formats.hpp"
#include "tests/provider_sim/reply.hpp"
#include "tests/provider_sim/serving_places.hpp"
#include "tests/provider_sim/settings.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sluice::sim {

/// The simulated providers: decides what each request is answered. Knows no socket and reads no clock but for
/// the dates in Anthropic's limit headers. Not thread-safe.
class Simulator : public Service {
 public:
  /// `log` must outlive the simulator.
  Simulator(SimSettings settings, EventLog& log);

  void respond(const HttpRequest& request, std::uint64_t connection, bool last, std::int64_t now_us,
               Reply& reply) override;
  void reject(int status, Reply& reply) override;
  void finished(const Reply& reply, bool gone, std::int64_t now_us) override;
  void tick() override { log_.flush(); }
  bool is_unreachable(std::int64_t now_us) const override;

 private:
  /// The request that is being answered.
  struct Call {
    Provider provider;
    const HttpRequest& request;
    std::int64_t now_us;
    Reply& reply;
  };
  /// What an answer will be, before faults.
  struct Plan {
    std::optional<std::uint32_t> script;
    std::string_view built_in;   ///< The whole text of the built-in rules, or of the judge.
    std::string_view escaped;    ///< The text as it stands in the body.
    std::size_t text_bytes = 0;  ///< Its length unescaped.
    Finish finish = Finish::stop;
    std::string_view finish_word;
  };

  bool serve_house(const HttpRequest& request, std::string_view path, Reply& reply);
  std::optional<Provider> route(std::string_view path);
  void serve_chat(const Call& call);
  void serve_embeddings(const Call& call);
  bool turned_away(const Call& call, const std::optional<std::string>& bad_request, const TokenCost& cost);
  bool struck_by_outage(const Call& call);
  bool authorized(const Call& call) const;
  /// What the front says of a query without a field that it needs; nothing if all is there.
  std::optional<std::string> missing_in_query(std::string_view target) const;
  void start(const Call& call, std::uint64_t connection, std::uint64_t content);
  Plan plan_answer(const BookEntry& entry);
  void use_text(Plan& plan, std::string_view text);
  void cut_text(Plan& plan, std::string_view text, std::size_t bytes);
  const ScriptRule* consume_script(const Plan& plan);
  void answer(const Call& call, const BookEntry& entry, Plan& plan);
  bool answer_from_script(const Call& call, const ScriptRule& rule);
  void answer_text(const Call& call, const Plan& plan, Fault fault);
  bool apply_transport_fault(const Call& call, Fault fault);
  void deliver(const Call& call, int status);
  void error(const Call& call, int status, std::string_view message,
             std::optional<NamedDelay> retry_after = {});
  std::optional<NamedDelay> injected_retry_after(int status) const;
  void delay(const Call& call, std::int64_t takes_us);
  void reset();

  SimSettings settings_;
  EventLog& log_;
  AnswerBook book_;
  Limiter limiter_;
  FaultSource faults_;
  Judge judge_;
  OutageSchedule outages_;
  ServingPlaces places_;
  Counters counters_;
  std::uint64_t next_id_ = 1;   ///< Of log lines; never starts anew.
  std::uint64_t sequence_ = 0;  ///< Requests since the start or the last reset.
  std::vector<std::uint64_t> script_uses_;
  bool last_ = false;  ///< The connection closes behind the reply.

  // Scratch space, kept for its memory.
  ChatRequest chat_;
  std::string gemini_model_;
  std::string headers_;
  std::string body_;
  std::string text_;
  std::string escaped_;
  JudgeReply vote_;
};

}  // namespace sluice::sim
