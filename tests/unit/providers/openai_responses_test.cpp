// OpenAI's responses: what is sent, and how answers and failures are read.

#include "tests/unit/providers/answer_fixture.hpp"
#include "tests/unit/providers/failure_fixture.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;

constexpr auto responses = ProviderKind::openai_responses;

ModelRequest asked(std::string words) {
  ModelRequest request;
  request.model = "gpt-5-pro";
  request.user = std::move(words);
  return request;
}

json sent(const ModelRequest& request) {
  return json::parse(whole_body(build_request(provider(responses), "sk-test", request)));
}

Completion answered(const json& body) {
  return answer_fixture::answered(responses, body.dump());
}

json message(const json& content) {
  return {{"type", "message"}, {"role", "assistant"}, {"content", content}};
}

/// As the API documents a finished one.
json finished(const json& output) {
  return {{"id", "resp_1"},
          {"object", "response"},
          {"status", "completed"},
          {"error", nullptr},
          {"incomplete_details", nullptr},
          {"model", "gpt-5-pro-2025-10-06"},
          {"output", output},
          {"usage",
           {{"input_tokens", 36},
            {"input_tokens_details", {{"cached_tokens", 30}}},
            {"output_tokens", 87},
            {"output_tokens_details", {{"reasoning_tokens", 64}}},
            {"total_tokens", 123}}}};
}

const json said =
    json::array({json{{"type", "output_text"}, {"text", "In Paris."}, {"annotations", json::array()}}});

TEST(OpenaiResponsesRequest, HasTheGoldenForm) {
  ModelRequest request = asked("Where?\n");
  request.system = share("Be \"brief\".");
  request.response_schema = share(R"({"type":"object"})");
  request.schema_name = "claims";
  request.temperature = 0.1;
  request.max_tokens = 512;
  request.seed = 7;
  const HttpRequest http = build_request(provider(responses), "sk-test", request);
  EXPECT_TRUE(http.url.ends_with("/v1/responses")) << http.url;
  EXPECT_EQ(http.headers,
            (std::vector<std::string>{"Content-Type: application/json", "Authorization: Bearer sk-test"}));
  EXPECT_EQ(
      whole_body(http),
      R"({"model":"gpt-5-pro","instructions":"Be \"brief\".","input":[{"role":"user","content":"Where?\n"}],)"
      R"("temperature":0.1,"max_output_tokens":512,"text":{"format":{"type":"json_schema","name":"claims",)"
      R"("strict":true,"schema":{"type":"object"}}},"store":false})")
      << "the API has no seed";
}

TEST(OpenaiResponsesRequest, LeavesOutWhatIsNotSet) {
  EXPECT_EQ(sent(asked("hi")), (json{{"model", "gpt-5-pro"},
                                     {"input", json::array({{{"role", "user"}, {"content", "hi"}}})},
                                     {"store", false}}));
}

TEST(OpenaiResponsesRequest, AConversationIsAListOfItems) {
  ModelRequest request = asked("Where is 17?");
  ChatMessage calls{MessageRole::assistant, {{PartKind::text, "I look."}}};
  calls.calls = {{"c1", "look_up", R"({"id":17})"}};
  ChatMessage result{MessageRole::tool, {{PartKind::text, "paid"}}};
  result.call_id = "c1";
  const ChatMessage shown{MessageRole::user,
                          {{PartKind::text, "See"},
                           {PartKind::image_url, "https://e.test/a.png"},
                           {PartKind::image_data, "QUJD", "image/png"}}};
  request.extras.messages = {{MessageRole::user, {{PartKind::asked}}}, calls, result, shown};
  EXPECT_EQ(sent(request)["input"], json::parse(R"([
    {"role": "user", "content": "Where is 17?"},
    {"role": "assistant", "content": "I look."},
    {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": "{\"id\":17}"},
    {"type": "function_call_output", "call_id": "c1", "output": "paid"},
    {"role": "user", "content": [{"type": "input_text", "text": "See"},
                                 {"type": "input_image", "image_url": "https://e.test/a.png"},
                                 {"type": "input_image", "image_url": "data:image/png;base64,QUJD"}]}])"));
}

TEST(OpenaiResponsesRequest, ToolsAreNotMadeStrict) {
  ModelRequest request = asked("Where?");
  request.extras.tools = {{"look_up", "Finds.", R"({"type":"object"})"}};
  request.extras.tool_choice = "look_up";
  const json body = sent(request);
  EXPECT_EQ(body["tools"], json::parse(R"([{"type": "function", "name": "look_up", "description": "Finds.",
                                            "parameters": {"type": "object"}, "strict": false}])"));
  EXPECT_EQ(body["tool_choice"], (json{{"type", "function"}, {"name", "look_up"}}));
  request.extras.tool_choice = "required";
  EXPECT_EQ(sent(request)["tool_choice"], "required");
}

TEST(OpenaiResponsesRequest, ParametersOfChatsStandWhereTheApiHasThem) {
  ModelRequest request = asked("Where?");
  request.extras.params = {{"reasoning_effort", R"("low")"}, {"verbosity", R"("high")"}, {"top_p", "0.9"}};
  request.extras.format.is_json = true;
  json body = sent(request);
  EXPECT_EQ(body["reasoning"], (json{{"effort", "low"}}));
  EXPECT_EQ(body["text"], json::parse(R"({"format": {"type": "json_object"}, "verbosity": "high"})"));
  EXPECT_EQ(body["top_p"], 0.9);
  EXPECT_FALSE(body.contains("reasoning_effort") || body.contains("verbosity"));

  request.extras.params = {{"reasoning_effort", R"("low")"},
                           {"reasoning", R"({"effort":"high","summary":"auto"})"},
                           {"text", R"({"verbosity":"low"})"},
                           {"verbosity", R"("high")"},
                           {"store", "true"}};
  body = sent(request);
  EXPECT_EQ(body["reasoning"]["effort"], "high") << "what the API calls so counts";
  EXPECT_EQ(body["text"], json::parse(R"({"format": {"type": "json_object"}, "verbosity": "low"})"));
  EXPECT_EQ(body["store"], true);
}

// Of two arms with an effort each both sent the summary alone.
TEST(OpenaiResponsesRequest, AnObjectOfOnesOwnTakesNothingFromWhatStandsBesideIt) {
  ModelRequest request = asked("Where?");
  request.extras.params = {{"reasoning", R"({"summary":"auto"})"},
                           {"reasoning_effort", R"("low")"},
                           {"text", R"({"note":[1,0.5]})"},
                           {"verbosity", R"("high")"}};
  json body = sent(request);
  EXPECT_EQ(body["reasoning"], (json{{"summary", "auto"}, {"effort", "low"}}));
  EXPECT_EQ(body["text"], (json{{"note", {1, 0.5}}, {"verbosity", "high"}}));

  request.extras.format.is_json = true;
  request.extras.params = {{"text", R"({"format":{"type":"text"}})"}, {"reasoning", "{}"}};
  const std::string whole = whole_body(build_request(provider(responses), "sk-test", request));
  EXPECT_NE(whole.find(R"("text":{"format":{"type":"text"}})"), std::string::npos) << "one format: " << whole;
  EXPECT_NE(whole.find(R"("reasoning":{})"), std::string::npos) << whole;

  request.extras.params = {{"text", R"("short")"}, {"verbosity", R"("high")"}, {"reasoning", "true"}};
  body = sent(request);
  EXPECT_EQ(body["text"], "short") << "the provider refuses it";
  EXPECT_EQ(body["reasoning"], true);
}

TEST(OpenaiResponsesAnswer, IsReadWhole) {
  const Completion completion = answered(
      finished({{{"type", "reasoning"}, {"summary", json::array({{{"text", "I think."}}})}}, message(said)}));
  EXPECT_EQ(completion.text, "In Paris.") << "thinking is no part of it";
  EXPECT_EQ(completion.served_model, "gpt-5-pro-2025-10-06");
  EXPECT_EQ(completion.finish_reason, "completed");
  EXPECT_EQ(completion.usage, (Usage{36, 87})) << "cached and reasoning tokens are parts, not additions";
  EXPECT_FALSE(completion.non_answer);
}

TEST(OpenaiResponsesAnswer, CallsOfToolsAreAnswers) {
  const Completion completion = answered(finished(json::array({json{
      {"type", "function_call"}, {"call_id", "c1"}, {"name", "look_up"}, {"arguments", R"({"id": 17})"}}})));
  EXPECT_FALSE(completion.non_answer);
  ASSERT_EQ(completion.calls.size(), 1u);
  EXPECT_EQ(completion.calls[0].arguments, R"({"id":17})");
  EXPECT_EQ(completion.text, R"({"tool_call":{"name":"look_up","arguments":{"id":17}}})");
}

TEST(OpenaiResponsesAnswer, WhatIsNoAnswerSaysWhy) {
  const auto reason_of = [](const json& body) {
    const Completion completion = answered(body);
    return completion.non_answer ? std::string(to_string(completion.non_answer->reason)) : "";
  };
  const auto incomplete = [](const std::string& reason) {
    json body = finished(json::array({message(said)}));
    body["status"] = "incomplete";
    body["incomplete_details"] = {{"reason", reason}};
    return body;
  };
  EXPECT_EQ(reason_of(incomplete("max_output_tokens")), "truncated");
  EXPECT_EQ(reason_of(incomplete("content_filter")), "refusal");
  EXPECT_EQ(reason_of(finished(json::array({json{{"type", "reasoning"}}}))), "refusal") << "without any text";
  const json empty = json::array({json{{"type", "output_text"}, {"text", ""}}});
  EXPECT_EQ(reason_of(finished(json::array({message(empty)}))), "refusal") << "an empty one";
  const json declines =
      finished(json::array({message(json::array({json{{"type", "refusal"}, {"refusal", "I can't."}}}))}));
  EXPECT_EQ(reason_of(declines), "refusal");
  EXPECT_EQ(answered(declines).text, "I can't.");
}

// Tests with the check `refusal` ended in an error: such an answer ends with another word than in
// completions.
TEST(OpenaiResponsesAnswer, ARefusalIsTheProvidersOwnAndAnEmptyAnswerIsNone) {
  const auto of = [](const json& part) {
    return answered(finished(json::array({message(json::array({part}))})));
  };
  const Completion worded = of({{"type", "refusal"}, {"refusal", "I can't."}});
  EXPECT_TRUE(is_native_refusal(worded));
  EXPECT_FALSE(is_empty_answer(worded));
  const Completion wordless = of({{"type", "refusal"}, {"refusal", ""}});
  EXPECT_EQ(wordless.non_answer->reason, Reason::refusal);
  EXPECT_TRUE(is_native_refusal(wordless));
  EXPECT_FALSE(is_empty_answer(wordless)) << "it would pass for the answer of a test that expects none";
  const Completion empty = of({{"type", "output_text"}, {"text", ""}});
  EXPECT_FALSE(is_native_refusal(empty));
  EXPECT_TRUE(is_empty_answer(empty));
  EXPECT_FALSE(is_native_refusal(of({{"type", "output_text"}, {"text", "I can't."}})));
}

TEST(OpenaiResponsesFailure, OneThatFailedLaterComesWithTwoHundred) {
  const auto of = [](const std::string& code) {
    json body = finished(json::array());
    body["status"] = "failed";
    body["error"] = {{"code", code}, {"message", "said so"}};
    return failed(responses, 200, body.dump());
  };
  EXPECT_TRUE(of("rate_limit_exceeded").counts_as_rate_limit);
  EXPECT_TRUE(of("server_error").retryable);
  EXPECT_TRUE(of("server_error").is_server_error);
  EXPECT_FALSE(of("invalid_prompt").retryable);
  EXPECT_NE(of("server_error").message.find("said so"), std::string::npos);
}

// Each was an outage: the breaker stopped the run for an image that the provider cannot fetch.
TEST(OpenaiResponsesFailure, ACodeThatSpeaksOfTheRequestIsNoOutage) {
  const auto outcome = [](const std::string& error) {
    return read_response(provider(responses),
                         {200, {}, R"({"status":"failed","output":[],"error":)" + error + "}"}, now);
  };
  const auto of = [&](const std::string& code) {
    return outcome(R"({"message":"said so","code":")" + code + "\"}");
  };
  for (const char* code :
       {"invalid_image_url", "image_too_large", "failed_to_download_image", "context_length_exceeded"}) {
    const auto refused = of(code);
    ASSERT_TRUE(std::holds_alternative<Failed>(refused)) << code;
    EXPECT_EQ(std::get<Failed>(refused).reason, Reason::request_refused) << code;
    EXPECT_FALSE(std::get<Failed>(refused).is_server_error) << code;
  }
  for (const char* code : {"vector_store_timeout", "internal_error", "upstream_error"})
    EXPECT_TRUE(std::get<Failed>(of(code)).is_server_error) << code;
  EXPECT_TRUE(std::get<Failed>(outcome(R"({"message":"said so"})")).is_server_error) << "without a code";
  EXPECT_TRUE(std::get<Failed>(of("slow_down")).counts_as_rate_limit);
  const auto declined = of("image_content_policy_violation");
  ASSERT_TRUE(std::holds_alternative<Answered>(declined));
  EXPECT_EQ(std::get<Answered>(declined).completion.non_answer->reason, Reason::refusal);
  EXPECT_TRUE(std::get<Answered>(declined).took_nothing);
}

TEST(OpenaiResponsesFailure, WhatWaitsInTheBackgroundIsNoAnswer) {
  json body = finished(json::array());
  body["status"] = "queued";
  EXPECT_NE(failed(responses, 200, body.dump()).message.find("is not an OpenAI response"), std::string::npos);
}

TEST(OpenaiResponsesFailure, AModelWithoutChatsSaysWhoAsksIt) {
  const Failed said_by_chats =
      failed(ProviderKind::openai, 404,
             R"({"error":{"message":"This model is only supported in v1/responses and not in )"
             R"(v1/chat/completions.","type":"invalid_request_error","param":"model","code":null}})");
  EXPECT_EQ(said_by_chats.advice, "; a provider of kind \"openai-responses\" asks in that format");
}

}  // namespace
}  // namespace sluice
