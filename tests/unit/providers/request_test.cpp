#include "config/embedded_config.hpp"
#include "worker/providers/provider.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::request_test {

ProviderSettings provider(ProviderKind kind, std::string base_url) {
  ProviderSettings settings;
  settings.name = std::string(to_string(kind));
  settings.kind = kind;
  settings.base_url = std::move(base_url);
  settings.max_tokens_field = "max_completion_tokens";
  return settings;
}

const ProviderSettings openai = provider(ProviderKind::openai, "https://api.openai.com/v1");
const ProviderSettings anthropic = provider(ProviderKind::anthropic, "https://api.anthropic.com");
const ProviderSettings gemini = provider(ProviderKind::gemini, "https://generativelanguage.googleapis.com");

ModelRequest full_request() {
  ModelRequest request;
  request.provider = "p";
  request.model = "some-model";
  request.system = share("You find \"claims\".\n");
  request.user = "x = 1\t# caf\xc3\xa9\n";
  request.response_schema = share(R"({"type":"object"})");
  request.schema_name = "claims";
  request.temperature = 0.1;
  request.max_tokens = 512;
  request.seed = 7;
  return request;
}

ModelRequest bare_request() {
  ModelRequest request;
  request.model = "m";
  request.user = "hi";
  return request;
}

TEST(OpenaiRequest, HasTheGoldenForm) {
  const HttpRequest http = build_request(openai, "sk-test", full_request());
  EXPECT_EQ(http.url, "https://api.openai.com/v1/chat/completions");
  EXPECT_EQ(http.headers,
            (std::vector<std::string>{"Content-Type: application/json", "Authorization: Bearer sk-test"}));
  EXPECT_EQ(whole_body(http),
            "{\"model\":\"some-model\",\"messages\":["
            "{\"role\":\"system\",\"content\":\"You find \\\"claims\\\".\\n\"},"
            "{\"role\":\"user\",\"content\":\"x = 1\\t# caf\xc3\xa9\\n\"}],"
            "\"temperature\":0.1,\"max_completion_tokens\":512,\"seed\":7,"
            "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":"
            "{\"name\":\"claims\",\"strict\":true,\"schema\":{\"type\":\"object\"}}}}");
}

TEST(OpenaiRequest, LeavesOutWhatIsNotSet) {
  const HttpRequest http = build_request(openai, "", bare_request());
  EXPECT_EQ(http.headers, std::vector<std::string>{"Content-Type: application/json"});
  EXPECT_EQ(whole_body(http), R"({"model":"m","messages":[{"role":"user","content":"hi"}]})");
}

TEST(OpenaiRequest, NamesTheTokenBoundAsTheServerDoes) {
  ProviderSettings older = openai;
  older.max_tokens_field = "max_tokens";
  EXPECT_NE(whole_body(build_request(older, "", full_request())).find(R"("max_tokens":512)"),
            std::string::npos);
  older.max_tokens_field = "";
  EXPECT_NE(whole_body(build_request(older, "", full_request())).find(R"("max_completion_tokens":512)"),
            std::string::npos);
}

TEST(AnthropicRequest, HasTheGoldenForm) {
  const HttpRequest http = build_request(anthropic, "sk-ant-test", full_request());
  EXPECT_EQ(http.url, "https://api.anthropic.com/v1/messages");
  EXPECT_EQ(http.headers,
            (std::vector<std::string>{"Content-Type: application/json", "x-api-key: sk-ant-test",
                                      "anthropic-version: 2023-06-01"}));
  EXPECT_EQ(whole_body(http),
            "{\"model\":\"some-model\",\"max_tokens\":512,\"system\":\"You find \\\"claims\\\".\\n\","
            "\"messages\":[{\"role\":\"user\",\"content\":\"x = 1\\t# caf\xc3\xa9\\n\"}],\"temperature\":0.1,"
            "\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":{\"type\":\"object\"}}}}");
}

TEST(AnthropicRequest, AlwaysBoundsTheTokensAndNeverSendsASeed) {
  ModelRequest request = bare_request();
  request.seed = 3;
  EXPECT_EQ(whole_body(build_request(anthropic, "", request)),
            R"({"model":"m","max_tokens":4096,"messages":[{"role":"user","content":"hi"}]})");
}

TEST(GeminiRequest, HasTheGoldenForm) {
  const HttpRequest http = build_request(gemini, "AIza-test", full_request());
  EXPECT_EQ(http.url, "https://generativelanguage.googleapis.com/v1beta/models/some-model:generateContent");
  EXPECT_EQ(http.headers,
            (std::vector<std::string>{"Content-Type: application/json", "x-goog-api-key: AIza-test"}));
  EXPECT_EQ(whole_body(http),
            "{\"systemInstruction\":{\"parts\":[{\"text\":\"You find \\\"claims\\\".\\n\"}]},"
            "\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"x = 1\\t# caf\xc3\xa9\\n\"}]}],"
            "\"generationConfig\":{\"temperature\":0.1,\"maxOutputTokens\":512,\"seed\":7,"
            "\"responseMimeType\":\"application/json\",\"responseJsonSchema\":{\"type\":\"object\"}}}");
}

TEST(GeminiRequest, LeavesOutWhatIsNotSet) {
  EXPECT_EQ(whole_body(build_request(gemini, "", bare_request())),
            R"({"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{}})");
}

TEST(GeminiRequest, KeepsTheModelInsideItsPlaceInThePath) {
  struct Case {
    std::string model;
    std::string path;
  };
  for (const Case& c : std::vector<Case>{{"gemini-2.0-flash", "models/gemini-2.0-flash"},
                                         {"models/gemini-2.0-flash", "models/gemini-2.0-flash"},
                                         {"tunedModels/mine", "tunedModels/mine"},
                                         {"a?key=b#c d", "models/a%3Fkey%3Db%23c%20d"}}) {
    ModelRequest request = bare_request();
    request.model = c.model;
    EXPECT_EQ(build_request(gemini, "", request).url,
              gemini.base_url + "/v1beta/" + c.path + ":generateContent");
  }
}

TEST(GeminiRequest, SendsTheSeedInTheBitsThatTheFieldHas) {
  ModelRequest request = bare_request();
  request.seed = (std::int64_t{1} << 40) + 5;
  EXPECT_NE(whole_body(build_request(gemini, "", request)).find(R"("seed":5)"), std::string::npos);
  request.seed = -1;
  EXPECT_NE(whole_body(build_request(gemini, "", request)).find(R"("seed":2147483647)"), std::string::npos);
}

TEST(Request, KeyCannotAddHeaders) {
  const HttpRequest http = build_request(openai, "sk-test\r\nX-Evil: 1\n", bare_request());
  for (const std::string& header : http.headers) EXPECT_EQ(header.find_first_of("\r\n"), std::string::npos);
  EXPECT_EQ(build_request(openai, "sk-test\n", bare_request()).headers.back(),
            "Authorization: Bearer sk-test");
  EXPECT_EQ(build_request(openai, " sk-test \n", bare_request()).headers.back(),
            "Authorization: Bearer sk-test");
  EXPECT_EQ(build_request(openai, "\n", bare_request()).headers.size(), 1u);
}

TEST(Request, EmptySystemPromptIsNotSent) {
  ModelRequest request = bare_request();
  request.system = share("");
  for (const ProviderSettings& settings : {openai, anthropic, gemini}) {
    EXPECT_EQ(whole_body(build_request(settings, "", request)),
              whole_body(build_request(settings, "", bare_request())));
  }
}

TEST(Request, EachHasItsOwnSystemPrompt) {
  ModelRequest request = bare_request();
  for (int i = 0; i < 100; ++i) {
    const std::string prompt = "prompt " + std::to_string(i % 7);
    request.system = share(prompt);
    const std::string body = whole_body(build_request(i % 2 == 0 ? openai : anthropic, "", request));
    EXPECT_NE(body.find('"' + prompt + '"'), std::string::npos) << body;
  }
}

TEST(Request, ThePromptOfARunIsHeldOnce) {
  for (const ProviderSettings& settings : {openai, anthropic, gemini}) {
    ModelRequest request = full_request();
    const HttpRequest one = build_request(settings, "k", request);
    request.system = share(std::string(*request.system));  // As the next WORK message brings it.
    request.user = "y = 2";
    const HttpRequest other = build_request(settings, "k", request);
    ASSERT_TRUE(one.shared) << settings.name;
    EXPECT_EQ(one.shared, other.shared) << settings.name;
    EXPECT_EQ(one.body.find("You find"), std::string::npos) << settings.name;
  }
}

TEST(Request, IsJsonWhateverTheCodeHolds) {
  ModelRequest request = full_request();
  request.model = "odd\"model\\";
  request.user.clear();
  for (int byte = 0; byte < 256; ++byte) request.user += static_cast<char>(byte);
  request.response_schema = share(std::string(embedded::claims_schema));
  request.schema_name = claims_schema_name;
  for (const ProviderSettings& settings : {openai, anthropic, gemini}) {
    const auto body =
        nlohmann::json::parse(whole_body(build_request(settings, "k", request)), nullptr, false);
    ASSERT_FALSE(body.is_discarded()) << settings.name;
    const auto schema = nlohmann::json::parse(embedded::claims_schema);
    const auto flat = body.flatten();
    const bool carries_schema = std::any_of(flat.begin(), flat.end(), [&](const auto& leaf) {
      return leaf == schema["properties"]["claims"]["items"]["properties"]["subject"]["description"];
    });
    EXPECT_TRUE(carries_schema) << settings.name;
  }
}

}  // namespace sluice::request_test
