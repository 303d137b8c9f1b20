#include "worker/embed.hpp"

#include "common/process/host_name.hpp"
#include "common/settings/tcp_endpoint.hpp"
#include "common/transport/dealer.hpp"
#include "worker/cache/cache_tools.hpp"
#include "worker/cache/directories.hpp"
#include "worker/http/http_actor.hpp"
#include "worker/used_entries.hpp"
#include "worker/worker_actor.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <random>
#include <string_view>
#include <utility>

#include <spdlog/spdlog.h>
#include <unistd.h>

namespace sluice {

namespace {

/// Without it what these caches alone hold would be paid for again without a word.
void warn_of_unread_caches(const OtherCaches& others, std::string_view consequence) {
  if (others.problems.empty()) return;
  // Without descriptors it would be one line for each cache of a fleet.
  const std::size_t more = others.problems.size() - 1;
  spdlog::warn("{}{}; {}", others.problems.front().message,
               more == 0 ? std::string() : " (and " + std::to_string(more) + " more)", consequence);
}

void warn_of_what_is_paid_again(const AnswerCache& own, const OtherCaches& others) {
  if (own.has_lost_database())
    spdlog::warn(
        "the cache {} has an ID, but no database: what it held is asked and paid for again; put its "
        "folder db back, if there was one",
        own.directory().string());
  for (const auto& dir : others.in_use)
    spdlog::warn(
        "the cache {} is in use by another process, and what it alone holds is asked and paid for "
        "again: to use it, run when that one has ended",
        dir.string());
  warn_of_unread_caches(others, "what it alone holds is asked and paid for again");
}

/// Why what no cache is seen to hold may be in one all the same.
std::optional<Error> unread_of(const OtherCaches& others) {
  if (!others.problems.empty()) {
    return Error{Reason::cache_failed,
                 "it may be in a cache that cannot be read: " + others.problems.front().message};
  }
  if (others.in_use.empty()) return std::nullopt;
  return Error{Reason::cache_in_use, "another process has the cache " + others.in_use.front().string() +
                                         " open, and not all that it holds is seen here: run again when it "
                                         "has ended"};
}

using OpenedStore = Result<std::shared_ptr<AnswerStore>>;

/// Of a run that stores nothing: it needs no cache of its own, and keeps none from others that run at the
/// same time.
OpenedStore open_to_replay(const WorkerCaches& caches) {
  const std::filesystem::path home = caches.settings.home.value;
  auto all = open_others_read_only(home, {}, OwnedCaches::read_too);
  if (all.opened.empty() && !all.problems.empty() && !caches.misses_nothing)
    return fail(std::move(all.problems.front()));
  if (!caches.misses_nothing) warn_of_unread_caches(all, "its answers are not found in this run");
  auto store = std::make_shared<AnswerStore>(std::nullopt, std::move(all.opened));
  if (auto unread = unread_of(all)) store->lacks_caches(std::move(*unread));
  return store;
}

OpenedStore open_store(const WorkerCaches& caches) {
  if (!caches.use_cache) return std::make_shared<AnswerStore>(std::nullopt, std::vector<AnswerCache>());
  const std::filesystem::path home = caches.settings.home.value;
  if (caches.settings.mode.value == Mode::cached && caches.borrow_caches) return open_to_replay(caches);
  auto own = open_worker_cache(home, caches.name);
  if (!own) return fail(own.error());
  OtherCaches others;
  if (caches.borrow_caches) others = open_others_read_only(home, own->directory());
  if (!caches.misses_nothing) warn_of_what_is_paid_again(*own, others);
  auto store = std::make_shared<AnswerStore>(std::move(*own), std::move(others.opened));
  if (auto unread = unread_of(others)) store->lacks_caches(std::move(*unread));
  // Each of them is damaged for the same reason, mostly.
  const auto is_told = std::make_shared<std::atomic_flag>();
  store->watch_damage([is_told](const Error& error) {
    if (!is_told->test_and_set()) spdlog::warn("{}; live runs ask for what is damaged again", error.message);
  });
  return store;
}

std::optional<std::string> environment_variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

CoordinatorPlace place_of(const std::string& endpoint) {
  const auto tcp = parse_tcp_endpoint(endpoint);
  if (!tcp) return CoordinatorPlace::this_process;
  return is_loopback(*tcp) ? CoordinatorPlace::this_machine : CoordinatorPlace::elsewhere;
}

caf::actor spawn(caf::actor_system& system, WorkerConfig config, ConnectedDealer dealer, Mode mode) {
  const auto owned = std::make_shared<ConnectedDealer>(std::move(dealer));
  const auto start_dealer = [&system, owned](const caf::actor& worker) {
    return spawn_dealer(system, std::move(*owned), worker);
  };
  // What runs others will ask for is not known yet.
  const bool calls_come = mode == Mode::live || !config.in_coordinator;
  auto http = spawn_http(system, config.call_log, calls_come);
  config.log_calls = config.call_log != nullptr;
  return spawn_worker(system, std::move(config), start_dealer, std::move(http));
}

Result<std::vector<caf::actor>> start_workers(const LocalWorkers& options, const WorkerCaches& caches,
                                              const OpenedStore& store) {
  const Settings& settings = caches.settings;
  if (!store) return fail(store.error());
  std::shared_ptr<CallLog> call_log;
  if (options.call_log) {
    auto log = CallLog::open(*options.call_log);
    if (!log) return fail(log.error());
    call_log = std::move(*log);
  }
  const auto keys =
      std::make_shared<const KeyRing>(environment_variable, settings, place_of(options.endpoint));
  const std::string name = caches.name.value_or(default_worker_name());
  std::random_device entropy;
  const auto random_number = [&] { return (std::uint64_t{entropy()} << 32) | entropy(); };
  std::vector<ConnectedDealer> sockets;  // All of them, before there is a worker that would have to be ended.
  while (sockets.size() < options.count) {
    auto socket = connect_dealer(options.context, options.endpoint, options.key);
    if (!socket) return fail(socket.error());
    sockets.push_back(std::move(*socket));
  }
  std::vector<caf::actor> workers;
  for (std::uint32_t i = 0; i < options.count; ++i) {
    WorkerConfig config;
    config.name = options.count == 1 ? name : name + "." + std::to_string(i + 1);
    config.instance = random_number();
    config.max_concurrent = settings.max_concurrent.value;
    config.max_concurrent_named = settings.max_concurrent.origin != Origin::default_value;
    config.store = *store;
    config.keys = keys;
    config.in_coordinator = options.endpoint.starts_with("inproc://");
    config.stay = options.stay;
    config.coordinator_timeout = options.coordinator_timeout;
    config.drain_timeout = settings.drain_timeout.value;
    config.random_seed = random_number();
    config.call_log = call_log;
    config.metrics = options.metrics;
    config.watch = options.watch;
    config.listener = options.listener;
    workers.push_back(spawn(options.system, std::move(config), std::move(sockets[i]), settings.mode.value));
  }
  return workers;
}

Result<std::vector<std::optional<Completion>>> read_masked_answers(const Settings& settings,
                                                                   std::span<const UsedAnswer> wanted) {
  auto answers = read_answers(settings.home.value, wanted);
  if (!answers) return answers;
  const KeyMask keys(KeyRing(environment_variable, settings, CoordinatorPlace::this_process).all_keys());
  for (auto& answer : *answers) {
    if (answer) keys.apply(answer->text);
  }
  return answers;
}

}  // namespace

std::string default_worker_name() {
  const auto host = host_name();
  return host ? *host + "-" + std::to_string(::getpid()) : "worker";
}

StartWorkers prepare_workers(const WorkerCaches& caches) {
  const auto store = std::make_shared<std::future<OpenedStore>>(
      std::async(caches.use_cache ? std::launch::async : std::launch::deferred, open_store, caches));
  return
      [store, caches](const LocalWorkers& options) { return start_workers(options, caches, store->get()); };
}

CacheTools cache_tools() {
  return {export_cassette, import_cassette, cache_stats,    prune_caches,      find_answers,
          check_caches,    rebuild_cache,   check_cassette, find_used_entries, read_masked_answers};
}

}  // namespace sluice
