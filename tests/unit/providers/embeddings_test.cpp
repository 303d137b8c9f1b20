#include "worker/providers/embeddings.hpp"

#include "common/defaults.hpp"

#include <array>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::embeddings_test {

ProviderSettings provider(ProviderKind kind, std::string base_url) {
  ProviderSettings settings;
  settings.name = std::string(to_string(kind));
  settings.kind = kind;
  settings.base_url = std::move(base_url);
  return settings;
}

const ProviderSettings openai = provider(ProviderKind::openai, "https://api.openai.com/v1");
const ProviderSettings anthropic = provider(ProviderKind::anthropic, "https://api.anthropic.com");
const ProviderSettings gemini = provider(ProviderKind::gemini, "https://generativelanguage.googleapis.com");
constexpr std::array<std::string_view, 2> texts{"one \"1\"\n", "zwei \xc3\xbc"};
constexpr std::chrono::system_clock::time_point now{};

TEST(EmbeddingRequest, OpenaiHasTheGoldenForm) {
  const auto http = build_embedding_request(openai, "sk-test", "text-embedding-3-small", texts);
  EXPECT_EQ(http.url, "https://api.openai.com/v1/embeddings");
  EXPECT_EQ(http.headers,
            (std::vector<std::string>{"Content-Type: application/json", "Authorization: Bearer sk-test"}));
  EXPECT_EQ(http.body,
            "{\"model\":\"text-embedding-3-small\",\"input\":[\"one \\\"1\\\"\\n\",\"zwei \xc3\xbc\"],"
            "\"encoding_format\":\"float\"}");
}

TEST(EmbeddingRequest, GeminiHasTheGoldenForm) {
  const auto http = build_embedding_request(gemini, "AIza-test", "gemini-embedding-001", texts);
  EXPECT_EQ(
      http.url,
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001:batchEmbedContents");
  EXPECT_EQ(http.headers.back(), "x-goog-api-key: AIza-test");
  EXPECT_EQ(
      http.body,
      "{\"requests\":["
      "{\"model\":\"models/gemini-embedding-001\",\"content\":{\"parts\":[{\"text\":\"one \\\"1\\\"\\n\"}]}},"
      "{\"model\":\"models/gemini-embedding-001\",\"content\":{\"parts\":[{\"text\":\"zwei \xc3\xbc\"}]}}]}");
  EXPECT_EQ(build_embedding_request(gemini, "", "models/x", texts).url,
            "https://generativelanguage.googleapis.com/v1beta/models/x:batchEmbedContents");
}

TEST(EmbeddingRequest, GeminiTakesOneTextAlone) {
  const std::array<std::string_view, 1> one{"one"};
  const auto http = build_embedding_request(gemini, "", "x", one);
  EXPECT_EQ(http.url, "https://generativelanguage.googleapis.com/v1beta/models/x:embedContent");
  EXPECT_EQ(http.body, R"({"model":"models/x","content":{"parts":[{"text":"one"}]}})");
  const auto outcome =
      read_embedding_response(gemini, {200, {}, R"({"embedding":{"values":[0.5,1]}})"}, 1, now);
  ASSERT_TRUE(std::holds_alternative<Embedded>(outcome));
  EXPECT_EQ(std::get<Embedded>(outcome).vectors, (std::vector<std::vector<float>>{{0.5f, 1.0f}}));
}

TEST(EmbeddingResponse, AModelWithoutTheBatchIsAskedOneByOneAndAnUnknownOneIsUnknown) {
  const HttpResponse missing{404, {}, R"({"error":{"code":404,"message":"not found","status":"NOT_FOUND"}})"};
  const auto reason = [&](const ProviderSettings& from, std::size_t count) {
    return std::get<Failed>(read_embedding_response(from, missing, count, now)).reason;
  };
  EXPECT_EQ(reason(gemini, 2), Reason::request_refused) << "the queue halves what is refused";
  EXPECT_EQ(reason(gemini, 1), Reason::model_unknown);
  EXPECT_EQ(reason(openai, 2), Reason::model_unknown);
}

TEST(EmbeddingRequest, AnthropicHasNoneAndTheErrorNamesWhoHas) {
  EXPECT_TRUE(can_embed(openai));
  EXPECT_TRUE(can_embed(gemini));
  const auto refused = can_embed(anthropic);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::settings_invalid);
  for (const auto* word : {"anthropic", "openai", "gemini", "lexical-ngrams-v1"}) {
    EXPECT_NE(refused.error().message.find(word), std::string::npos) << refused.error().message;
  }
}

std::variant<Embedded, Failed> read(const ProviderSettings& from, const std::string& body, int status = 200,
                                    std::size_t count = 2) {
  return read_embedding_response(from, {status, {}, body}, count, now, "sk-secret-1234");
}

TEST(EmbeddingResponse, OpenaiVectorsGoToTheTextThatTheirIndexNames) {
  const auto outcome = read(openai, R"({"object":"list","data":[
    {"object":"embedding","index":1,"embedding":[0.5,-2]},{"object":"embedding","index":0,"embedding":[1,0]}],
    "model":"m","usage":{"prompt_tokens":9,"total_tokens":9}})");
  ASSERT_TRUE(std::holds_alternative<Embedded>(outcome)) << std::get<Failed>(outcome).message;
  const auto& embedded = std::get<Embedded>(outcome);
  EXPECT_EQ(embedded.vectors, (std::vector<std::vector<float>>{{1.0f, 0.0f}, {0.5f, -2.0f}}));
  EXPECT_EQ(embedded.usage, (Usage{9, 0}));
}

TEST(EmbeddingResponse, WithoutIndicesTheOrderCounts) {
  const auto outcome = read(openai, R"({"data":[{"embedding":[1]},{"embedding":[2]}]})");
  ASSERT_TRUE(std::holds_alternative<Embedded>(outcome));
  EXPECT_EQ(std::get<Embedded>(outcome).vectors, (std::vector<std::vector<float>>{{1.0f}, {2.0f}}));
}

TEST(EmbeddingResponse, GeminiIsReadInOrder) {
  const auto outcome = read(gemini, R"({"embeddings":[{"values":[1,2]},{"values":[3,4]}]})");
  ASSERT_TRUE(std::holds_alternative<Embedded>(outcome));
  EXPECT_EQ(std::get<Embedded>(outcome).vectors,
            (std::vector<std::vector<float>>{{1.0f, 2.0f}, {3.0f, 4.0f}}));
  EXPECT_EQ(std::get<Embedded>(outcome).usage, Usage{});
}

TEST(EmbeddingResponse, WhatIsNotOneSoundVectorForEachTextIsAFailureThatIsTriedAgain) {
  const std::string a = R"({"index":0,"embedding":[1,2]})";
  const auto with = [&a](const std::string& second) { return R"({"data":[)" + a + "," + second + "]}"; };
  std::vector<std::string> bodies = {
      "",
      "<html>",
      "[]",
      "{}",
      R"({"data":{}})",
      with(a),
      with(R"({"index":2,"embedding":[1,2]})"),
      with(R"({"index":-1,"embedding":[1,2]})"),
      with(R"({"index":1.0,"embedding":[1,2]})"),
      with(R"({"index":1,"embedding":[]})"),
      with(R"({"index":1,"embedding":[0,0]})"),
      with(R"({"index":1,"embedding":[1,null]})"),
      with(R"({"index":1,"embedding":[1,"2"]})"),
      with(R"({"index":1,"embedding":[1,1e39]})"),
      with(R"({"index":1,"embedding":"AAAA"})"),
      with(R"({"index":1})"),
      with("7"),
      with(R"({"index":1,"embedding":)" + std::string(100'000, '[')),
  };
  for (const auto& body : bodies) {
    const auto outcome = read(openai, body);
    ASSERT_TRUE(std::holds_alternative<Failed>(outcome)) << body.substr(0, 200);
    EXPECT_EQ(std::get<Failed>(outcome).reason, Reason::provider_failed);
    EXPECT_TRUE(std::get<Failed>(outcome).retryable);
    EXPECT_NE(std::get<Failed>(outcome).message.find("2 embeddings"), std::string::npos);
  }
  EXPECT_TRUE(std::holds_alternative<Failed>(read(gemini, R"({"embeddings":[{"values":[1]},{}]})")));
}

TEST(EmbeddingResponse, ANumberOfVectorsThatIsNotThatOfTheTextsHasAReasonOfItsOwn) {
  const std::string one = R"({"embedding":[1,2]})";
  const auto openai_body = [](const std::string& data) { return R"({"data":[)" + data + "]}"; };
  const std::pair<const ProviderSettings*, std::string> answers[] = {
      {&openai, openai_body("")},
      {&openai, openai_body(one)},
      {&openai, openai_body(one + "," + one + "," + one)},
      {&openai, openai_body(one + R"(,{"embedding":[1]})")},
      {&gemini, R"({"embeddings":[{"values":[1]}]})"},
  };
  for (const auto& [provider, body] : answers) {
    const auto outcome = read(*provider, body);
    ASSERT_TRUE(std::holds_alternative<Failed>(outcome)) << body;
    EXPECT_EQ(std::get<Failed>(outcome).reason, Reason::embedding_count_wrong) << body;
    EXPECT_TRUE(std::get<Failed>(outcome).retryable);
  }
}

// Short numbers take more bytes in the cache than in the body: such an entry could not be exported.
TEST(EmbeddingResponse, VectorsThatCannotBeUsedWerePaidFor) {
  for (const char* data : {R"([{"embedding":[1,2]}])", R"([{"embedding":[1,2]},{"embedding":[0,0]}])",
                           R"([{"embedding":[1,2]},{"embedding":[1]}])"}) {
    const auto outcome = read(openai, R"({"usage":{"prompt_tokens":7},"data":)" + std::string(data) + "}");
    EXPECT_EQ(std::get<Failed>(outcome).usage, (Usage{7, 0})) << data;
  }
}

TEST(EmbeddingResponse, AVectorHasNoMoreNumbersThanAnEntryHasRoomFor) {
  const auto of = [](std::size_t numbers) {
    std::string body = R"({"data":[{"embedding":[1)";
    for (std::size_t i = 1; i < numbers; ++i) body += ",1";
    return read_embedding_response(openai, {200, {}, body + "]}]}"}, 1, now);
  };
  constexpr std::size_t most = defaults::max_answer_bytes / sizeof(float);
  EXPECT_TRUE(std::holds_alternative<Embedded>(of(most)));
  const auto more = of(most + 1);
  ASSERT_TRUE(std::holds_alternative<Failed>(more));
  EXPECT_EQ(std::get<Failed>(more).reason, Reason::answer_too_large);
  EXPECT_FALSE(std::get<Failed>(more).retryable);
}

TEST(EmbeddingResponse, ErrorsAreThoseOfTheProvider) {
  const auto failed = [](const ProviderSettings& from, int status, const std::string& body) {
    return std::get<Failed>(read(from, body, status));
  };
  EXPECT_EQ(failed(openai, 401, R"({"error":{"message":"Incorrect key sk-secret-1234"}})").reason,
            Reason::key_refused);
  EXPECT_EQ(failed(openai, 401, R"({"error":{"message":"Incorrect key sk-secret-1234"}})")
                .message.find("sk-secret-1234"),
            std::string::npos);
  EXPECT_EQ(failed(openai, 400, R"({"error":{"message":"too long"}})").reason, Reason::request_refused);
  const auto unknown =
      failed(openai, 404, R"({"error":{"message":"no such model","code":"model_not_found"}})");
  EXPECT_EQ(unknown.reason, Reason::model_unknown);
  EXPECT_NE(unknown.advice.find("--embedding-model"), std::string::npos) << unknown.advice;
  EXPECT_TRUE(
      failed(
          gemini, 429,
          R"({"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}})")
          .counts_as_rate_limit);
  EXPECT_EQ(failed(openai, 200, R"({"error":{"message":"upstream","code":502}})").reason,
            Reason::provider_failed);
}

}  // namespace sluice::embeddings_test
