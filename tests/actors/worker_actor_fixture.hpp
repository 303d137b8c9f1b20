#pragma once

#include "common/model/cache_key.hpp"
#include "common/transport/messages.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/support/temporary_folder.hpp"
#include "worker/http/http_messages.hpp"
#include "worker/messages.hpp"
#include "worker/units/scorer.hpp"
#include "worker/worker_actor.hpp"

#include <algorithm>
#include <iterator>

namespace sluice {

using namespace std::chrono_literals;

inline constexpr const char* worker_ontology =
    "version = \"1\"\n[[subject]]\npath = \"a/b\"\ndescription = \"d\"\n"
    "[[subject.predicate]]\nname = \"p\"\ntype = \"text\"\ndescription = \"d\"\n";

/// A worker between a fake dealer, for which the test speaks as the coordinator, and a fake HTTP actor.
class WorkerActorTest : public ActorTest {
 protected:
  WorkerActorTest() {
    settings.run_id = "run-1";
    settings.mode = Mode::live;
    settings.ontology = worker_ontology;
    settings.heartbeat_interval = 1000ms;
    settings.connect_timeout = 10s;
    settings.request_timeout = 120s;
    settings.case_timeout = 15min;
    settings.backoff_initial = 500ms;
    ProviderSettings provider;
    provider.name = "openai";
    provider.base_url = "http://127.0.0.1:1/v1";
    settings.providers = {provider};
  }

  void start(bool stay = false) {
    auto cache = AnswerCache::open(folder.path() / "cache");
    ASSERT_TRUE(cache) << cache.error().message;
    store = std::make_shared<AnswerStore>(std::move(*cache), std::vector<AnswerCache>());
    WorkerConfig config;
    config.name = "w";
    config.instance = 42;
    config.max_concurrent = 2;
    config.store = store;
    const auto nothing = [](std::string_view) { return std::optional<std::string>(); };
    SettingSources none;
    none.environment = nothing;
    config.keys =
        std::make_shared<const KeyRing>(nothing, *merge_settings(none), CoordinatorPlace::this_machine);
    config.stay = stay;
    config.drain_timeout = drain_timeout;
    config.watch = watch;
    config.metrics = metrics;
    config.coordinator_timeout = coordinator_timeout;
    config.boot_clock = [this] { return boot(); };
    config.start_scorer = [this](caf::actor_system& where, auto checks, const caf::actor& of) {
      auto started = spawn_scorer(where, std::move(checks), of);
      scorer = started.address();
      return started;
    };
    config.listener = listener.handle();
    worker = owned(spawn_worker(
        system(), std::move(config), [this](const caf::actor&) { return dealer.handle(); }, http.handle()));
    settle();
  }

  template <class... Messages>
  void hear(Messages... messages) {
    FromCoordinator batch;
    (batch.messages.emplace_back(std::move(messages)), ...);
    caf::anon_send(worker, std::move(batch));
    settle();
  }

  void hear_unreadable_work() {
    FromCoordinator unreadable;
    unreadable.unreadable_work = Error{Reason::message_malformed, "malformed WORK: field 2.0.4.3"};
    caf::anon_send(worker, std::move(unreadable));
    settle();
  }

  /// What the worker said since the last call, of one kind.
  template <class Message>
  std::vector<Message> said() {
    std::vector<Message> found;
    std::erase_if(dealer.got<ToCoordinatorNow>(), [&](ToCoordinatorNow& outgoing) {
      auto* wanted = std::get_if<Message>(&outgoing.message);
      if (wanted) found.push_back(std::move(*wanted));
      return wanted != nullptr;
    });
    return found;
  }

  WorkUnit unit(UnitId id) const {
    WorkUnit work;
    work.unit = id;
    work.request.provider = "openai";
    work.request.user = std::to_string(id);
    work.key = cache_key(settings.providers.at(0), work.request, work.repeat);
    work.tasks = {{id, {}, {}, 0.0, true, {}}};
    return work;
  }
  void lease(std::vector<UnitId> ids) {
    wire::Work work{"run-1", {}};
    for (const auto id : ids) work.units.push_back(unit(id));
    hear(std::move(work));
  }
  std::vector<HttpCall> calls() {
    std::vector<HttpCall> made;
    for (auto& message : http.take<HttpCalls>()) std::ranges::move(message.calls, std::back_inserter(made));
    return made;
  }
  void answer(const std::vector<HttpCall>& answered, int status = 200, const HttpHeaders& headers = {}) {
    HttpCallsDone ended;
    for (const auto& call : answered) {
      auto& done = ended.done.emplace_back();
      done.id = call.id;
      done.response = {status, headers,
                       R"({"choices":[{"message":{"content":"{\"claims\":[]}"},"finish_reason":"stop"}]})"};
    }
    // The caller of every call is the run's model client, which the fake remembers for the test.
    caf::anon_send(client(), std::move(ended));
    settle();
  }
  void answer(const HttpCall& call, int status = 200, const HttpHeaders& headers = {}) {
    answer(std::vector{call}, status, headers);
  }
  caf::actor client() { return caf::actor_cast<caf::actor>(http.last_sender()); }

  BootTime boot() {
    auto& scheduler = dynamic_cast<caf::scheduler::test_coordinator&>(system().scheduler());
    return std::chrono::duration_cast<BootTime>(scheduler.clock().now().time_since_epoch());
  }
  std::uint64_t boot_us() { return static_cast<std::uint64_t>(boot().count()); }
  wire::Grants grants(wire::Grant grant) { return {"run-1", boot_us(), boot_us(), {std::move(grant)}}; }
  static wire::Grant unlimited() {
    wire::Grant grant;
    grant.provider = "openai";
    grant.unlimited = true;
    return grant;
  }

  void begin() {
    start();
    hear(wire::Welcome{settings});
    hear(grants(unlimited()));
    said<wire::Hello>();
    said<wire::Ready>();
  }
  bool has_ended() { return !listener.got<WorkerEnded>().empty(); }

  std::chrono::milliseconds drain_timeout{};
  std::chrono::milliseconds coordinator_timeout = 60s;
  WatchWorker watch;
  std::shared_ptr<WorkerMetrics> metrics;  ///< Null: nothing is counted.
  support::TemporaryFolder folder;
  RunSettings settings;
  std::shared_ptr<AnswerStore> store;
  Probe<ToCoordinatorNow, ReopenSocket, CloseSocket> dealer{system()};
  Probe<HttpCalls, HttpCancel> http{system()};
  Probe<WorkerEnded> listener{system()};
  caf::actor worker;
  caf::actor_addr scorer;  ///< Of the latest run.
};

}  // namespace sluice
