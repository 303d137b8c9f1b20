#pragma once

#include "tests/actors/actor_fixture.hpp"
#include "tests/support/temporary_folder.hpp"
#include "worker/http/http_messages.hpp"
#include "worker/messages.hpp"
#include "worker/model_client.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace sluice {

using namespace std::chrono_literals;

inline constexpr const char* no_claims = R"({"claims":[]})";

/// A model client between a fake HTTP actor, which the test answers for, and a fake worker, which is the
/// scorer, too. The boot clock is the simulated one, and the coordinator's shows the same time.
class ModelClientTest : public ActorTest {
 protected:
  using Http = Probe<HttpCalls, HttpCancel>;
  using Worker = Probe<DemandChanged, EntryMessages, WorkerUnfit, UnitsCompleted, UnitsScored, UnitsReturned>;

  ModelClientTest() {
    settings.run_id = "run-1";
    settings.mode = Mode::live;
    ProviderSettings provider;
    provider.name = "openai";
    provider.base_url = "http://127.0.0.1:1/v1";
    settings.providers = {provider};
    settings.heartbeat_interval = 1s;
    settings.connect_timeout = 10s;
    settings.request_timeout = 120s;
    settings.case_timeout = 15min;
    settings.backoff_initial = 500ms;
    settings.max_retries = 5;
  }

  void start(bool with_cache = false) {
    if (with_cache) {
      auto cache = AnswerCache::open(folder_.path() / "cache");
      ASSERT_TRUE(cache) << cache.error().message;
      store = std::make_shared<AnswerStore>(std::move(*cache), std::vector<AnswerCache>());
    }
    restart();
  }

  /// A new client on the same store: the next run. Its calls need no permits until something else is granted.
  void restart() {
    start_without_grant();
    budget(true, {unlimited()});
    worker.take<DemandChanged>();
  }
  void start_without_grant() {
    ModelClientConfig config;
    config.flow.settings = settings;
    config.flow.credentials = {{"openai", ""}};
    config.flow.key_mask = key_mask;
    config.flow.redactor = redactor;
    config.flow.store = store;
    config.flow.random_seed = 7;
    config.flow.max_concurrent = max_concurrent;
    config.flow.log_calls = log_calls;
    config.http = http.handle();
    config.worker = worker.handle();
    config.scorer = worker.handle();
    config.boot_clock = [this] { return boot(); };
    client = spawn_model_client(system(), std::move(config));
    owned(client);
  }

  /// Runs until no actor has anything to do. No other worker's cache holds anything, unless the test answers
  /// what is sought by itself.
  void settle() {
    ActorTest::settle();
    while (caches_hold_nothing && !worker.got<EntryMessages>().empty()) {
      EntriesFound nothing;
      for (const auto& key : sought()) nothing.entries.push_back({key, ""});
      caf::anon_send(client, std::move(nothing));
      ActorTest::settle();
    }
  }
  /// What was sought in other workers' caches since the last call; what else was said of entries goes to
  /// `stored`.
  std::vector<EntryKey> sought() {
    std::vector<EntryKey> keys;
    for (auto& said : worker.take<EntryMessages>()) {
      EXPECT_EQ(said.run_id, "run-1");
      for (auto& message : said.messages) {
        if (auto* seek = std::get_if<wire::Seek>(&message))
          std::ranges::move(seek->keys, std::back_inserter(keys));
        if (auto* news = std::get_if<wire::Stored>(&message)) stored.push_back(std::move(*news));
      }
    }
    return keys;
  }
  void found(const EntryKey& key, std::string entry) {
    caf::anon_send(client, EntriesFound{{{key, std::move(entry)}}});
    ActorTest::settle();
  }

  /// Lets time pass in which the coordinator is heard every second, if it was heard last.
  std::size_t pass(std::chrono::milliseconds time) {
    look_at_calls();
    std::size_t turns = 0;
    for (; time >= 1s; time -= 1s) {
      turns += ActorTest::pass(1s);
      hear_again();
    }
    if (time > 0ms) turns += ActorTest::pass(time);
    return turns;
  }
  void hear_again() {
    if (!is_heard) return;
    caf::anon_send(client, BudgetChanged{true, false, {"run-1", boot_us(), boot_us(), {}}, boot()});
    settle();
  }

  TimePoint now() {
    return dynamic_cast<caf::scheduler::test_coordinator&>(system().scheduler()).clock().now();
  }
  BootTime boot() { return std::chrono::duration_cast<BootTime>(now().time_since_epoch()); }
  std::uint64_t boot_us() { return static_cast<std::uint64_t>(boot().count()); }

  static SharedUnit unit(UnitId id) {
    WorkUnit work;
    work.unit = id;
    work.key = sha256("unit " + std::to_string(id));
    work.request.provider = "openai";
    work.request.model = "m";
    work.request.user = "unit " + std::to_string(id);
    work.request.response_schema = share("{}");
    work.request.schema_name = claims_schema_name;
    return std::make_shared<const WorkUnit>(std::move(work));
  }

  /// Of free text, assessed by the task.
  static WorkUnit free_text(UnitId id, ScoringTask task = {}) {
    WorkUnit work = *unit(id);
    work.request.response_schema = nullptr;
    work.request.schema_name.clear();
    task.assesses_claims = false;
    work.tasks = {std::move(task)};
    return work;
  }

  void complete(std::vector<SharedUnit> units) {
    caf::send_as(worker.handle(), client, CompleteUnits{std::move(units)});
    settle();
  }
  void complete(UnitId id) { complete({unit(id)}); }

  void end_calls(std::vector<HttpDone> done) {
    for (HttpDone& one : done) {
      const auto began = began_.find(one.id);
      if (began != began_.end())
        one.elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now() - began->second);
    }
    caf::anon_send(client, HttpCallsDone{std::move(done)});
    settle();
  }
  static HttpDone answered(std::uint64_t id, int status, std::string body, HttpHeaders headers = {}) {
    HttpDone done;
    done.id = id;
    done.response = {status, std::move(headers), std::move(body)};
    return done;
  }
  static HttpDone answered_claims(std::uint64_t id, const std::string& content = R"({\"claims\":[]})") {
    return answered(id, 200,
                    R"({"model":"m-1","choices":[{"message":{"content":")" + content +
                        R"("},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5}})");
  }
  /// An answer of free text.
  static HttpDone said(std::uint64_t id, const std::string& text) { return answered_claims(id, text); }
  void answer(std::uint64_t id, int status, std::string body, HttpHeaders headers = {}) {
    end_calls({answered(id, status, std::move(body), std::move(headers))});
  }
  void answer_claims(std::uint64_t id, const std::string& content = R"({\"claims\":[]})") {
    end_calls({answered_claims(id, content)});
  }
  void fail_call(std::uint64_t id, HttpFailure::Kind kind) {
    HttpDone done;
    done.id = id;
    done.failure = HttpFailure{kind, "it broke"};
    end_calls({std::move(done)});
  }
  void budget(bool connected, std::vector<wire::Grant> grants = {}) {
    is_heard = connected;
    BudgetChanged changed{connected, false, {}, boot()};
    if (connected) changed.grants = {"run-1", boot_us(), boot_us(), std::move(grants)};
    caf::anon_send(client, std::move(changed));
    settle();
  }
  static wire::Grant unlimited() {
    wire::Grant grant;
    grant.provider = "openai";
    grant.unlimited = true;
    return grant;
  }
  static wire::Grant paused(std::uint32_t ms) {
    auto grant = unlimited();
    grant.pause_ms = ms;
    if (ms > 0) grant.hold = wire::HoldReason::named_delay;
    return grant;
  }
  static wire::Grant down() {
    auto grant = paused(3000);
    grant.hold = wire::HoldReason::outage;
    return grant;
  }
  /// Permits that open a millisecond ago and close in 50.
  wire::Grant permits(std::vector<std::uint64_t> ids, wire::CallSize size = {}, bool probe = false) {
    wire::Grant grant;
    grant.provider = "openai";
    for (const auto id : ids)
      grant.permits.push_back({id, boot_us() - 1000, boot_us() + 50'000, size, probe});
    return grant;
  }
  /// What was told of the provider since the last call, in order.
  std::vector<wire::Demand> demands() {
    std::vector<wire::Demand> told;
    for (auto& message : worker.take<DemandChanged>())
      std::ranges::move(message.demands, std::back_inserter(told));
    return told;
  }

  /// Those that were made since the last time. Their latency counts from when somebody looked, or time
  /// passed.
  std::vector<HttpCall> calls() {
    look_at_calls();
    return std::exchange(made_, {});
  }
  void look_at_calls() {
    for (auto& message : http.take<HttpCalls>()) {
      for (const HttpCall& one : message.calls) began_[one.id] = now();
      std::ranges::move(message.calls, std::back_inserter(made_));
    }
  }
  std::uint64_t only_call() {
    const auto made = calls();
    EXPECT_EQ(made.size(), 1u);
    return made.empty() ? 0 : made[0].id;
  }
  std::vector<CompletedUnit> outcomes() {
    std::vector<CompletedUnit> done;
    for (auto& message : worker.take<UnitsCompleted>()) {
      EXPECT_EQ(message.run_id, "run-1");
      std::ranges::move(message.units, std::back_inserter(done));
    }
    return done;
  }
  CompletedUnit only_outcome() {
    auto done = outcomes();
    EXPECT_EQ(done.size(), 1u);
    return done.empty() ? CompletedUnit{nullptr, Error{Reason::internal_error, "no outcome"}, {}}
                        : std::move(done[0]);
  }
  static Reason reason_of(const CompletedUnit& done) {
    const auto* error = std::get_if<Error>(&done.outcome);
    EXPECT_TRUE(error);
    return error ? error->reason : Reason::internal_error;
  }

  support::TemporaryFolder folder_;
  std::vector<HttpCall> made_;                ///< That nobody looked at yet.
  std::map<std::uint64_t, TimePoint> began_;  ///< By call.
  RunSettings settings;
  KeyMask key_mask;
  Redactor redactor;
  std::uint32_t max_concurrent = 256;
  bool log_calls = false;
  bool is_heard = false;  ///< As the last `budget` said.
  bool caches_hold_nothing = true;
  std::vector<wire::Stored> stored;
  std::shared_ptr<AnswerStore> store =
      std::make_shared<AnswerStore>(std::nullopt, std::vector<AnswerCache>());
  Http http{system()};
  Worker worker{system()};
  caf::actor client;
};

}  // namespace sluice
