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
const ProviderSettings openai_responses =
    provider(ProviderKind::openai_responses, "https://api.openai.com/v1");
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

TEST(Request, CarriesTheProvidersQueryAndHeaders) {
  ProviderSettings azure = openai;
  azure.base_url = "https://me.openai.azure.com/openai/deployments/gpt";
  azure.query = {{"api-version", "2024-10-21"}, {"a b", "c&d=e/f"}};
  azure.headers = {{"X-Title", "evals", ""}, {"api-key", "", "AZURE_KEY"}};
  const HttpRequest http =
      build_request(azure, Credentials("", {{"api-key", "", "azure-secret"}}), bare_request());
  EXPECT_EQ(http.url,
            "https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21&"
            "a%20b=c%26d%3De%2Ff");
  EXPECT_EQ(http.headers, (std::vector<std::string>{"Content-Type: application/json", "X-Title: evals",
                                                    "api-key: azure-secret"}));
  ProviderSettings older = anthropic;
  older.headers = {{"Anthropic-Version", "2022-01-01", ""}};
  EXPECT_EQ(build_request(older, "", bare_request()).headers,
            (std::vector<std::string>{"Content-Type: application/json", "Anthropic-Version: 2022-01-01"}));
}

/// The request's parameters in the provider's body, as far as they are not those of a bare request.
nlohmann::json beyond_bare(const ProviderSettings& settings, const RequestParams& params) {
  ModelRequest request = bare_request();
  request.extras.params = params;
  auto body = nlohmann::json::parse(whole_body(build_request(settings, "", request)));
  for (const char* bare : {"model", "messages", "contents", "max_tokens"}) body.erase(bare);
  return body;
}

TEST(Request, ParametersStandWhereTheProviderLooksForThem) {
  const RequestParams params{{"reasoning_effort", "\"low\""},
                             {"safetySettings", "[]"},
                             {"seed_x", "null"},
                             {"stop", "\"END\""},
                             {"top_p", "0.9"}};
  EXPECT_EQ(beyond_bare(openai, params).dump(),
            R"({"reasoning_effort":"low","safetySettings":[],"stop":"END","top_p":0.9})");
  EXPECT_EQ(beyond_bare(anthropic, params).dump(),
            R"({"output_config":{"effort":"low"},"safetySettings":[],"stop_sequences":["END"],"top_p":0.9})");
  EXPECT_EQ(beyond_bare(gemini, params).dump(),
            R"({"generationConfig":{"stopSequences":["END"],"thinkingConfig":{"thinkingLevel":"low"},)"
            R"("topP":0.9},"safetySettings":[]})");
  EXPECT_EQ(beyond_bare(gemini, {{"topP", "0.5"}, {"top_p", "0.9"}}).dump(),
            R"({"generationConfig":{"topP":0.5}})")
      << "the provider's own name says it more exactly";
}

ModelRequest conversation() {
  ModelRequest request = bare_request();
  request.system = share("Be brief.");
  request.user = "And now?";
  request.extras.messages = {
      {MessageRole::user,
       {{PartKind::text, "Look."},
        {PartKind::image_data, "QUJD", "image/png"},
        {PartKind::image_url, "https://a/b"}}},
      {MessageRole::assistant, {{PartKind::text, "Hm."}}, {{"call_1", "look_up", R"({"id":17})"}}},
      {MessageRole::tool, {{PartKind::text, "paid"}}, {}, "call_1", "look_up"},
      {MessageRole::user, {{PartKind::asked}}}};
  request.extras.tools = {{"look_up", "Finds orders.", R"({"type":"object"})"}};
  return request;
}

TEST(OpenaiRequest, HasTheMessagesAndTools) {
  ModelRequest request = conversation();
  request.extras.tool_choice = "look_up";
  EXPECT_EQ(whole_body(build_request(openai, "", request)),
            R"({"model":"m","messages":[{"role":"system","content":"Be brief."},)"
            R"({"role":"user","content":[{"type":"text","text":"Look."},)"
            R"({"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},)"
            R"({"type":"image_url","image_url":{"url":"https://a/b"}}]},)"
            R"({"role":"assistant","content":"Hm.","tool_calls":[{"id":"call_1","type":"function",)"
            R"("function":{"name":"look_up","arguments":"{\"id\":17}"}}]},)"
            R"({"role":"tool","tool_call_id":"call_1","content":"paid"},)"
            R"({"role":"user","content":"And now?"}],)"
            R"("tools":[{"type":"function","function":{"name":"look_up","description":"Finds orders.",)"
            R"("parameters":{"type":"object"}}}],)"
            R"("tool_choice":{"type":"function","function":{"name":"look_up"}}})");
}

TEST(AnthropicRequest, HasTheMessagesAndTools) {
  ModelRequest request = conversation();
  request.extras.tool_choice = "required";
  EXPECT_EQ(whole_body(build_request(anthropic, "", request)),
            R"({"model":"m","max_tokens":4096,"system":"Be brief.","messages":[)"
            R"({"role":"user","content":[{"type":"text","text":"Look."},)"
            R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},)"
            R"({"type":"image","source":{"type":"url","url":"https://a/b"}}]},)"
            R"({"role":"assistant","content":[{"type":"text","text":"Hm."},)"
            R"({"type":"tool_use","id":"call_1","name":"look_up","input":{"id":17}}]},)"
            R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"paid"}]},)"
            R"({"role":"user","content":"And now?"}],)"
            R"("tools":[{"name":"look_up","description":"Finds orders.","input_schema":{"type":"object"}}],)"
            R"("tool_choice":{"type":"any"}})");
}

TEST(GeminiRequest, HasTheMessagesAndTools) {
  ModelRequest request = conversation();
  request.extras.tool_choice = "look_up";
  EXPECT_EQ(
      whole_body(build_request(gemini, "", request)),
      R"({"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[)"
      R"({"role":"user","parts":[{"text":"Look."},{"inlineData":{"mimeType":"image/png","data":"QUJD"}},)"
      R"({"fileData":{"fileUri":"https://a/b"}}]},)"
      R"({"role":"model","parts":[{"text":"Hm."},{"functionCall":{"name":"look_up","args":{"id":17}}}]},)"
      R"({"role":"user","parts":[{"functionResponse":{"name":"look_up","response":{"result":"paid"}}}]},)"
      R"({"role":"user","parts":[{"text":"And now?"}]}],"generationConfig":{},)"
      R"("tools":[{"functionDeclarations":[{"name":"look_up","description":"Finds orders.",)"
      R"("parametersJsonSchema":{"type":"object"}}]}],)"
      R"("toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["look_up"]}}})");
}

/// The conversation with a second tool's result behind the first.
ModelRequest conversation_with_two_results() {
  ModelRequest request = conversation();
  auto& messages = request.extras.messages;
  const auto result = std::ranges::find(messages, MessageRole::tool, &ChatMessage::role);
  ChatMessage second = *result;
  second.call_id = "call_2";
  second.call_name = "refund";
  messages.insert(result + 1, second);
  const auto caller = std::ranges::find(messages, MessageRole::assistant, &ChatMessage::role);
  caller->calls.push_back({"call_2", "refund", "{}"});
  return request;
}

TEST(AnthropicRequest, HasTheResultsOfSeveralCallsInOneMessage) {
  const std::string body = whole_body(build_request(anthropic, "", conversation_with_two_results()));
  EXPECT_NE(
      body.find(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"paid"},)"
                R"({"type":"tool_result","tool_use_id":"call_2","content":"paid"}]},)"
                R"({"role":"user","content":"And now?"}],"tools")"),
      std::string::npos)
      << body;
  ModelRequest ends_with_results = conversation_with_two_results();
  ends_with_results.extras.messages.pop_back();
  const std::string last = whole_body(build_request(anthropic, "", ends_with_results));
  EXPECT_NE(last.find(R"("tool_use_id":"call_2","content":"paid"}]}],"tools")"), std::string::npos) << last;
}

// The API answers 400 where the first call of a message has no signature.
TEST(GeminiRequest, StandsInForTheSignaturesOfCallsThatTheModelDidNotMake) {
  const std::string signature = R"(,"thoughtSignature":"skip_thought_signature_validator")";
  ModelRequest request = conversation_with_two_results();
  for (const char* model :
       {"gemini-3-pro-preview", "gemini-3.1-flash", "models/gemini-3-flash", "gemini-flash-latest"}) {
    request.model = model;
    const std::string body = whole_body(build_request(gemini, "", request));
    EXPECT_NE(body.find(R"({"functionCall":{"name":"look_up","args":{"id":17}})" + signature +
                        R"(},{"functionCall":{"name":"refund","args":{}}})"),
              std::string::npos)
        << body;
  }
  for (const char* model : {"gemini-2.5-pro", "gemini-1.5-flash", "gemma-3"}) {
    request.model = model;
    EXPECT_EQ(whole_body(build_request(gemini, "", request)).find("thoughtSignature"), std::string::npos);
  }
}

TEST(GeminiRequest, HasTheResultsOfSeveralCallsInOneContent) {
  const std::string body = whole_body(build_request(gemini, "", conversation_with_two_results()));
  EXPECT_NE(
      body.find(
          R"({"role":"user","parts":[{"functionResponse":{"name":"look_up","response":{"result":"paid"}}},)"
          R"({"functionResponse":{"name":"refund","response":{"result":"paid"}}}]},)"
          R"({"role":"user","parts":[{"text":"And now?"}]}],"generationConfig")"),
      std::string::npos)
      << body;
}

TEST(Request, AMessageOfNothingIsAnEmptyList) {
  ModelRequest request = bare_request();
  request.extras.messages = {{MessageRole::assistant, {}}, {MessageRole::user, {{PartKind::asked}}}};
  const std::string claude = whole_body(build_request(anthropic, "", request));
  EXPECT_NE(claude.find(R"({"role":"assistant","content":[]},{"role":"user")"), std::string::npos) << claude;
  const std::string google = whole_body(build_request(gemini, "", request));
  EXPECT_NE(google.find(R"({"role":"model","parts":[]},{"role":"user")"), std::string::npos) << google;
}

TEST(Request, AsksForTheFormThatATestNames) {
  ModelRequest request = bare_request();
  request.extras.format = {true, "answer", false};
  const auto has = [&](const ProviderSettings& settings, const std::string& form) {
    const std::string body = whole_body(build_request(settings, "", request));
    EXPECT_NE(body.find(form), std::string::npos) << body;
  };
  has(openai, R"("response_format":{"type":"json_object"})");
  has(gemini, R"("responseMimeType":"application/json")");
  request.response_schema = share(R"({"type":"object"})");
  has(openai, R"({"name":"answer","strict":false,"schema":{"type":"object"}})");
  has(anthropic, R"("output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}})");
  has(gemini, R"("responseJsonSchema":{"type":"object"})");
  request.extras.format.is_strict = true;
  has(openai, R"({"name":"answer","strict":true,"schema":{"type":"object"}})");
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
  for (const ProviderSettings& settings : {openai, openai_responses, anthropic, gemini}) {
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
  for (const ProviderSettings& settings : {openai, openai_responses, anthropic, gemini}) {
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
  for (const ProviderSettings& settings : {openai, openai_responses, anthropic, gemini}) {
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
