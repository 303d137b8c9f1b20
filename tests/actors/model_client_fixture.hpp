#pragma once

#include "tests/actors/actor_fixture.hpp"
#include "tests/support/temporary_folder.hpp"
#include "worker/http/http_messages.hpp"
#include "worker/messages.hpp"
#include "worker/model_client.hpp"

#include <algorithm>
#include <iterator>

namespace sluice {

using namespace std::chrono_literals;

inline constexpr const char* no_claims = R"({"claims":[]})";

/// A model client between a fake HTTP actor, which the test answers for, and a fake worker.
class ModelClientTest : public ActorTest {
 protected:
  using Http = Probe<HttpCalls, HttpCancel>;
  using Worker = Probe<PauseAsked, UnitsCompleted>;

  ModelClientTest() {
    settings.run_id = "run-1";
    settings.mode = Mode::live;
    ProviderSettings provider;
    provider.name = "openai";
    provider.base_url = "http://127.0.0.1:1/v1";
    settings.providers = {provider};
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

  /// A new client on the same store: the next run.
  void restart() {
    ModelClientConfig config;
    config.settings = settings;
    config.keys = {{"openai", ""}};
    config.store = store;
    config.http = http.handle();
    config.worker = worker.handle();
    config.random_seed = 7;
    client = spawn_model_client(system(), std::move(config));
    owned(client);
  }

  static SharedUnit unit(UnitId id) {
    WorkUnit work;
    work.unit = id;
    work.key = sha256("unit " + std::to_string(id));
    work.request.provider = "openai";
    work.request.model = "m";
    work.request.user = "unit " + std::to_string(id);
    work.request.response_schema = share("{}");
    return std::make_shared<const WorkUnit>(std::move(work));
  }

  void complete(std::vector<SharedUnit> units) {
    caf::send_as(worker.handle(), client, CompleteUnits{std::move(units)});
    settle();
  }
  void complete(UnitId id) { complete({unit(id)}); }

  void end_calls(std::vector<HttpDone> done) {
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
    caf::anon_send(client, BudgetChanged{connected, std::move(grants)});
    settle();
  }

  std::vector<HttpCall> calls() {
    std::vector<HttpCall> made;
    for (auto& message : http.take<HttpCalls>()) std::ranges::move(message.calls, std::back_inserter(made));
    return made;
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
  RunSettings settings;
  std::shared_ptr<AnswerStore> store =
      std::make_shared<AnswerStore>(std::nullopt, std::vector<AnswerCache>());
  Http http{system()};
  Worker worker{system()};
  caf::actor client;
};

}  // namespace sluice
