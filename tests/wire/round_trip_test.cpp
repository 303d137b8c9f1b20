// Properties: whatever is sent is what arrives, for every message.
#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "common/wire/codec.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::wire {
namespace {

rc::Gen<std::string> text() {
  const auto character = rc::gen::elementOf(std::vector<std::string>{
      "a", "Z", "/", "\n", std::string(1, '\0'), "\u00fc", "\u20ac", "\U0001f30a", "\""});
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(character), [](const auto& parts) {
    std::string all;
    for (const auto& part : parts) all += part;
    return all;
  });
}

rc::Gen<double> ratio() {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(0, 1 << 20),
                      [](auto n) { return double(n) / (1 << 20); });
}

Digest any_digest() {
  Digest digest{};
  for (auto& byte : digest) byte = *rc::gen::arbitrary<std::uint8_t>();
  return digest;
}

template <class T>
T any() {
  return *rc::gen::arbitrary<T>();
}

ClaimValue any_value() {
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      return any<bool>();
    case 1:
      return *rc::gen::suchThat(rc::gen::arbitrary<double>(), [](double d) { return std::isfinite(d); });
    default:
      return *text();
  }
}

std::optional<std::uint32_t> any_line() {
  return any<bool>() ? std::optional(any<std::uint32_t>()) : std::nullopt;
}

std::optional<Error> any_error() {
  if (any<bool>()) return std::nullopt;
  return Error{*rc::gen::element(Reason::refusal, Reason::rate_limited, Reason::usage_invalid), *text()};
}

template <class Make>
auto some(Make make, int max = 4) {
  std::vector<decltype(make())> all(static_cast<std::size_t>(*rc::gen::inRange(0, max)));
  for (auto& one : all) one = make();
  return all;
}

MetricId any_judge_metric() {
  return *rc::gen::element(MetricId::faithfulness, MetricId::relevancy, MetricId::correctness,
                           MetricId::rubric, MetricId::context_recall, MetricId::context_relevance);
}

JudgeScore any_judge_score() {
  const auto vote = [] { return CountedVote{*ratio(), any<bool>()}; };
  JudgeScore score{any_judge_metric(),
                   *rc::gen::element(JudgeSource::judge, JudgeSource::cache, JudgeSource::trace), some(vote),
                   std::string(beginning(*text(), defaults::max_rationale_bytes))};
  score.votes.push_back(vote());
  return score;
}

UnitResult any_result() {
  UnitResult result;
  result.unit = any<UnitId>();
  result.key = any_digest();
  result.answer = any_digest();
  result.usage = {any<std::uint64_t>(), any<std::uint64_t>()};
  result.error = any_error();
  result.parsed = some([] { return ParsedClaim{*text(), *text(), any_value(), *ratio(), any_line()}; });
  result.claims = some([] {
    return FinalClaim{*text(), *text(), any_value(), *ratio(), any_line(), any<bool>(), any<bool>()};
  });
  result.shown_text = beginning(*text(), defaults::max_shown_bytes);
  const auto claims = static_cast<std::uint32_t>(result.claims.size());
  result.scores = some([claims] {
    TrialScore score{any<TrialId>(), {}, {}, some(any_judge_score)};
    score.metrics = some([] {
      const auto id = *rc::gen::element(MetricId::claims_precision, MetricId::claims_absent, MetricId::label);
      return MetricOutcome{
          id, any<bool>() ? std::optional(*ratio()) : std::nullopt,
          any<bool>() ? std::optional(any<bool>()) : std::nullopt,
          std::string(beginning(*text(), defaults::max_detail_bytes)),
          id == MetricId::label ? *rc::gen::element<std::string>("", "refund", "Other topic") : ""};
    });
    score.claims.missing = some([] { return *rc::gen::inRange<std::uint32_t>(0, 65536); });
    if (claims == 0) return score;
    const auto match = [claims] {
      return ClaimMatch{*rc::gen::inRange<std::uint32_t>(0, 65536),
                        *rc::gen::inRange<std::uint32_t>(0, claims)};
    };
    score.claims.matched = some(match);
    score.claims.forbidden = some(match);
    score.claims.unexpected = some([claims] { return *rc::gen::inRange<std::uint32_t>(0, claims); });
    return score;
  });
  result.spend = {any<std::uint32_t>(),
                  any<std::uint32_t>(),
                  any<std::uint32_t>(),
                  any<bool>(),
                  {any<std::uint64_t>(), any<std::uint64_t>(), any<std::uint64_t>(), 0, any<std::uint64_t>(),
                   any<std::uint64_t>()},
                  any<std::uint32_t>(),
                  any<std::uint32_t>(),
                  any<std::uint32_t>(),
                  any<std::uint32_t>(),
                  any<std::uint8_t>()};
  result.embedding = *rc::gen::arbitrary<std::string>();
  return result;
}

std::chrono::milliseconds any_duration() {
  return std::chrono::milliseconds(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000));
}

template <class Message>
void arrives_at_coordinator(const Message& message) {
  const auto frames = encode(message);
  const auto decoded = decode_to_coordinator(frames.header, frames.body);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(std::get<Message>(*decoded) == message);
}

template <class Message>
void arrives_at_worker(const Message& message) {
  const auto frames = encode(message);
  const auto decoded = decode_to_worker(frames.header, frames.body);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(std::get<Message>(*decoded) == message);
}

RC_GTEST_PROP(RoundTrip, Hello, ()) {
  arrives_at_coordinator(Hello{any<std::uint64_t>(), *text(), *text(), *text(), any<std::uint32_t>()});
}

RC_GTEST_PROP(RoundTrip, ReadyAndGoodbye, ()) {
  auto problems = some([] { return Error{Reason::key_missing, *text()}; });
  arrives_at_coordinator(Ready{*text(), std::move(problems), any<std::uint32_t>(), some([] {
                                 return HeldUnit{any<UnitId>(), any<std::uint64_t>()};
                               })});
  arrives_at_coordinator(Goodbye{*text()});
  arrives_at_coordinator(Goodbye{*text(), Reason::message_malformed});
}

RC_GTEST_PROP(RoundTrip, Heartbeat, ()) {
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  const auto size = [] { return CallSize{any<u32>(), any<u32>()}; };
  auto demands = some([&] {
    Demand demand{*text(),    any<u32>(), any<u32>(), any<u32>(), any<bool>(), any<u32>(),
                  some(size), {},         {},         {},         {}};
    demand.spent = some([] { return SpentPermit{any<u64>(), any<bool>()}; });
    demand.settled = some([&] { return SettledCall{any<u64>(), size()}; });
    demand.outcomes = {any<u32>(), any<u32>(), any<u32>(), any<u32>(),
                       any<u32>(), any<u64>(), any<u32>(), {}};
    if (any<bool>()) demand.outcomes.latency_deviation_us = any<u64>();
    demand.oldest_ms = any<u32>();
    demand.announced = {any<u64>(), any<u64>(), any<u64>(), any<u64>()};
    return demand;
  });
  arrives_at_coordinator(Heartbeat{*text(), any<std::uint64_t>(), any<std::uint32_t>(), std::move(demands),
                                   any<std::uint64_t>()});
}

RC_GTEST_PROP(RoundTrip, Report, ()) {
  arrives_at_coordinator(Report{*text(), any<std::uint32_t>(), some([] { return any<UnitId>(); }),
                                some(any_result), some([] { return any<UnitId>(); }), some([] {
                                  return UnitSpend{any<UnitId>(), any_result().spend};
                                })});
}

RC_GTEST_PROP(RoundTrip, EntriesOfCaches, ()) {
  const auto key = [] {
    return EntryKey{*rc::gen::element(EntryKind::answer, EntryKind::embedding, EntryKind::vote),
                    any_digest()};
  };
  const auto leased = [] {
    return EntryKey{*rc::gen::element(EntryKind::embedding, EntryKind::vote), any_digest()};
  };
  const auto entry = [&] { return LentEntry{key(), any<std::string>()}; };
  arrives_at_coordinator(Seek{*text(), some(key)});
  arrives_at_coordinator(Lent{*text(), some(entry)});
  arrives_at_coordinator(Stored{*text(), some(leased), some(leased)});
  arrives_at_worker(Lend{*text(), some(key)});
  arrives_at_worker(Found{*text(), some(entry)});
}

RC_GTEST_PROP(RoundTrip, LedgerRow, ()) {
  const auto result = any_result();
  const auto decoded = decode_result(encode_result(result));
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(*decoded == result);
}

RC_GTEST_PROP(RoundTrip, Welcome, ()) {
  RunSettings settings;
  settings.run_id = *text();
  settings.mode = *rc::gen::element(Mode::live, Mode::cached, Mode::mock);
  settings.read_cache = any<bool>();
  settings.write_cache = any<bool>();
  settings.providers = some([] {
    return ProviderSettings{*text(), *rc::gen::element(ProviderKind::openai, ProviderKind::gemini),
                            *text(), *text(),
                            *text(), *text()};
  });
  settings.connect_timeout = any_duration();
  settings.request_timeout = any_duration();
  settings.case_timeout = any_duration();
  settings.backoff_initial = any_duration();
  settings.heartbeat_interval = any_duration();
  settings.max_retries = any<std::uint32_t>();
  settings.ontology = *text();
  settings.embedding = {*text(), *text()};
  settings.judge = {*rc::gen::element(Judge::none, Judge::fake, Judge::model),
                    *text(),
                    *text(),
                    *ratio(),
                    any<std::uint32_t>(),
                    any<bool>(),
                    some([] {
                      return Rubric{*text(), *text(), *text(), *text()};
                    })};
  settings.returns_embeddings = any<bool>();
  arrives_at_worker(Welcome{settings});
}

RC_GTEST_PROP(RoundTrip, Work, ()) {
  const std::vector<SharedText> shared{nullptr, share("a"), share(std::string("a")), share("b"), share("")};
  const auto expected = [] { return ExpectedClaim{*text(), *text(), any_value(), std::nullopt}; };
  const auto expected_text = [] {
    TextExpectation expectation{*rc::gen::element(MetricId::exact_match, MetricId::semantic_similarity_to),
                                {}};
    expectation.texts = some([] { return *text(); });
    expectation.texts.push_back(*text());
    return expectation;
  };
  const auto judged = [] {
    return JudgeExpectation{any_judge_metric(),
                            any<std::uint32_t>(),
                            *rc::gen::inRange<std::uint32_t>(1, defaults::max_judge_samples + 1),
                            *ratio(),
                            *text(),
                            *text(),
                            any<bool>() ? std::optional(any_judge_score()) : std::nullopt,
                            *text()};
  };
  Work work{*text(), some([&] {
              WorkUnit unit;
              unit.unit = any<UnitId>();
              unit.key = any_digest();
              unit.repeat = any<std::uint32_t>();
              unit.held_elsewhere = any<bool>();
              if (any<bool>())
                unit.recorded =
                    RecordedAnswer{*text(), *text(), {any<std::uint64_t>(), any<std::uint64_t>()}, some([] {
                                     return ToolCall{*text(), *text(), *text()};
                                   })};
              unit.request = {*text(),
                              *text(),
                              *rc::gen::elementOf(shared),
                              *text(),
                              *rc::gen::elementOf(shared),
                              *ratio(),
                              any<std::uint32_t>(),
                              any<bool>() ? std::optional(any<std::int64_t>()) : std::nullopt};
              unit.tasks = some([&] {
                return ScoringTask{any<TrialId>(), some(expected),      some(expected), *ratio(),
                                   any<bool>(),    some(expected_text), some(judged),   {*text(), *text()}};
              });
              return unit;
            })};
  const auto frames = encode(work);
  const auto decoded = decode_to_worker(frames.header, frames.body);
  RC_ASSERT(decoded.has_value());
  const auto& arrived = std::get<Work>(*decoded);
  RC_ASSERT(arrived.run_id == work.run_id);
  RC_ASSERT(arrived.units.size() == work.units.size());
  const auto same_text = [](const SharedText& a, const SharedText& b) { return a ? b && *a == *b : !b; };
  for (std::size_t i = 0; i < work.units.size(); ++i) {
    const auto& a = work.units[i];
    const auto& b = arrived.units[i];
    RC_ASSERT(a.unit == b.unit && a.key == b.key && a.repeat == b.repeat);
    RC_ASSERT(a.held_elsewhere == b.held_elsewhere && a.recorded == b.recorded);
    RC_ASSERT(a.request.provider == b.request.provider && a.request.model == b.request.model);
    RC_ASSERT(same_text(a.request.system, b.request.system));
    RC_ASSERT(same_text(a.request.response_schema, b.request.response_schema));
    RC_ASSERT(a.request.user == b.request.user && a.request.temperature == b.request.temperature);
    RC_ASSERT(a.request.max_tokens == b.request.max_tokens && a.request.seed == b.request.seed);
    RC_ASSERT(a.request.schema_name == b.request.schema_name);
    RC_ASSERT(a.tasks.size() == b.tasks.size());
    for (std::size_t t = 0; t < a.tasks.size(); ++t) {
      RC_ASSERT(a.tasks[t].trial == b.tasks[t].trial && a.tasks[t].must_contain == b.tasks[t].must_contain);
      RC_ASSERT(a.tasks[t].must_not_contain == b.tasks[t].must_not_contain);
      RC_ASSERT(a.tasks[t].min_confidence == b.tasks[t].min_confidence);
      RC_ASSERT(a.tasks[t].assesses_claims == b.tasks[t].assesses_claims &&
                a.tasks[t].texts == b.tasks[t].texts);
      RC_ASSERT(a.tasks[t].judged == b.tasks[t].judged && a.tasks[t].question == b.tasks[t].question);
    }
  }
}

RC_GTEST_PROP(RoundTrip, AckGrantsDrainAndReject, ()) {
  arrives_at_worker(Ack{*text(), some([] {
                          return Acknowledged{any<UnitId>(),
                                              *rc::gen::element(AckCode::committed, AckCode::retry),
                                              any_digest(), any_digest()};
                        })});
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  arrives_at_worker(
      Grants{*text(), any<u64>(), any<u64>(), some([] {
               Grant grant{*text(), any<bool>(), any<u32>(), any<bool>(), any<u32>(), {}, {}, {}};
               grant.hold = *rc::gen::element(HoldReason::none, HoldReason::named_delay, HoldReason::outage,
                                              HoldReason::given_up);
               grant.ceiling = {any<u64>(), any<u64>(), any<u64>()};
               grant.permits = some([] {
                 return Permit{any<u64>(), any<u64>(), any<u64>(), {any<u32>(), any<u32>()}, any<bool>()};
               });
               return grant;
             })});
  arrives_at_worker(Drain{*text(), *text(), any<u32>(), any<bool>()});
  arrives_at_worker(Withdraw{*text(), some([] { return any<UnitId>(); })});
  arrives_at_worker(Reject{*rc::gen::element(RejectCode::malformed, RejectCode::too_large), *text()});
}

}  // namespace
}  // namespace sluice::wire
