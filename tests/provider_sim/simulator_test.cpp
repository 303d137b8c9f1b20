#include "tests/provider_sim/embeddings.hpp"
#include "tests/provider_sim/simulator_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::sim {
namespace {

using Json = nlohmann::json;

const std::string code = "x = 1\nrequests.get(url, verify=False)\n";

TEST_F(SimulatorTest, AnswersAllProvidersAlikeAndFromTheUserMessageAlone) {
  const auto first = openai(code);
  ASSERT_EQ(first.status, 200);
  const auto claims = Json::parse(text_of(first))["claims"];
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_EQ(claims[0]["line"], 2);
  EXPECT_EQ(anthropic(code).json["content"][0]["text"], text_of(first));
  const auto gem = gemini(code);
  EXPECT_EQ(gem.json["candidates"][0]["content"]["parts"][0]["text"], text_of(first));
  EXPECT_EQ(gem.json["modelVersion"], "gemini-2.0-flash");
  EXPECT_EQ(openai(code).reply.record.content, gem.reply.record.content);
  EXPECT_EQ(openai(code).json, first.json);
  EXPECT_EQ(first.json["usage"]["prompt_tokens"], (code.size() + 12 + 3) / 4);
}

TEST_F(SimulatorTest, RefusesBadRequests) {
  EXPECT_EQ(post("/v1/chat/completions", "{\"model\":").status, 400);
  EXPECT_EQ(post("/v1/chat/completions", R"({"messages":[{"role":"user","content":"x"}]})").status, 400);
  EXPECT_EQ(post("/v1/messages", R"({"model":"c","messages":[{"role":"user","content":"x"}]})").json["type"],
            "error");
  EXPECT_EQ(post("/v1/messages", R"({"model":"c","max_tokens":9,"messages":[{"role":"user","content":"x"}]})")
                .status,
            400);  // no anthropic-version
  EXPECT_EQ(post("/v1/chat/completions", std::string(100000, '[')).status, 400);
  EXPECT_EQ(post("/v1/unknown", "{}").status, 404);
  EXPECT_EQ(post("/v1beta/models/:generateContent", "{}").status, 404);
}

TEST_F(SimulatorTest, ChecksTheKey) {
  SimSettings settings;
  settings.required_key = "k";
  configure(std::move(settings));
  EXPECT_EQ(openai(code).status, 401);
  EXPECT_EQ(anthropic(code).json["error"]["type"], "authentication_error");
  EXPECT_EQ(gemini(code).json["error"]["status"], "UNAUTHENTICATED");
  const std::string body = R"({"model":"m","messages":[{"role":"user","content":"x"}]})";
  EXPECT_EQ(post("/v1/chat/completions", body, {{"Authorization", "Bearer k"}}).status, 200);
}

TEST_F(SimulatorTest, CutsAnswersAtTheTokenLimit) {
  const auto cut = openai(code, 5);
  EXPECT_EQ(cut.json["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(cut.json["usage"]["completion_tokens"], 5);
  EXPECT_EQ(text_of(cut).size(), 20u);
}

TEST_F(SimulatorTest, LimitsRequestsAndNamesTheDelay) {
  SimSettings settings;
  settings.limits.requests_per_second = 4;
  settings.limits.burst = 2;
  settings.limits.announce = true;
  configure(std::move(settings));
  EXPECT_TRUE(openai(code).has("x-ratelimit-remaining-requests: 1"));
  EXPECT_EQ(openai(code).status, 200);
  const auto denied = openai(code);
  EXPECT_EQ(denied.status, 429);
  EXPECT_TRUE(denied.has("retry-after: 1"));
  EXPECT_TRUE(denied.has("retry-after-ms: 250"));
  EXPECT_EQ(denied.reply.record.retry_after_ms, 250);
  EXPECT_EQ(anthropic(code).reply.record.retry_after_ms, 1000);
  EXPECT_EQ(gemini(code).json["error"]["details"][1]["retryDelay"], "0.25s");
  now_us_ += 250'000;
  EXPECT_EQ(openai(code).status, 200);
  EXPECT_EQ(openai(code).status, 429);
}

TEST_F(SimulatorTest, NamesAFixedDelayOrNone) {
  SimSettings settings;
  settings.limits.requests_per_second = 1;
  settings.retry_after_s = 0.25;
  configure(settings);
  EXPECT_EQ(openai(code).status, 200);
  EXPECT_TRUE(anthropic(code).has("retry-after: 0.25"));
  settings.retry_after_s.reset();
  settings.name_retry_after = false;
  configure(settings);
  EXPECT_EQ(openai(code).status, 200);
  EXPECT_EQ(openai(code).head.find("retry-after"), std::string::npos);
}

TEST_F(SimulatorTest, FailsTheFirstRequests) {
  SimSettings settings;
  settings.fail_first = {2, 429, 1.0};
  settings.latency.median_ms = 100;
  configure(std::move(settings));
  for (int i = 0; i < 2; ++i) {
    const auto failed = openai(code);
    EXPECT_EQ(failed.status, 429);
    EXPECT_TRUE(failed.has("retry-after: 1"));
    EXPECT_EQ(failed.reply.due_us, 0);
  }
  const auto good = openai(code);
  EXPECT_EQ(good.status, 200);
  EXPECT_EQ(good.reply.due_us, now_us_ + 100'000);
  post("/reset", "");
  EXPECT_EQ(openai(code).status, 429);
}

TEST_F(SimulatorTest, IsDownDuringAnOutageAndCountsItsRequests) {
  SimSettings settings;
  settings.required_key = "k";
  settings.outages = {{1'000'000, 2'000'000, Outage::Kind::status, 502},
                      {2'000'000, 3'000'000, Outage::Kind::refuse, 0},
                      {3'000'000, 4'000'000, Outage::Kind::hang, 0}};
  configure(std::move(settings));
  EXPECT_EQ(openai(code).status, 401);
  now_us_ += 1'000'000;
  EXPECT_EQ(openai(code).status, 502);
  EXPECT_FALSE(simulator_->is_unreachable(now_us_));
  now_us_ += 1'000'000;
  EXPECT_TRUE(simulator_->is_unreachable(now_us_));
  EXPECT_EQ(openai(code).reply.delivery, Reply::Delivery::drop);
  now_us_ += 1'000'000;
  EXPECT_EQ(openai(code).reply.delivery, Reply::Delivery::hang);
  now_us_ += 1'000'000;
  EXPECT_EQ(openai(code).status, 401);
}

TEST_F(SimulatorTest, LetsRequestsWaitForAPlace) {
  SimSettings settings;
  settings.places = 1;
  settings.latency.median_ms = 10;
  configure(std::move(settings));
  EXPECT_EQ(openai(code).reply.due_us, now_us_ + 10'000);
  EXPECT_EQ(openai(code).reply.due_us, now_us_ + 20'000);
  EXPECT_EQ(post("/v1/chat/completions", "bad").reply.due_us, 0);
}

TEST_F(SimulatorTest, HealsAMessageAfterItsFaults) {
  SimSettings settings;
  settings.faults.errors = {{1.0, 500}};
  settings.faults.max_per_content = 2;
  configure(std::move(settings));
  EXPECT_EQ(openai(code).status, 500);
  EXPECT_EQ(openai(code).status, 500);
  EXPECT_EQ(openai(code).status, 200);
  EXPECT_EQ(openai("another").status, 500);
}

TEST_F(SimulatorTest, AnswersHeadWithoutBodyAndWithoutCounting) {
  HttpRequest request;
  request.method = "HEAD";
  request.target = "/";
  Reply reply;
  simulator_->respond(request, 1, false, now_us_, reply);
  EXPECT_TRUE(reply.bytes.starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(reply.bytes.ends_with("content-length: 0\r\n\r\n"));
  EXPECT_EQ(reply.record.id, 0u);
}

TEST_F(SimulatorTest, FollowsAScript) {
  SimSettings settings;
  settings.script = *parse_script(
      "{\"contains\":\"seven\",\"status\":500,\"times\":2}\n\n"
      "{\"contains\":\"seven\",\"text\":\"{\\\"claims\\\":[]}\",\"headers\":{\"X-Extra\":\"1\"},\"latency_"
      "ms\":5}\n"
      "{\"contains\":\"slow\",\"latency_ms\":70}\n"
      "{\"contains\":\"cut\",\"finish\":\"length\"}\n"
      "{\"contains\":\"raw\",\"body\":\"nonsense\",\"status\":503,\"headers\":{\"Retry-After\":\"2\"}}\n"
      "{\"contains\":\"no\",\"refusal\":true}\n",
      "test");
  configure(std::move(settings));
  EXPECT_EQ(openai("seven").status, 500);
  EXPECT_EQ(openai("seven").status, 500);
  const auto third = openai("seven");
  EXPECT_EQ(text_of(third), "{\"claims\":[]}");
  EXPECT_TRUE(third.has("X-Extra: 1"));
  EXPECT_EQ(third.reply.due_us, now_us_ + 5000);
  const auto slow = openai("slow " + code);
  EXPECT_EQ(slow.reply.due_us, now_us_ + 70'000);
  EXPECT_EQ(Json::parse(text_of(slow))["claims"].size(), 1u);
  const auto cut = openai("cut " + code);
  EXPECT_EQ(cut.json["choices"][0]["finish_reason"], "length");
  EXPECT_TRUE(Json::parse(text_of(cut), nullptr, false).is_discarded());
  const auto raw = openai("raw");
  EXPECT_EQ(raw.status, 503);
  EXPECT_TRUE(raw.reply.bytes.ends_with("\r\n\r\nnonsense"));
  EXPECT_EQ(raw.reply.record.retry_after_ms, 2000);
  EXPECT_TRUE(openai("no").json["choices"][0]["message"]["content"].is_null());
}

TEST_F(SimulatorTest, ScriptErrorsNameTheLine) {
  EXPECT_EQ(parse_script("{\"text\":\"x\"}\n{\"texts\":1}", "s.jsonl").error().message.substr(0, 16),
            "s.jsonl:2: texts");
  EXPECT_NE(parse_script("{\"status\":99}", "s").error().message.find("200 to 599"), std::string::npos);
  EXPECT_FALSE(parse_script("nonsense", "s"));
  EXPECT_EQ(parse_script("[{\"text\":\"x\"},{\"fault\":\"drop\"}]", "s")->size(), 2u);
}

TEST_F(SimulatorTest, InjectsFaults) {
  auto with = [this](auto set) {
    SimSettings settings;
    set(settings);
    configure(std::move(settings));
    return openai(code);
  };
  EXPECT_EQ(with([](SimSettings& s) { s.faults.drop = 1; }).reply.delivery, Reply::Delivery::drop);
  EXPECT_EQ(with([](SimSettings& s) { s.faults.hang = 1; }).reply.delivery, Reply::Delivery::hang);
  EXPECT_TRUE(with([](SimSettings& s) { s.faults.malformed = 1; }).json.is_discarded());
  EXPECT_EQ(with([](SimSettings& s) { s.faults.errors = {{1.0, 529}}; }).status, 529);
  EXPECT_EQ(with([](SimSettings& s) { s.faults.length = 1; }).json["choices"][0]["finish_reason"], "length");
  EXPECT_TRUE(
      with([](SimSettings& s) { s.faults.refusal = 1; }).json["choices"][0]["message"]["content"].is_null());
  const auto cut = with([](SimSettings& s) { s.faults.truncate_body = 1; });
  const auto promised = std::stoul(cut.head.substr(cut.head.find("content-length: ") + 16));
  EXPECT_LT(cut.reply.bytes.size() - cut.head.size() - 2, promised);
  EXPECT_TRUE(cut.reply.close);
  const auto big = with([](SimSettings& s) { s.big_body = 100000; });
  EXPECT_GE(big.reply.bytes.size(), 100000u);
  EXPECT_EQ(Json::parse(text_of(big))["claims"].size(), 1u);
}

TEST_F(SimulatorTest, CountsWhatItDid) {
  openai(code);
  post("/v1/chat/completions", "bad");
  HttpRequest request;
  request.method = "GET";
  request.target = "/stats";
  Reply reply;
  simulator_->respond(request, 1, false, now_us_, reply);
  const Json stats = Json::parse(reply.bytes.substr(reply.bytes.find("\r\n\r\n") + 4));
  EXPECT_EQ(stats["requests"], 2);
  EXPECT_EQ(stats["answers"], Json::parse(R"({"200":1,"400":1})"));
  EXPECT_EQ(stats["in_flight"], 0);
  EXPECT_EQ(stats["max_in_flight"], 1);
}

// Tests that read the log at once missed the last calls of a run.
TEST_F(SimulatorTest, ItsLogIsWrittenBeforeItsStatsAreAnswered) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "events.jsonl";
  ASSERT_TRUE(log_.open(path.string()));
  openai(code);
  HttpRequest request;
  request.method = "GET";
  request.target = "/stats";
  Reply reply;
  simulator_->respond(request, 1, false, now_us_, reply);
  const std::string written = support::read_text(path);
  EXPECT_NE(written.find("\"event\":\"start\""), std::string::npos) << written;
  EXPECT_NE(written.find("\"event\":\"answer\""), std::string::npos) << written;
}

double cosine(const std::string& a, const std::string& b) {
  const auto x = embed(a, usual_dimensions);
  const auto y = embed(b, usual_dimensions);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x[i]) * y[i];
  return sum;
}

TEST_F(SimulatorTest, EmbedsSimilarTextsCloseToEachOther) {
  EXPECT_NEAR(cosine("Verify the certificate", "verify  the CERTIFICATE"), 1.0, 1e-6);
  EXPECT_GT(cosine("verify the certificate", "verify the certificates"), 0.8);
  EXPECT_LT(cosine("verify the certificate", "bananas grow upward"), 0.4);
  const auto answer = post("/v1/embeddings", R"({"model":"e","input":["one","two"],"dimensions":8})");
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.json["data"][1]["index"], 1);
  EXPECT_EQ(answer.json["data"][1]["embedding"].size(), 8u);
  EXPECT_EQ(answer.json["usage"]["total_tokens"], 2);
}

std::string embed_contents(std::vector<std::string> texts) {
  Json requests = Json::array();
  for (auto& text : texts) {
    requests.push_back({{"model", "models/e"},
                        {"content", {{"parts", {{{"text", std::move(text)}}}}}},
                        {"outputDimensionality", 8}});
  }
  return Json{{"requests", std::move(requests)}}.dump();
}

TEST_F(SimulatorTest, EmbedsInGeminisFormatAsInOpenais) {
  const auto openai_answer = post("/v1/embeddings", R"({"model":"e","input":["one","two"],"dimensions":8})");
  const auto answer = post("/v1beta/models/e:batchEmbedContents", embed_contents({"one", "two"}));
  ASSERT_EQ(answer.status, 200);
  ASSERT_EQ(answer.json["embeddings"].size(), 2u);
  EXPECT_EQ(answer.json["embeddings"][1]["values"], openai_answer.json["data"][1]["embedding"]);
  EXPECT_FALSE(answer.json.contains("usage"));
}

TEST_F(SimulatorTest, RefusesMalformedEmbeddingRequestsOfGemini) {
  const std::string target = "/v1beta/models/e:batchEmbedContents";
  EXPECT_EQ(post(target, R"({"requests":[]})").status, 400);
  EXPECT_EQ(post(target, R"({"requests":[{"content":{"parts":[{"text":"x"}]}}]})").status, 400) << "no model";
  EXPECT_EQ(post(target, R"({"requests":[{"model":"models/e"}]})").status, 400) << "no text";
  EXPECT_EQ(post(target, embed_contents(std::vector<std::string>(101, "x"))).status, 400);
  EXPECT_EQ(post("/v1beta/models/:batchEmbedContents", embed_contents({"x"})).status, 404);
}

}  // namespace
}  // namespace sluice::sim
