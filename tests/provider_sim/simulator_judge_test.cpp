// Requests for votes, in all formats.

#include "tests/provider_sim/simulator_fixture.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

#include <array>
#include <fstream>
#include <string>
#include <vector>

namespace sluice::sim {
namespace {

constexpr std::array all_formats{Provider::openai, Provider::openai_responses, Provider::anthropic,
                                 Provider::gemini};
const std::string marked_message = "Where?\n<answer>\n[quality 0.8] In Paris.\n</answer>\nScore it.";

class SimulatorJudgeTest : public SimulatorTest {
 protected:
  static Json schema(const std::string& name) {
    return Json::parse(support::read_text(support::source_path("config/schemas/" + name + ".schema.json")));
  }

  /// A request with a response schema, as the product sends it in each format.
  Answer ask(Provider provider, const std::string& message, const Json& with_schema,
             std::uint64_t max_tokens = 4096) {
    Json body{{"model", "m"}, {"messages", {{{"role", "user"}, {"content", message}}}}};
    switch (provider) {
      case Provider::openai:
        body["max_completion_tokens"] = max_tokens;
        body["response_format"] = {
            {"type", "json_schema"},
            {"json_schema", {{"name", "any"}, {"strict", true}, {"schema", with_schema}}}};
        return post("/v1/chat/completions", body.dump());
      case Provider::anthropic:
        body["max_tokens"] = max_tokens;
        body["output_config"] = {{"format", {{"type", "json_schema"}, {"schema", with_schema}}}};
        return post("/v1/messages", body.dump(), {{"anthropic-version", "2023-06-01"}});
      case Provider::openai_responses:
        return post(
            "/v1/responses",
            Json{{"model", "m"},
                 {"input", body["messages"]},
                 {"max_output_tokens", max_tokens},
                 {"text", {{"format", {{"type", "json_schema"}, {"name", "any"}, {"schema", with_schema}}}}}}
                .dump());
      case Provider::gemini:
        break;
    }
    const Json contents{{"contents", {{{"role", "user"}, {"parts", {{{"text", message}}}}}}},
                        {"generationConfig",
                         {{"maxOutputTokens", max_tokens},
                          {"responseMimeType", "application/json"},
                          {"responseJsonSchema", with_schema}}}};
    return post("/v1beta/models/m:generateContent", contents.dump());
  }
  Answer vote(Provider provider, const std::string& message = marked_message) {
    return ask(provider, message, vote_schema_);
  }

  static std::string text_in(Provider provider, const Answer& answer) {
    const Json::json_pointer place(provider == Provider::openai             ? "/choices/0/message/content"
                                   : provider == Provider::openai_responses ? "/output/1/content/0/text"
                                   : provider == Provider::anthropic        ? "/content/0/text"
                                                                     : "/candidates/0/content/parts/0/text");
    return answer.json.value(place, std::string("(none)"));
  }
  static double score_in(Provider provider, const Answer& answer) {
    const Json vote = Json::parse(text_in(provider, answer), nullptr, false);
    return vote.is_object() ? vote.value("score", -1.0) : -1.0;
  }
  Json stats() {
    HttpRequest request;
    request.method = "GET";
    request.target = "/stats";
    Reply reply;
    simulator_->respond(request, 1, false, now_us_, reply);
    return Json::parse(reply.bytes.substr(reply.bytes.find("\r\n\r\n") + 4));
  }

  const Json vote_schema_ = schema("vote");
};

TEST_F(SimulatorJudgeTest, GivesAVoteInEachFormat) {
  for (const Provider provider : all_formats) {
    const Answer answer = vote(provider);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(text_in(provider, answer), R"({"rationale":"Quality 0.8, taken for 0.8.","score":0.8})")
        << to_string(provider);
    EXPECT_EQ(answer.reply.record.tokens,
              tokens_of(marked_message.size()) + tokens_of(text_in(provider, answer).size()));
  }
}

TEST_F(SimulatorJudgeTest, ComparesInEachFormat) {
  const std::string pair = "----- A -----\n[quality 0.5] a\n----- B -----\n[quality 0.75] b";
  for (const Provider provider : all_formats) {
    EXPECT_EQ(text_in(provider, ask(provider, pair, schema("comparison"))),
              R"({"notes":"First: quality 0.5, taken for 0.5. Second: quality 0.75, taken for 0.75.",)"
              R"("quality_score":0.625})")
        << to_string(provider);
    EXPECT_EQ(score_in(provider, vote(provider, pair)), 0.375) << "the same message as a vote";
  }
  EXPECT_EQ(stats()["votes"], 2 * all_formats.size());
}

TEST_F(SimulatorJudgeTest, KnowsAVoteByItsPropertiesAlone) {
  const Json claims = schema("claims");
  const Json bare = {{"properties", {{"score", true}, {"rationale", {{"type", "string"}}}}}};
  const Json half = {{"title", "vote"}, {"properties", {{"score", {{"type", "number"}}}}}};
  const Json deep = {{"properties", {{"vote", vote_schema_}}}};
  for (const Provider provider : all_formats) {
    EXPECT_EQ(score_in(provider, ask(provider, marked_message, bare)), 0.8) << to_string(provider);
    for (const Json& other : {claims, half, deep, Json(true), Json::object(), Json(nullptr)}) {
      EXPECT_EQ(text_in(provider, ask(provider, marked_message, other)), R"({"claims":[]})")
          << to_string(provider) << ' ' << other;
    }
  }
  EXPECT_EQ(text_of(openai(marked_message)), R"({"claims":[]})");
  EXPECT_EQ(stats()["votes"], all_formats.size());
}

TEST_F(SimulatorJudgeTest, RefusesInEachFormat) {
  SimSettings settings;
  settings.judge.refusal = 1;
  configure(settings);
  const auto openai_answer = vote(Provider::openai);
  EXPECT_TRUE(openai_answer.json["choices"][0]["message"]["content"].is_null());
  EXPECT_TRUE(openai_answer.json["choices"][0]["message"]["refusal"].is_string());
  EXPECT_EQ(vote(Provider::anthropic).json["stop_reason"], "refusal");
  EXPECT_EQ(vote(Provider::gemini).json["promptFeedback"]["blockReason"], "SAFETY");
  EXPECT_EQ(openai_answer.reply.record.fault, Fault::refusal);
  EXPECT_EQ(text_of(openai(marked_message)), R"({"claims":[]})") << "what is no vote is answered";
}

TEST_F(SimulatorJudgeTest, AnswersWithWhatIsNoVoteInEachFormat) {
  SimSettings settings;
  settings.judge.unreadable = 1;
  configure(settings);
  for (const Provider provider : all_formats) {
    const Answer answer = vote(provider);
    EXPECT_EQ(answer.status, 200);
    const double score = score_in(provider, answer);
    EXPECT_TRUE(score < 0 || score > 1) << text_in(provider, answer);
    EXPECT_NE(text_in(provider, answer), "(none)");
  }
}

TEST_F(SimulatorJudgeTest, GivesTheSameVotesWhateverIsKeptBack) {
  SimSettings settings;
  settings.judge.noise = 0.5;
  settings.judge.unreadable = 0.2;
  const auto votes = [&](std::size_t count) {
    configure(settings);
    std::vector<std::string> texts;
    int turned_away = 0;
    while (texts.size() < count) {
      const Answer answer = vote(Provider::openai);
      now_us_ += 50'000;
      if (answer.status == 200 && answer.json.is_object()) {
        texts.push_back(text_in(Provider::openai, answer));
      } else if (++turned_away > 1000) {
        break;
      }
    }
    EXPECT_EQ(turned_away > 0, settings.faults.total() > 0);
    return texts;
  };
  const auto undisturbed = votes(30);
  settings.faults.errors = {{0.2, 500}};
  settings.faults.malformed = 0.2;
  settings.faults.drop = 0.1;
  settings.fail_first = {3, 429, 1.0};
  settings.limits.requests_per_second = 10;
  settings.limits.burst = 1;
  EXPECT_EQ(votes(30), undisturbed);
  post("/reset", "");
  settings.faults.seed = settings.judge.seed = 2;
  EXPECT_NE(votes(30), undisturbed);
}

TEST_F(SimulatorJudgeTest, StartsVotesAnewAfterAReset) {
  SimSettings settings;
  settings.judge.noise = 0.5;
  configure(settings);
  std::vector<std::vector<double>> rounds;
  for (int round = 0; round < 2; ++round) {
    auto& scores = rounds.emplace_back();
    for (int i = 0; i < 20; ++i) scores.push_back(score_in(Provider::gemini, vote(Provider::gemini)));
    post("/reset", "");
  }
  EXPECT_EQ(rounds[0], rounds[1]);
}

TEST_F(SimulatorJudgeTest, LimitsDelaysAndCutsVotesLikeAnyAnswer) {
  SimSettings settings;
  settings.limits.requests_per_second = 1;
  settings.latency.median_ms = 100;
  configure(settings);
  const Answer first = vote(Provider::anthropic);
  EXPECT_EQ(first.reply.due_us, now_us_ + 100'000);
  EXPECT_EQ(vote(Provider::anthropic).status, 429);
  now_us_ += 1'000'000;
  const Answer cut = ask(Provider::anthropic, marked_message, vote_schema_, 5);
  EXPECT_EQ(cut.json["stop_reason"], "max_tokens");
  EXPECT_EQ(text_in(Provider::anthropic, cut), R"({"rationale":"Qualit)");
  settings = {};
  settings.faults.length = 1;
  configure(settings);
  EXPECT_EQ(score_in(Provider::openai, vote(Provider::openai)), -1);
  settings = {};
  settings.big_body = 10'000;
  configure(settings);
  EXPECT_EQ(score_in(Provider::openai, vote(Provider::openai)), 0.8);
}

TEST_F(SimulatorJudgeTest, KeepsScriptRulesToVotesOrToOthers) {
  SimSettings settings;
  settings.script = *parse_script(
      R"({"contains":"Where","vote":false,"text":"[quality 0.25] Here."}
         {"contains":"Where","vote":true,"text":{"rationale":"No.","score":0},"times":1}
         {"contains":"down","status":503})",
      "test");
  configure(settings);
  EXPECT_EQ(text_of(openai(marked_message)), "[quality 0.25] Here.");
  EXPECT_EQ(score_in(Provider::openai, vote(Provider::openai)), 0);
  EXPECT_EQ(score_in(Provider::openai, vote(Provider::openai)), 0.8);
  EXPECT_EQ(text_of(openai(marked_message)), "[quality 0.25] Here.");
  EXPECT_EQ(vote(Provider::openai, "down").status, 503);
  EXPECT_EQ(openai("down").status, 503);
  EXPECT_FALSE(parse_script(R"({"vote":"yes"})", "s"));
}

TEST_F(SimulatorJudgeTest, CountsAndLogsVotesApart) {
  support::TemporaryFolder folder;
  const std::string path = (folder.path() / "log.jsonl").string();
  ASSERT_TRUE(log_.open(path));
  SimSettings settings;
  settings.faults.errors = {{1.0, 500}};
  settings.faults.max_per_content = 1;
  configure(settings);
  openai("x");
  vote(Provider::gemini);
  vote(Provider::openai);
  post("/v1/chat/completions", "bad");
  EXPECT_EQ(stats()["requests"], 4);
  EXPECT_EQ(stats()["votes"], 2) << "that were asked for, whatever came of them";
  ASSERT_TRUE(log_.flush());
  std::ifstream file(path);
  std::vector<bool> logged;
  for (std::string line; std::getline(file, line);) {
    const Json event = Json::parse(line, nullptr, false);
    ASSERT_TRUE(event.is_object()) << line;
    logged.push_back(event.value("vote", false));
  }
  EXPECT_EQ(logged, (std::vector<bool>{false, false, true, true, true, true, false, false}));
  post("/reset", "");
  EXPECT_EQ(stats()["votes"], 0);
}

}  // namespace
}  // namespace sluice::sim
