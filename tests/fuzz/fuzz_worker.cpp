// A coordinator that speaks the protocol in any order, with any values, and a provider that answers anything:
// what of the worker is pure, put together as its actors do it. Checked after each step: nothing crashes,
// each unit ends once, calls go to the run's providers alone and only while the coordinator is there, a
// permit starts one call, and what is sent is bounded by what came.
#include "common/defaults.hpp"
#include "tests/fuzz/fuzzed_input.hpp"
#include "worker/calls/entry_exchange.hpp"
#include "worker/coordinator_contact.hpp"
#include "worker/credit.hpp"
#include "worker/leased_units.hpp"
#include "worker/leaving.hpp"
#include "worker/unit_keys.hpp"
#include "worker/units/unit_flow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sluice::fuzz {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_steps = 400;
constexpr UnitId known_units = 12;
constexpr std::uint32_t max_concurrent = 4;

RunSettings settings_of(FuzzedInput& input) {
  RunSettings settings;
  settings.run_id = "run-1";
  settings.mode = Mode::live;
  settings.providers.resize(2);
  settings.providers[0].name = "a";
  settings.providers[0].base_url = "http://a";
  settings.providers[1].name = "b";
  settings.providers[1].base_url = "http://b";
  settings.connect_timeout = 1s;
  settings.request_timeout = 30s;
  settings.case_timeout = 60s;
  settings.backoff_initial = 500ms;
  settings.max_retries = input.below(4);
  settings.heartbeat_interval = 1s;
  if (input.flag()) settings.embedding = {"b", "e-1"};
  if (input.flag()) {
    settings.judge.judge = Judge::model;
    settings.judge.provider = "b";
    settings.judge.model = "j";
    settings.judge.rubrics.push_back({"correctness", "v1", "You judge.", "{{answer}} {{reference}}"});
  }
  return settings;
}

UnitFlowConfig flow_config(const RunSettings& settings) {
  UnitFlowConfig config;
  config.settings = settings;
  config.credentials = {{"a", "key-of-a-0123456789abcdef"}, {"b", ""}};
  config.store = std::make_shared<AnswerStore>(std::nullopt, std::vector<AnswerCache>());
  config.max_concurrent = max_concurrent;
  config.random_seed = 7;
  return config;
}

class Session {
 public:
  explicit Session(FuzzedInput input)
      : input_(input),
        settings_(settings_of(input_)),
        flow_(flow_config(settings_)),
        keys_(settings_.providers),
        contact_(now()) {}

  void play() {
    for (std::size_t step = 0; step < max_steps && !input_.empty(); ++step) {
      act();
      turn();
    }
    settle();
  }

 private:
  void act() {
    switch (input_.below(12)) {
      case 0:
      case 1:
        return take(work());
      case 2:
      case 3:
        return grant();
      case 4:
      case 5:
      case 6:
        return answer();
      case 7:
        return acknowledge();
      case 8:
        return flow_.withdraw(units(), moment());
      case 9:
        return found();
      case 10:
        now_ += input_.time();
        return;
      default:
        return rarely();
    }
  }

  void rarely() {
    switch (input_.below(6)) {
      case 0:
        drained_ = true;
        leaving_.begin({"drained", std::nullopt, true}, now() + input_.time());
        return flow_.wind_down(input_.flag() ? std::optional(now() + input_.time()) : std::nullopt);
      case 1:
        connected_ = false;
        return flow_.on_budget({false, false, {}, {}}, moment());
      case 2:
        connected_ = true;
        permits_.clear();
        flow_.on_budget({true, true, {}, {}}, moment());
        return units_.report_again();
      case 3:
        return flow_.want_demand();
      default:
        credit_.on_beat(1s);
        SLUICE_PROMISE(credit_.window(max_concurrent, 1s) <= defaults::max_window);
        return;
    }
  }

  // --- what the coordinator says ---

  wire::Work work() {
    wire::Work work{"run-1", {}};
    for (auto count = 1 + input_.below(4); count > 0; --count) work.units.push_back(unit());
    return work;
  }

  WorkUnit unit() {
    WorkUnit unit;
    unit.unit = unit_of();
    unit.lease = input_.number();
    unit.repeat = input_.below(3);
    unit.request.provider = input_.below(16) == 15 ? "c" : input_.flag() ? "a" : "b";
    unit.request.model = "m";
    unit.request.user = "question " + std::to_string(unit.unit);
    unit.request.max_tokens = input_.number32();
    unit.held_elsewhere = input_.flag();
    if (unit.request.provider != "c") {
      const auto& provider = settings_.providers[unit.request.provider == "b"];
      unit.key = CacheKeyMaker(provider, unit.request).key(unit.request.user, unit.repeat);
    }
    if (input_.below(32) == 31) unit.key[0] ^= 1;
    if (input_.below(16) == 15) unit.recorded = RecordedAnswer{"recorded", "m", {}};
    for (auto count = input_.below(3); count > 0; --count) unit.tasks.push_back(task());
    return unit;
  }

  ScoringTask task() {
    const MetricId metrics[] = {MetricId::semantic_similarity_to, MetricId::must_contain,
                                MetricId::semantic_similarity_to, MetricId::exact_match};
    ScoringTask task;
    task.trial = input_.number32();
    task.assesses_claims = input_.flag();
    for (auto count = input_.below(3); count > 0; --count)
      task.texts.push_back({metrics[input_.below(4)], {"text " + std::to_string(input_.below(4))}});
    for (auto count = input_.below(3); count > 0; --count) {
      JudgeExpectation judged;
      judged.metric = MetricId::correctness;
      judged.rubric = input_.below(4) == 3 ? input_.number32() : 0;
      judged.samples = 1 + input_.below(4);
      judged.reference = "reference";
      task.judged.push_back(judged);
    }
    return task;
  }

  void take(wire::Work work) {
    if (std::ranges::any_of(work.units, [&](const WorkUnit& unit) { return !keys_.fits(unit); }))
      return;  // The worker ends here.
    auto fresh = units_.take(std::move(work.units), leaving_.begun());
    for (const auto& unit : fresh) SLUICE_PROMISE(under_way_.insert(unit->unit).second);
    if (!fresh.empty()) flow_.add(std::move(fresh));
  }

  void grant() {
    contact_.on_message(now());
    wire::Grants grants{"run-1",
                        input_.flag() ? boot_us() : input_.number(),
                        input_.flag() ? boot_us() : input_.number(),
                        {}};
    for (auto count = input_.below(4); count > 0; --count) grants.grants.push_back(one_grant());
    connected_ = true;
    flow_.on_budget({true, false, std::move(grants), moment().boot}, moment());
  }

  wire::Grant one_grant() {
    const char* names[] = {"a", "b", "c"};
    wire::Grant grant;
    grant.provider = names[input_.below(3)];
    grant.unlimited = input_.flag();
    grant.places = input_.flag() ? wire::unlimited_places : input_.number32();
    grant.searched = input_.flag();
    if (input_.below(4) == 0) grant.pause_ms = input_.number32();
    grant.hold = static_cast<wire::HoldReason>(input_.below(8) < 4 ? 0 : input_.below(4));
    if (input_.below(4) == 0) grant.ceiling = {input_.number(), input_.number(), input_.number()};
    for (auto count = input_.below(6); count > 0; --count) {
      const auto opens = input_.flag() ? boot_us() : input_.number();
      const wire::Permit permit{input_.flag() ? ++last_permit_ : input_.number(),
                                opens,
                                input_.flag() ? opens + 1'000'000 : input_.number(),
                                {input_.number32(), input_.number32()},
                                input_.flag()};
      ++permits_[{grant.provider, permit.id}];
      grant.permits.push_back(permit);
    }
    return grant;
  }

  void acknowledge() {
    const wire::AckCode codes[] = {wire::AckCode::committed, wire::AckCode::duplicate, wire::AckCode::gone,
                                   wire::AckCode::retry};
    wire::Acknowledged item;
    item.unit = unit_of();
    item.code = codes[input_.below(4)];
    if (const auto* held = units_.held().unacknowledged(item.unit); held != nullptr && input_.below(8) > 0)
      item.key = held->key;
    static_cast<void>(units_.acknowledge(item));
  }

  void found() {
    std::vector<wire::LentEntry> entries;
    for (auto count = input_.below(4); count > 0; --count) {
      const EntryKind kinds[] = {EntryKind::answer, EntryKind::embedding, EntryKind::vote};
      entries.push_back({{kinds[input_.below(3)], sha256(std::to_string(input_.below(4)))},
                         input_.flag() ? "no entry" : ""});
    }
    flow_.on_entries(entries, moment());
    for (const auto& entry : entries) {
      const auto seekers = exchange_.on_found(entry.key, !entry.bytes.empty());
      SLUICE_PROMISE(seekers.size() <= 1);
      if (input_.flag()) exchange_.seek(entry.key, {1, 1});
      if (input_.flag() && is_leased(entry.key.kind)) exchange_.stored(entry.key);
    }
    if (input_.flag()) exchange_.ask_again();
    SLUICE_PROMISE(exchange_.take_messages().size() <= 3);
  }

  // --- what the provider says ---

  void answer() {
    if (calls_.empty()) return;
    const auto at = std::next(calls_.begin(), input_.byte() % static_cast<std::ptrdiff_t>(calls_.size()));
    HttpDone done;
    done.id = at->first;
    const bool embeds = at->second.ends_with("/embeddings");
    calls_.erase(at);
    done.started = true;
    const int statuses[] = {200, 200, 200, 200, 429, 503, 400, 401, 529, 200, 302, 0};
    done.response.status = statuses[input_.below(12)];
    done.elapsed = std::chrono::microseconds(input_.number() % 100'000'000);
    done.variation = std::chrono::microseconds(input_.number() % 100'000'000);
    if (done.response.status == 0)
      done.failure = HttpFailure{static_cast<HttpFailure::Kind>(input_.below(8)), "it failed"};
    if (input_.below(4) == 0)
      done.response.headers.emplace_back("retry-after", std::to_string(input_.number()));
    if (input_.below(4) == 0) {
      done.response.headers.emplace_back("x-ratelimit-limit-requests", std::to_string(input_.number()));
      done.response.headers.emplace_back("x-ratelimit-limit-tokens", std::to_string(input_.number()));
    }
    done.response.body = body(embeds);
    flow_.on_done(done, moment(), std::chrono::system_clock::time_point());
  }

  std::string body(bool embeds) {
    const auto tokens = std::to_string(input_.number());
    const auto kind = input_.below(6);
    if (kind == 4) return "no JSON";
    if (kind == 5) return "";
    if (embeds)
      return R"({"data":[{"index":0,"embedding":[0.5,0.5]},{"index":1,"embedding":[0.5,0.25]}],)"
             R"("usage":{"prompt_tokens":)" +
             tokens + "}}";
    const char* texts[] = {R"({\"claims\":[]})", "the answer", R"({\"score\":0.7,\"reason\":\"r\"})", ""};
    return R"({"choices":[{"message":{"content":")" + std::string(texts[kind]) + R"("},"finish_reason":")" +
           (input_.below(4) == 3 ? "length" : "stop") + R"("}],"usage":{"prompt_tokens":)" + tokens +
           R"(,"completion_tokens":5}})";
  }

  // --- what follows ---

  void turn() {
    std::optional<TimePoint> wake;
    for (int times = 0;; ++times) {
      auto turn = flow_.turn(moment());
      wake = turn.engine.wake;
      const bool was_busy = follow(std::move(turn));
      // A worker that has nothing to do does nothing.
      if (!was_busy && !(wake && *wake <= now())) break;
      SLUICE_PROMISE(times < 16);
    }
  }

  /// False if nothing followed.
  bool follow(FlowTurn turn) {
    SLUICE_PROMISE(turn.engine.calls.empty() || connected_);
    for (const auto& call : turn.engine.calls) {
      const auto& url = call.request.url;
      SLUICE_PROMISE(url.starts_with("http://a/") || url.starts_with("http://b/"));
      SLUICE_PROMISE(calls_.emplace(call.id, url).second);
    }
    units_.start(turn.started);
    bool is_busy = !turn.engine.calls.empty() || !turn.completed.empty() || !turn.returned.empty();
    for (auto& done : turn.completed) {
      const UnitId unit = done.unit->unit;
      SLUICE_PROMISE(under_way_.erase(unit) == 1);
      UnitResult result;
      result.unit = unit;
      result.key = done.unit->key;
      result.spend = done.spend;
      SLUICE_PROMISE(units_.finish(std::move(result)) != nullptr);
    }
    for (const UnitId unit : turn.returned) SLUICE_PROMISE(under_way_.erase(unit) == 1);
    units_.give_back(turn.returned);
    units_.spend(std::move(turn.spent));
    for (const auto& report : units_.take_reports("run-1", 1)) {
      for (const auto& result : report.results) SLUICE_PROMISE(units_.held().holds(result.unit));
    }
    SLUICE_PROMISE(turn.engine.entries.size() <=
                   3);  // It has no cache: what it is left to pay for it gives up.
    if (turn.engine.demand) check(*turn.engine.demand);
    SLUICE_PROMISE(units_.held().all().size() <= known_units);
    SLUICE_PROMISE(under_way_.size() <= known_units);
    return is_busy;
  }

  void check(const DemandChanged& demand) {
    SLUICE_PROMISE(demand.demands.size() <= settings_.providers.size());
    for (const auto& one : demand.demands) {
      SLUICE_PROMISE(one.provider == "a" || one.provider == "b");
      SLUICE_PROMISE(one.sizes.size() <= wire::max_demand_sizes);
      for (const auto& spent : one.spent) {
        // Each comes back as often as it was granted, at most.
        const auto granted = permits_.find({one.provider, spent.id});
        if (granted == permits_.end()) continue;  // Of before a break.
        SLUICE_PROMISE(granted->second > 0);
        --granted->second;
      }
    }
  }

  /// The run is over and time goes by: whatever the coordinator has said, nothing is left.
  void settle() {
    leaving_.begin({"drained", std::nullopt, true}, now() + 5s);
    flow_.wind_down(now() + 5s);
    turn();
    for (const auto& [id, url] : std::exchange(calls_, {})) {
      HttpDone done;
      done.id = id;
      done.failure = HttpFailure{HttpFailure::Kind::timed_out, "it took too long"};
      flow_.on_done(done, moment(), std::chrono::system_clock::time_point());
    }
    for (int beats = 0; beats < 10; ++beats) {
      now_ += 1000ms;
      turn();
      for (const auto& [id, url] : std::exchange(calls_, {})) {
        HttpDone done;
        done.id = id;
        done.failure = HttpFailure{HttpFailure::Kind::timed_out, "it took too long"};
        flow_.on_done(done, moment(), std::chrono::system_clock::time_point());
      }
    }
    turn();
    SLUICE_PROMISE(under_way_.empty());
  }

  UnitId unit_of() { return input_.byte() % known_units; }
  std::vector<UnitId> units() {
    std::vector<UnitId> units;
    for (auto count = input_.below(5); count > 0; --count) units.push_back(unit_of());
    return units;
  }
  TimePoint now() const { return TimePoint() + 1h + now_; }
  Moment moment() const { return {now(), std::chrono::duration_cast<BootTime>(now().time_since_epoch())}; }
  std::uint64_t boot_us() const { return static_cast<std::uint64_t>(moment().boot.count()); }

  FuzzedInput input_;
  std::chrono::milliseconds now_{};
  RunSettings settings_;
  UnitFlow flow_;
  UnitKeys keys_;
  CoordinatorContact contact_;
  LeasedUnits units_;
  Credit credit_;
  Leaving leaving_;
  EntryExchange exchange_{settings_, true};
  bool connected_ = true;
  bool drained_ = false;
  std::set<UnitId> under_way_;
  std::map<CallId, std::string> calls_;
  std::map<std::pair<std::string, std::uint64_t>, std::uint32_t> permits_;  ///< As often as granted.
  std::uint64_t last_permit_ = 0;
};

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sluice::fuzz::Session(sluice::fuzz::FuzzedInput(data, size)).play();
  return 0;
}
