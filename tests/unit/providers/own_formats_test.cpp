#include "worker/providers/provider.hpp"

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace sluice::own_formats_test {

ProviderSettings provider_of(ProviderKind kind) {
  ProviderSettings provider;
  provider.name = "own";
  provider.kind = kind;
  provider.base_url = kind == ProviderKind::http ? "https://bots.example/ask" : "exec:own";
  provider.query = {{"v", "1"}};
  return provider;
}

Credentials with(OwnFormat own, std::string key = "") {
  Credentials credentials(std::move(key));
  credentials.own = std::make_shared<const OwnFormat>(std::move(own));
  return credentials;
}

ModelRequest request_of(const std::string& prompt) {
  ModelRequest request;
  request.provider = "own";
  request.model = "m";
  request.user = prompt;
  return request;
}

std::string body_of(const std::string& body, const ModelRequest& request) {
  OwnFormat own;
  own.body = body;
  return whole_body(build_request(provider_of(ProviderKind::http), with(own), request));
}

CallOutcome read(ProviderKind kind, const Credentials& credentials, const std::string& body,
                 int status = 200) {
  return read_response(provider_of(kind), {status, {}, body}, std::chrono::system_clock::time_point(),
                       credentials);
}

TEST(HttpFormat, FillsTheBodyIn) {
  ModelRequest request = request_of("say \"hi\"\n{{model}}");
  EXPECT_EQ(body_of(R"({"q":"Q: {{prompt}}!","m":"{{model}}"})", request),
            R"({"q":"Q: say \"hi\"\n{{model}}!","m":"m"})")
      << "what is filled in is no template";
  EXPECT_EQ(body_of(R"({"t":"{{temperature}}","s":["{{seed}}",1],"x":{"y":"{{ system }}"}})", request),
            R"({"s":[1],"x":{}})")
      << "what the request has not is left out";
  request.temperature = 0.5;
  request.max_tokens = 9;
  request.seed = 7;
  request.system = share("Be kind.");
  request.response_schema = share(R"({"type":"object"})");
  EXPECT_EQ(
      body_of(R"({"t":"{{temperature}}","n":"{{max_tokens}}","d":"seed {{seed}}","f":"{{response_schema}}",)"
              R"("messages":"{{messages}}"})",
              request_of("p")),
      R"({"d":"seed ","messages":[{"role":"user","content":"p"}]})");
  EXPECT_EQ(
      body_of(R"({"t":"{{temperature}}","n":"{{max_tokens}}","d":"seed {{seed}}","f":"{{response_schema}}"})",
              request),
      R"({"t":0.5,"n":9,"d":"seed 7","f":{"type":"object"}})");
  request.extras.params = {{"top_k", "3"}};
  EXPECT_EQ(body_of(R"({"q":1})", request), R"({"q":1,"top_k":3})");
  EXPECT_EQ(body_of(R"({})", request), R"({"top_k":3})");
}

TEST(HttpFormat, GoesWhereTheProviderIs) {
  OwnFormat own;
  own.body = "{}";
  const HttpRequest http =
      build_request(provider_of(ProviderKind::http), with(own, "secret-of-bots"), request_of("p"));
  EXPECT_EQ(http.url, "https://bots.example/ask?v=1");
  EXPECT_EQ(http.headers.back(), "Authorization: Bearer secret-of-bots");
  EXPECT_EQ(http.program, nullptr);
}

TEST(HttpFormat, ReadsWhatThePointersLeadTo) {
  OwnFormat own;
  own.answer = {"/out/0/text", "/out/0/why", "/served", "/use/in", "/use/out", "/oops/words"};
  const Credentials credentials = with(own);
  const auto outcome = read(ProviderKind::http, credentials,
                            R"({"out":[{"text":"hi","why":"stop"}],"served":"m-2","use":{"in":3,"out":4}})");
  const auto* answered = std::get_if<Answered>(&outcome);
  ASSERT_NE(answered, nullptr);
  EXPECT_EQ(answered->completion.text, "hi");
  EXPECT_EQ(answered->completion.served_model, "m-2");
  EXPECT_EQ(answered->completion.usage, (Usage{3, 4}));
  EXPECT_FALSE(answered->completion.non_answer);
  const auto cut = read(ProviderKind::http, credentials, R"({"out":[{"text":"h","why":"length"}]})");
  EXPECT_EQ(std::get<Answered>(cut).completion.non_answer->reason, Reason::truncated);
  EXPECT_EQ(std::get<Answered>(cut).completion.usage, Usage{}) << "unknown, and not 0 dollars";
  const auto none = read(ProviderKind::http, credentials, R"({"result":"hi"})");
  EXPECT_EQ(std::get<Failed>(none).reason, Reason::provider_failed);
  EXPECT_NE(std::get<Failed>(none).message.find("\"answer\" of its settings"), std::string::npos);
  const auto busy = read(ProviderKind::http, credentials, R"({"oops":{"words":"too many"}})", 429);
  EXPECT_TRUE(std::get<Failed>(busy).counts_as_rate_limit);
  EXPECT_NE(std::get<Failed>(busy).message.find("too many"), std::string::npos);
}

// Half an answer beside the words of a failure was cached as a whole one.
TEST(HttpFormat, AnErrorThatIsNamedMakesTheCallFail) {
  OwnFormat own;
  own.answer = {.text = "/result/text", .finish_reason = "/result/why", .error = "/problem/words"};
  const Credentials credentials = with(own);
  const auto of = [&](const std::string& problem) {
    return read(ProviderKind::http, credentials,
                R"({"result":{"text":"half an ans","why":"length"},"problem":{"words":)" + problem + "}}");
  };
  const auto failed = of(R"("upstream timed out")");
  ASSERT_TRUE(std::holds_alternative<Failed>(failed));
  EXPECT_TRUE(std::get<Failed>(failed).retryable);
  EXPECT_NE(std::get<Failed>(failed).message.find("upstream timed out"), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<Failed>(of(R"({"code":7})"))) << "it says something";
  for (const char* none : {"null", R"("")", "{}"})
    EXPECT_TRUE(std::holds_alternative<Answered>(of(none))) << none;
}

// `must_not_contain` passed for an answer that said nothing.
TEST(OwnFormats, AnEmptyTextIsNoAnswer) {
  OwnFormat own;
  own.answer = {.text = "/text", .finish_reason = "/finish_reason"};
  const Credentials credentials = with(own);
  for (const ProviderKind kind : {ProviderKind::http, ProviderKind::exec}) {
    const auto reason = [&](const std::string& body) {
      const auto outcome = read(kind, credentials, body);
      const auto* answered = std::get_if<Answered>(&outcome);
      return answered != nullptr && answered->completion.non_answer
                 ? std::optional(answered->completion.non_answer->reason)
                 : std::nullopt;
    };
    EXPECT_EQ(reason(R"({"text":""})"), Reason::refusal);
    EXPECT_EQ(reason(R"({"text":"","finish_reason":"stop"})"), Reason::refusal);
    EXPECT_EQ(reason(R"({"text":"","finish_reason":"length"})"), Reason::truncated);
    EXPECT_EQ(reason(R"({"text":" "})"), std::nullopt);
    EXPECT_TRUE(std::holds_alternative<Failed>(read(kind, credentials, R"({"text":null})")));
  }
}

TEST(ExecFormat, ReadsAChatCompletionAndAnswersWithAnObject) {
  OwnFormat own;
  own.command = {"bot"};
  const Credentials credentials = with(own, "secret-of-the-bot");
  ModelRequest request = request_of("hello");
  request.system = share("Be kind.");
  const HttpRequest program = build_request(provider_of(ProviderKind::exec), credentials, request);
  ASSERT_NE(program.program, nullptr);
  EXPECT_EQ(program.program->command, std::vector<std::string>{"bot"});
  EXPECT_TRUE(program.headers.empty()) << "no key stands in them";
  EXPECT_EQ(
      whole_body(program),
      R"({"model":"m","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"hello"}]})");
  const auto outcome =
      read(ProviderKind::exec, credentials, R"({"text":"hi","usage":{"input_tokens":3,"output_tokens":1}})");
  EXPECT_EQ(std::get<Answered>(outcome).completion.text, "hi");
  EXPECT_EQ(std::get<Answered>(outcome).completion.usage, (Usage{3, 1}));
  const auto chat = read(ProviderKind::exec, credentials, R"({"choices":[{"message":{"content":"hi"}}]})");
  EXPECT_EQ(std::get<Answered>(chat).completion.text, "hi");
  const auto tool = read(ProviderKind::exec, credentials,
                         R"({"text":"","tool_calls":[{"name":"look_up","arguments":{"id":17}}]})");
  ASSERT_EQ(std::get<Answered>(tool).completion.calls.size(), 1u);
  EXPECT_EQ(std::get<Answered>(tool).completion.calls.front().arguments, R"({"id":17})");
  const auto as_text = read(ProviderKind::exec, credentials,
                            R"({"tool_calls":[{"name":"look_up","arguments":"{\"id\":17}"}],"error":null,)"
                            R"("choices":null})");
  ASSERT_TRUE(std::holds_alternative<Answered>(as_text)) << "null is no error";
  EXPECT_EQ(std::get<Answered>(as_text).completion.calls.front().arguments, R"({"id":17})");
}

TEST(ExecFormat, SaysWhatWentWrong) {
  const Credentials credentials = with({});
  const auto busy = read(ProviderKind::exec, credentials,
                         R"({"error":{"message":"later","status":429,"retry_after_seconds":2}})");
  EXPECT_TRUE(std::get<Failed>(busy).counts_as_rate_limit);
  EXPECT_EQ(std::get<Failed>(busy).retry_after, std::chrono::milliseconds(2000));
  const auto soon =
      read(ProviderKind::exec, credentials, R"({"error":{"status":429,"retry_after_seconds":2.5}})");
  EXPECT_EQ(std::get<Failed>(soon).retry_after, std::chrono::milliseconds(2500));
  const auto down =
      std::get<Failed>(read(ProviderKind::exec, credentials, R"({"error":{"message":"down","status":503}})"));
  EXPECT_TRUE(down.is_server_error) << "an outage, of which its own end says nothing";
  EXPECT_EQ(down.message, "provider \"own\" reports an error 503: down");
  const auto beside = read(ProviderKind::exec, credentials, R"({"text":"half","error":{"status":503}})");
  EXPECT_TRUE(std::holds_alternative<Failed>(beside)) << "it says something";
  const auto beside_calls = read(ProviderKind::exec, credentials,
                                 R"({"tool_calls":[{"name":"look_up"}],"error":{"message":"down"}})");
  EXPECT_TRUE(std::holds_alternative<Failed>(beside_calls));
  const auto empty = read(ProviderKind::exec, credentials, R"({"text":"whole","error":{}})");
  EXPECT_TRUE(std::holds_alternative<Answered>(empty));
  EXPECT_FALSE(std::get<Failed>(busy).is_server_error);
  const auto none = read(ProviderKind::exec, credentials, "hello");
  EXPECT_FALSE(std::get<Failed>(none).is_server_error);
  EXPECT_NE(std::get<Failed>(none).message.find("{\"text\": \"...\"}"), std::string::npos);
  const auto secret = read(ProviderKind::exec, with({}, "secret-of-the-bot-0123456789"),
                           R"({"text":"my key is secret-of-the-bot-0123456789"})");
  EXPECT_EQ(std::get<Answered>(secret).completion.text, "my key is [key]");
}

}  // namespace sluice::own_formats_test
