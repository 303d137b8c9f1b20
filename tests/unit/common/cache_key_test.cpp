#include "common/model/cache_key.hpp"

#include <functional>
#include <map>

#include <gtest/gtest.h>

namespace sluice {
namespace {

struct Input {
  ProviderSettings provider;
  ModelRequest request;
  std::uint32_t repeat = 0;
};

Input sample() {
  Input input;
  input.provider.name = "local";
  input.provider.kind = ProviderKind::openai;
  input.provider.base_url = "http://127.0.0.1:8080/v1";
  input.provider.cache_identity = "local-model";
  input.provider.api_key_env = "LOCAL_KEY";
  input.request.provider = "local";
  input.request.model = "m-1";
  input.request.system = share("You read code.");
  input.request.user = "Look at `f(x)`.";
  input.request.response_schema = share(R"({"type":"object"})");
  input.request.temperature = 0.1;
  input.request.max_tokens = 4096;
  input.request.seed = 7;
  input.repeat = 2;
  return input;
}

Digest key_of(const Input& input) {
  return cache_key(input.provider, input.request, input.repeat);
}

// Golden: these keys lie in people's caches and cassettes. A change of the code that changes one of them
// makes every stored answer unreachable, or worse, hands out the answer of another request. If that is meant,
// take a new cache_key_version and then compute these anew; never the one without the other.
TEST(CacheKey, IsTheOneThatCachesHold) {
  ASSERT_EQ(cache_key_version, 1u);
  EXPECT_EQ(to_hex(key_of(sample())), "d2a8ca3f2e0f23d72ad7a843cb12d6ce3c6fde495d55214d609dcb35f4acc645");
  Input bare;
  bare.provider.kind = ProviderKind::gemini;
  bare.provider.cache_identity = "https://generativelanguage.googleapis.com";
  bare.request.model = "gemini-2.0-flash";
  bare.request.user = "x";
  bare.request.temperature = 0.0;
  EXPECT_EQ(to_hex(key_of(bare)), "da41f581c90a5d81f2de02400ae4e6a8ead67054001134af904035c72b2ab29a");
  bare.request.temperature.reset();
  EXPECT_EQ(to_hex(key_of(bare)), "7dfb81518612b88638b2cf319660cc15a4a5f6d33183d2ba69994e35212719b3");
}

Input sample_with_extras() {
  Input input = sample();
  RequestExtras& extras = input.request.extras;
  extras.params = {{"stop", R"(["END"])"}, {"top_p", "0.9"}};
  extras.messages = {
      {MessageRole::user, {{PartKind::text, "First."}, {PartKind::image_url, "https://a/b.png"}}},
      {MessageRole::assistant, {}, {{"call_1", "look_up", R"({"id":17})"}}},
      {MessageRole::tool, {{PartKind::text, "paid"}}, {}, "call_1", "look_up"},
      {MessageRole::user, {{PartKind::asked}}}};
  extras.tools = {{"look_up", "Finds orders.", R"({"type":"object"})"}};
  extras.tool_choice = "auto";
  extras.format = {true, "answer", true};
  return input;
}

TEST(CacheKey, OfARequestWithExtrasIsTheOneThatCachesHold) {
  ASSERT_EQ(extras_version, 1u);
  EXPECT_EQ(to_hex(key_of(sample_with_extras())),
            "2d418c6fa1f3a5c2a6fede5580cefb79fcf24fa860021f2e9e77ca30d9998c48");
}

TEST(CacheKey, EveryExtraChangesIt) {
  using Change = std::function<void(RequestExtras&)>;
  const std::map<std::string, Change> changes{
      {"none", [](RequestExtras&) {}},
      {"all", [](RequestExtras& e) { e = {}; }},
      {"parameter", [](RequestExtras& e) { e.params[1].json = "0.8"; }},
      {"parameter's name", [](RequestExtras& e) { e.params[1].name = "top_k"; }},
      {"no parameter", [](RequestExtras& e) { e.params.pop_back(); }},
      {"role", [](RequestExtras& e) { e.messages[0].role = MessageRole::assistant; }},
      {"text", [](RequestExtras& e) { e.messages[0].parts[0].text = "First!"; }},
      {"text for image", [](RequestExtras& e) { e.messages[0].parts[1].kind = PartKind::text; }},
      {"image", [](RequestExtras& e) { e.messages[0].parts[1].text += "?"; }},
      {"image's bytes", [](RequestExtras& e) { e.messages[0].parts[1].kind = PartKind::image_data; }},
      {"media type", [](RequestExtras& e) { e.messages[0].parts[1].media_type = "image/png"; }},
      {"parts in one message", [](RequestExtras& e) { e.messages[0].parts.push_back({PartKind::asked}); }},
      {"another place for what is asked",
       [](RequestExtras& e) { std::swap(e.messages[0].parts, e.messages[3].parts); }},
      {"call", [](RequestExtras& e) { e.messages[1].calls[0].arguments = R"({"id":18})"; }},
      {"call's name", [](RequestExtras& e) { e.messages[1].calls[0].name = "look"; }},
      {"call's id", [](RequestExtras& e) { e.messages[1].calls[0].id = "call_2"; }},
      {"answered call", [](RequestExtras& e) { e.messages[2].call_id = "call_2"; }},
      {"answered tool", [](RequestExtras& e) { e.messages[2].call_name = "look"; }},
      {"order", [](RequestExtras& e) { std::swap(e.messages[0], e.messages[1]); }},
      {"tool", [](RequestExtras& e) { e.tools[0].name = "look"; }},
      {"description", [](RequestExtras& e) { e.tools[0].description.clear(); }},
      {"tool's parameters", [](RequestExtras& e) { e.tools[0].parameters = "{}"; }},
      {"no tool", [](RequestExtras& e) { e.tools.clear(); }},
      {"choice", [](RequestExtras& e) { e.tool_choice = "none"; }},
      {"format", [](RequestExtras& e) { e.format.is_json = false; }},
      {"schema's name", [](RequestExtras& e) { e.format.name = "order"; }},
      {"not strict", [](RequestExtras& e) { e.format.is_strict = false; }},
      {"bytes from one parameter to the next",
       [](RequestExtras& e) {
         e.params = {{"stop", R"(["END"])"
                              "top_p"},
                     {"", "0.9"}};
       }},
  };
  std::map<Digest, std::string> seen;
  for (const auto& [name, change] : changes) {
    auto input = sample_with_extras();
    change(input.request.extras);
    const auto [entry, is_new] = seen.emplace(key_of(input), name);
    EXPECT_TRUE(is_new) << name << " has the key of " << entry->second;
    EXPECT_EQ(CacheKeyMaker(input.provider, input.request).key(input.request.user, input.repeat),
              key_of(input));
  }
  EXPECT_TRUE(seen.contains(key_of(sample()))) << "without extras it is the key that it always was";
}

TEST(CacheKey, IsTheSameFromTheMaker) {
  const auto input = sample();
  auto common = input.request;
  common.user = "another message";
  CacheKeyMaker maker(input.provider, common);
  for (int twice = 0; twice < 2; ++twice) {
    EXPECT_EQ(maker.key(input.request.user, input.repeat), key_of(input));
    auto other = input;
    other.request.user.clear();
    other.repeat = 0;
    EXPECT_EQ(maker.key("", 0), key_of(other));
  }
}

TEST(CacheKey, EveryFieldChangesIt) {
  using Change = std::function<void(Input&)>;
  const std::map<std::string, Change> changes{
      {"none", [](Input&) {}},
      {"kind", [](Input& i) { i.provider.kind = ProviderKind::anthropic; }},
      {"cache identity", [](Input& i) { i.provider.cache_identity += "x"; }},
      {"model", [](Input& i) { i.request.model = "m-2"; }},
      {"system", [](Input& i) { i.request.system = share("You read code!"); }},
      {"empty system", [](Input& i) { i.request.system = share(""); }},
      {"no system", [](Input& i) { i.request.system = nullptr; }},
      {"user", [](Input& i) { i.request.user += " "; }},
      {"schema", [](Input& i) { i.request.response_schema = share("{}"); }},
      {"empty schema", [](Input& i) { i.request.response_schema = share(""); }},
      {"no schema", [](Input& i) { i.request.response_schema = nullptr; }},
      {"temperature", [](Input& i) { i.request.temperature = 0.2; }},
      {"temperature 0", [](Input& i) { i.request.temperature = 0.0; }},
      {"no temperature", [](Input& i) { i.request.temperature.reset(); }},
      {"max tokens", [](Input& i) { i.request.max_tokens = 4097; }},
      {"seed", [](Input& i) { i.request.seed = -7; }},
      {"seed 0", [](Input& i) { i.request.seed = 0; }},
      {"no seed", [](Input& i) { i.request.seed.reset(); }},
      {"repeat", [](Input& i) { i.repeat = 3; }},
  };
  std::map<Digest, std::string> seen;
  for (const auto& [name, change] : changes) {
    auto input = sample();
    change(input);
    const auto [entry, is_new] = seen.emplace(key_of(input), name);
    EXPECT_TRUE(is_new) << name << " has the key of " << entry->second;
  }
}

TEST(CacheKey, TheSchemasNameMakesNoDifferenceTheSchemaDoes) {
  auto named = sample();
  named.request.schema_name = "claims";
  EXPECT_EQ(key_of(named), key_of(sample()));
}

TEST(CacheKey, MovingBytesBetweenNeighboursChangesIt) {
  // `from` and `to` name the same bytes in order, cut at another place.
  using Cut = std::function<void(Input&, std::string, std::string)>;
  const std::map<std::string, Cut> neighbours{
      {"identity and model",
       [](Input& i, std::string a, std::string b) { i.provider.cache_identity = a, i.request.model = b; }},
      {"model and system",
       [](Input& i, std::string a, std::string b) { i.request.model = a, i.request.system = share(b); }},
      {"system and user",
       [](Input& i, std::string a, std::string b) { i.request.system = share(a), i.request.user = b; }},
      {"user and schema", [](Input& i, std::string a,
                             std::string b) { i.request.user = a, i.request.response_schema = share(b); }},
      {"max tokens and seed",
       [](Input& i, std::string a, std::string b) {
         i.request.max_tokens = static_cast<std::uint32_t>(std::stoul(a)), i.request.seed = std::stol(b);
       }},
      {"seed and repeat",
       [](Input& i, std::string a, std::string b) {
         i.request.seed = std::stol(a), i.repeat = static_cast<std::uint32_t>(std::stoul(b));
       }},
  };
  for (const auto& [name, cut] : neighbours) {
    auto one = sample();
    auto other = sample();
    cut(one, "12", "3");
    cut(other, "1", "23");
    EXPECT_NE(key_of(one), key_of(other)) << name;
  }
}

TEST(CacheKey, WhatDoesNotChangeTheAnswerDoesNotChangeIt) {
  auto input = sample();
  input.provider.name = "elsewhere";
  input.provider.base_url = "http://127.0.0.1:9090/v1";
  input.provider.api_key_env = "OTHER_KEY";
  input.request.provider = "elsewhere";
  EXPECT_EQ(key_of(input), key_of(sample())) << "the cache identity stands for the server";
}

TEST(CacheKey, OneMakerGivesTheKeysOfManyRequests) {
  const auto input = sample();
  CacheKeyMaker maker(input.provider, input.request);
  for (const auto* user : {"first", "", "a longer second one", "first"}) {
    for (const std::uint32_t repeat : {0u, 3u}) {
      auto one = sample();
      one.request.user = user;
      one.repeat = repeat;
      EXPECT_EQ(maker.key(user, repeat), key_of(one)) << user << ", " << repeat;
    }
  }
}

ProviderSettings embedder() {
  ProviderSettings provider;
  provider.cache_identity = "https://api.openai.com/v1";
  return provider;
}

TEST(EmbeddingKey, IsTheOneThatCachesHold) {
  ASSERT_EQ(embedding_key_version, 1u);
  EXPECT_EQ(to_hex(embedding_key(embedder(), "text-embedding-3-small", "Paris")),
            "0530566f088b2d71235a03ed5f787f8f4158e166e3e3fa598bc764c8ed83623d");
}

TEST(EmbeddingKey, EveryFieldChangesItAndNothingElseDoes) {
  const auto key = embedding_key(embedder(), "m", "text");
  auto other = embedder();
  other.name = "elsewhere";
  other.base_url = "http://127.0.0.1:9090/v1";
  EXPECT_EQ(embedding_key(other, "m", "text"), key);
  other.kind = ProviderKind::gemini;
  EXPECT_NE(embedding_key(other, "m", "text"), key);
  other = embedder();
  other.cache_identity += "x";
  EXPECT_NE(embedding_key(other, "m", "text"), key);
  EXPECT_NE(embedding_key(embedder(), "m2", "text"), key);
  EXPECT_NE(embedding_key(embedder(), "m", "text "), key);
  EXPECT_NE(embedding_key(embedder(), "mt", "ext"), key);
}

struct VoteInput {
  Input judge = sample();
  Rubric rubric{"faithfulness", "v1", "You judge.", "{{context}} {{answer}}"};
  std::uint32_t samples = 3;
  std::uint32_t index = 2;
};

Digest key_of(const VoteInput& vote) {
  return vote_key(vote.judge.provider, vote.judge.request, vote.rubric, vote.samples, vote.index);
}

TEST(VoteKey, IsTheOneThatCachesHold) {
  ASSERT_EQ(vote_key_version, 1u);
  EXPECT_EQ(to_hex(key_of(VoteInput{})), "50f97e1c9c011f0f21d49e79fc885a7c6bce06cf7267435328efb6c8cfc7cf8f");
  VoteInput bare;
  bare.judge = {};
  bare.judge.provider.kind = ProviderKind::gemini;
  bare.judge.provider.cache_identity = "https://generativelanguage.googleapis.com";
  bare.judge.request.model = "gemini-2.0-flash";
  bare.judge.request.user = "x";
  bare.judge.request.temperature = 0.0;
  bare.rubric = {};
  bare.samples = 1;
  bare.index = 0;
  EXPECT_EQ(to_hex(key_of(bare)), "6c62aae3d13a93c964142a990d8fda31d6100be64671dfa56ae1dc75d3d6c4ec");
}

TEST(VoteKey, EveryFieldChangesIt) {
  using Change = std::function<void(VoteInput&)>;
  const std::map<std::string, Change> changes{
      {"none", [](VoteInput&) {}},
      {"kind", [](VoteInput& v) { v.judge.provider.kind = ProviderKind::anthropic; }},
      {"cache identity", [](VoteInput& v) { v.judge.provider.cache_identity += "x"; }},
      {"model", [](VoteInput& v) { v.judge.request.model = "m-2"; }},
      {"system", [](VoteInput& v) { v.judge.request.system = share("You judge code."); }},
      {"user", [](VoteInput& v) { v.judge.request.user += " "; }},
      {"schema", [](VoteInput& v) { v.judge.request.response_schema = share("{}"); }},
      {"temperature", [](VoteInput& v) { v.judge.request.temperature = 0.0; }},
      {"max tokens", [](VoteInput& v) { v.judge.request.max_tokens = 1024; }},
      {"seed", [](VoteInput& v) { v.judge.request.seed = 8; }},
      {"rubric id", [](VoteInput& v) { v.rubric.id = "relevancy"; }},
      {"rubric version", [](VoteInput& v) { v.rubric.version = "v2"; }},
      {"rubric system", [](VoteInput& v) { v.rubric.system += "!"; }},
      {"rubric user", [](VoteInput& v) { v.rubric.user += "!"; }},
      {"samples", [](VoteInput& v) { v.samples = 5; }},
      {"index", [](VoteInput& v) { v.index = 1; }},
      {"samples and index, cut elsewhere", [](VoteInput& v) { v.samples = 32, v.index = 0; }},
  };
  std::map<Digest, std::string> seen{{key_of(sample()), "the answer's key"}};
  for (const auto& [name, change] : changes) {
    VoteInput input;
    change(input);
    const auto [entry, is_new] = seen.emplace(key_of(input), name);
    EXPECT_TRUE(is_new) << name << " has the key of " << entry->second;
  }
}

TEST(RecordedAnswerKey, ACallIsAnotherAnswerThanItsText) {
  const RecordedAnswer text{"call", "m", {12, 3}};
  RecordedAnswer call = text;
  call.calls = {{"", "f", "{}"}};
  RecordedAnswer other = call;
  other.calls[0].arguments = R"({"a":1})";
  EXPECT_EQ(to_hex(recorded_answer_key("t", text)),
            "5e5fc301c11ec29cc2bea8da9dbfe6eafc9bdd13b64b74d4d8fd951222a3eff7")
      << "as ledgers have it from before there were calls";
  EXPECT_NE(recorded_answer_key("t", text), recorded_answer_key("t", call));
  EXPECT_NE(recorded_answer_key("t", other), recorded_answer_key("t", call));
}

TEST(VoteKey, WhatDoesNotChangeTheVoteDoesNotChangeIt) {
  VoteInput input;
  input.judge.provider.name = "elsewhere";
  input.judge.provider.base_url = "http://127.0.0.1:9090/v1";
  input.judge.provider.api_key_env = "OTHER_KEY";
  input.judge.request.provider = "elsewhere";
  input.judge.request.schema_name = "vote";
  input.judge.repeat = 9;
  EXPECT_EQ(key_of(input), key_of(VoteInput{})) << "votes of equal requests are the same vote";
}

}  // namespace
}  // namespace sluice
