#pragma once

#include "common/wire/codec.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

/// One filled message of every type: what the golden bytes, the malformed inputs and the fuzzer start from.
namespace sluice::wire::samples {

inline Digest digest(std::uint8_t first) {
  Digest result{};
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<std::uint8_t>(first + i);
  return result;
}

inline UnitResult scored_result() {
  UnitResult result;
  result.unit = 70000;
  result.key = digest(1);
  result.answer = digest(64);
  result.usage = {1200, 345};
  result.parsed = {{"TLS", "cert-verification", false, 0.75, 12},
                   {"retries", "count", 3.0, 1.0, std::nullopt}};
  result.claims = {{"tls/cert", "verified", false, 0.75, 12, true, true},
                   {"retries", "count", 3.0, 1.0, std::nullopt, false, false},
                   {"greeting", "text", "gr\u00fc\u00df dich", 0.5, 1, true, false}};
  ClaimsScore claims{{{0, 0}}, {1}, {1, 2}, {{0, 2}}};
  result.shown_text = "Gr\u00fc\u00df dich";
  result.scores = {
      {7,
       {{MetricId::claims_precision, 1.0 / 3, std::nullopt, ""},
        {MetricId::claims_required, {}, false, ""},
        {MetricId::must_contain, {}, false, "not found: \"Paris\""},
        {MetricId::faithfulness, 0.75, true, ""},
        {MetricId::rubric, 0.25, false, "Unfriendly."}},
       std::move(claims),
       {{MetricId::faithfulness, JudgeSource::judge, {{1.0, true}, {0.5, true}}, "Gr\u00fc\u00df dich"},
        {MetricId::rubric, JudgeSource::cache, {{0.25, false}}, "Unfriendly."}}}};
  result.spend = {2, 1, 1, false, {1200, 345, 67, 0, 890, 123, 1190, 321}, 876, 0, 0, 0, 4};
  result.grade = GradingResult{{0.5, "A tie.", "llm:gpt-4o:comparison-v1", OrderedScores{0.75, 0.25}},
                               {"Hallo", "gpt-4o-mini-2024", {1190, 321}, true, 0},
                               {"Gr\u00fc\u00df dich", "", {1200, 345}, false, 640}};
  result.claims_identity = digest(128);
  result.observed =
      ObservedAnswer{"Gr\u00fc\u00df dich, Welt", "stop", "gpt-4o-mini-2024", 1'700'000'000'000};
  result.embedding = std::string("\0\0\x80\x3f\0\0\0\xbf", 8);  // 1 and -0.5
  return result;
}

inline UnitResult failed_result() {
  UnitResult result;
  result.unit = 2;
  result.key = digest(2);
  result.error = Error{Reason::rate_limited, "no answer but 429 in 6 calls"};
  return result;
}

inline Work work() {
  const auto system = share("You read code.");
  WorkUnit first;
  first.unit = 1;
  first.key = digest(9);
  first.pinned_answer = digest(10);
  first.repeat = 2;
  first.request = {"openai", "gpt-4o-mini", system, "def f(): ...", share("{\"type\":\"object\"}"),
                   0.1,      4096,          -5,     "claims"};
  first.tasks = {{3,
                  {{"tls", "verified", true, "shown to people only"}},
                  {{"retries", "count", -0.5, {}}},
                  0.25,
                  true,
                  {}},
                 {4,
                  {},
                  {},
                  0.0,
                  false,
                  {{MetricId::must_contain, {"Paris", "France"}}, {MetricId::json_schema, {"{}"}}},
                  {{MetricId::correctness, 1, 5, 0.75, "Paris", ""},
                   {MetricId::rubric, 0, 1, 0.5, "", "It is friendly."}},
                  {"Where is the Louvre?", "The Louvre is in Paris."}}};
  WorkUnit second;
  second.unit = 2;
  second.request = {"openai", "gpt-4o-mini", share("You read code."), "x = 1", nullptr, 0.0, 0, std::nullopt};
  second.request.extras = {
      {{"top_p", "0.9"}},
      {{MessageRole::assistant, {{PartKind::image_data, "QUJD", "image/png"}}, {{"call_1", "look_up", "{}"}}},
       {MessageRole::tool, {{PartKind::text, "paid"}}, {}, "call_1", "look_up"},
       {MessageRole::user, {{PartKind::asked}}}},
      {{"look_up", "Finds orders.", "{}"}},
      "auto",
      {true, "order", true}};
  second.held_elsewhere = true;
  second.recorded = RecordedAnswer{"y = 2", "gpt-4o-mini-2026", {12, 3}, {{"", "look_up", "{}"}}};
  first.tasks.at(1).judged.at(0).recorded =
      JudgeScore{MetricId::correctness, JudgeSource::trace, {{0.75, true}, {0.25, false}}, "Half of it."};
  first.tasks.at(1).judged.at(1).context = "It opens at nine.";
  return {"run-1", {first, second}};
}

inline RunSettings settings() {
  using namespace std::chrono_literals;
  RunSettings result;
  result.run_id = "run-1";
  result.mode = Mode::live;
  result.write_cache = false;
  result.providers = {{"openai", ProviderKind::openai, "http://127.0.0.1:8080/v1", "sim", "OPENAI_API_KEY",
                       "max_completion_tokens"}};
  result.providers.front().headers = {{"api-key", "Key ", "AZURE_KEY"}, {"X-Title", "evals", ""}};
  result.providers.front().query = {{"api-version", "2024-10-21"}};
  result.connect_timeout = 10s;
  result.request_timeout = 120s;
  result.case_timeout = 15min;
  result.backoff_initial = 500ms;
  result.max_retries = 5;
  result.heartbeat_interval = 1s;
  result.ontology = "version = \"1\"\n";
  result.embedding = {"openai", "text-embedding-3-small"};
  result.judge = {Judge::model,
                  "openai",
                  "gpt-4o",
                  0.25,
                  1024,
                  true,
                  {{"friendly", "v2", "You judge.", "{{criteria}} {{answer}}"},
                   {"correctness", "v1", "", "{{reference}} {{answer}}"}},
                  -3};
  result.grading = GradingSettings{
      GradeJudge::llm, "openai", "gpt-4o-mini", {Judge::model, "openai", "gpt-4o", 0.0, 512, false, {}, 7}};
  result.observe = true;
  result.redaction = {{"mail", "[a-z]+@[a-z.]+"}, {"customer", "C-[0-9]{4}"}};
  result.returns_embeddings = true;
  result.durable = true;
  return result;
}

inline Demand limited_demand() {
  Demand demand{"openai", 3, 2, 1, true, 0, {{900, 4096}, {120, 4096}}, {}, {}, {}, {}, {}};
  demand.spent = {{70'000, true}, {70'001, false}};
  demand.settled = {{69'990, {850, 212}}};
  demand.outcomes = {4, 6, 1, 3, 2, 1'850'000, 5, 210'000};
  demand.announced = {500, 30'000, 0, 8'000};
  demand.doubted = {0, 0, 1, 0};
  demand.variation_us = 3'400;
  demand.uncertainty_us = 1'250;
  demand.oldest_ms = 42'000;
  return demand;
}

inline Grant limited_grant() {
  Grant grant{"openai", false, 12, true, 0, HoldReason::none, {30'000, 0, 8'000}, {}};
  grant.permits = {{70'002, 5'000'000, 5'060'000, {900, 4096}, false},
                   {70'003, 5'010'000, 5'070'000, {120, 4096}, true}};
  return grant;
}

inline Grant paused_grant() {
  return {"gemini", true, unlimited_places, false, 1500, HoldReason::named_delay, {}, {}};
}

struct Sample {
  std::string name;  ///< Of the golden file.
  std::variant<ToCoordinator, ToWorker> message;
};

inline std::vector<Sample> all() {
  const auto up = [](ToCoordinator message) {
    return std::variant<ToCoordinator, ToWorker>(std::move(message));
  };
  const auto down = [](ToWorker message) {
    return std::variant<ToCoordinator, ToWorker>(std::move(message));
  };
  return {
      {"hello", up(Hello{0x0123456789abcdef, "node-7", "c0ffee", "0.1.0", 5, true})},
      {"ready", up(Ready{"run-1",
                         {{Reason::key_missing, "OPENAI_API_KEY is not set"}},
                         10,
                         {{8, 0x1122334455667788}, {300, 1}}})},
      {"heartbeat", up(Heartbeat{"run-1",
                                 1'000'000,
                                 10,
                                 {limited_demand(), {"gemini", 0, 0, 0, true, 1500, {}, {}, {}, {}, {}, {}}},
                                 77})},
      {"report", up(Report{"run-1",
                           10,
                           {4, 5},
                           {scored_result(), failed_result()},
                           {6, 300},
                           {{300, scored_result().spend}}})},
      {"goodbye", up(Goodbye{"interrupted", Reason::message_malformed})},
      {"seek", up(Seek{"run-1",
                       {{EntryKind::answer, digest(9)},
                        {EntryKind::embedding, digest(33)},
                        {EntryKind::vote, digest(66)}}})},
      {"lent", up(Lent{"run-1",
                       {{{EntryKind::answer, digest(9)}, std::string("\x01\x00\xff", 3)},
                        {{EntryKind::embedding, digest(33)}, ""}}})},
      {"stored", up(Stored{"run-1",
                           {{EntryKind::embedding, digest(33)}, {EntryKind::vote, digest(34)}},
                           {{EntryKind::vote, digest(35)}}})},
      {"welcome", down(Welcome{settings(), "0.1.0"})},
      {"work", down(work())},
      {"ack",
       down(Ack{"run-1", {{70000, AckCode::committed, digest(1), digest(64)}, {2, AckCode::gone, {}, {}}}})},
      {"grants", down(Grants{"run-1", 1'000'000, 77, {limited_grant(), paused_grant()}})},
      {"drain", down(Drain{"run-1", "all results are in", 25'000, true})},
      {"withdraw", down(Withdraw{"run-1", {7, 70000}})},
      {"reject", down(Reject{RejectCode::unknown_worker, "say HELLO first"})},
      {"lend", down(Lend{"run-1", {{EntryKind::answer, digest(9)}, {EntryKind::vote, digest(66)}}})},
      {"found", down(Found{"run-1",
                           {{{EntryKind::answer, digest(9)}, std::string("\x01\x00\xff", 3)},
                            {{EntryKind::embedding, digest(33)}, ""}}})},
  };
}

inline Frames frames_of(const Sample& sample) {
  return std::visit([](const auto& side) { return encode(side); }, sample.message);
}

}  // namespace sluice::wire::samples
