// Providers of kinds http and exec: a server of an unknown format, and a program (docs/providers.md).
#include "tests/support/wait.hpp"
#include "tests/support/workbench.hpp"

#include <csignal>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice::own_providers_test {

using namespace support;
using nlohmann::json;

class OwnProviders : public Workbench {
 protected:
  void SetUp() override {
    write_text(
        folder() / "suite.yaml",
        "suite: s\ntests:\n- {id: t, input: {prompt: 'Say \"hi\"', system: Be kind.}, expected: {type: "
        "contains, text: hi}}\n");
  }
  void write_settings(const std::string& table) {
    write_text(folder() / "sluice.toml", "[providers.own]\n" + table);
  }
  Finished run(const Flags& flags = {}) {
    return run_sluice(Flags{"run", "suite.yaml", "--provider", "own", "--model", "m", "--format", "json"} +
                      flags);
  }
  void write_bot(const std::string& script) {
    write_text(folder() / "bot.sh", "#!/bin/sh\n" + script);
    std::filesystem::permissions(folder() / "bot.sh", std::filesystem::perms::owner_all);
  }
};

const std::string of_program = "kind = \"exec\"\ncommand = [\"./bot.sh\"]\n";

std::string of_server(const std::string& url, const std::string& body) {
  // The simulator speaks chat completions: the table says where they have what is wanted.
  return "kind = \"http\"\nbase_url = \"" + url + "/v1/chat/completions\"\nbody = " + body +
         "\nanswer = { text = \"/choices/0/message/content\", finish_reason = \"/choices/0/finish_reason\", "
         "input_tokens = \"/usage/prompt_tokens\", output_tokens = \"/usage/completion_tokens\" }\n";
}

TEST_F(OwnProviders, AServerGetsTheBodyThatTheSettingsSay) {
  const auto server =
      start_simulator({R"({"text": "hi there"})"}, {"--requests", (folder() / "requests.jsonl").string()});
  write_settings(of_server(server.url(),
                           "{ model = \"{{model}}\", messages = \"{{messages}}\", extra = { about = "
                           "\"asked: {{prompt}}\" }, seed = \"{{seed}}\" }"));
  const auto live = run({"--mode", "live"});
  EXPECT_EQ(live.exit_code, 0) << live.errors << live.output;
  std::istringstream lines(read_text(folder() / "requests.jsonl"));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const json sent = json::parse(line);
  EXPECT_EQ(sent["body"]["extra"]["about"], "asked: Say \"hi\"");
  EXPECT_EQ(sent["body"]["messages"][0]["content"], "Be kind.");
  EXPECT_FALSE(sent["body"].contains("seed"));
  EXPECT_EQ(run({"--mode", "cached"}).exit_code, 0) << "by the same key";
  EXPECT_EQ(server.count("start"), 1u);
  write_settings(of_server(server.url(), "{ model = \"{{model}}\", messages = \"{{messages}}\" }"));
  EXPECT_EQ(run({"--mode", "cached"}).exit_code, 2) << "another body is another question";
}

TEST_F(OwnProviders, AWorkerSendsNoBodyThatItsOwnSettingsDoNotSay) {
  const auto server = start_simulator({R"({"text": "hi there"})"}, {});
  write_settings(of_server(server.url(), "{ model = \"m\", messages = \"{{messages}}\" }"));
  auto coordinator = start_sluice({"run", "suite.yaml", "--provider", "own", "--model", "m", "--mode", "live",
                                   "--listen", "tcp://127.0.0.1:0", "--worker-timeout", "5"});
  const auto endpoint = endpoint_of(coordinator);
  write_text(folder() / "other.toml", "[eval]\nprovider = \"openai\"\n");
  const auto worker = run_worker(endpoint, {"--config", "other.toml"});
  const auto finished = finish(coordinator);
  EXPECT_NE((worker.errors + finished.errors).find("this worker's own settings have no such provider"),
            std::string::npos)
      << worker.errors << finished.errors;
  EXPECT_EQ(finished.exit_code, 2) << finished.errors;
  EXPECT_EQ(server.count("start"), 0u);
}

TEST_F(OwnProviders, AProgramAnswersWithItsUsage) {
  write_bot(
      "cat > request.json; echo '{\"text\": \"hi there\", \"usage\": {\"input_tokens\": 7, "
      "\"output_tokens\": 2}}'\n");
  write_settings(of_program);
  const auto live = run({"--mode", "live"});
  EXPECT_EQ(live.exit_code, 0) << live.errors << live.output;
  const json request = json::parse(read_text(folder() / "request.json"));
  EXPECT_EQ(request["model"], "m");
  EXPECT_EQ(request["messages"][1]["content"], "Say \"hi\"");
  EXPECT_EQ(run({"--mode", "cached"}).exit_code, 0);
  write_bot("cat > /dev/null; echo '{\"text\": \"no\"}'\n");
  EXPECT_EQ(run({"--mode", "cached"}).exit_code, 2) << "another program is another model";
  const auto live_again = run({"--mode", "live"});
  EXPECT_EQ(live_again.exit_code, 1) << live_again.errors;
  EXPECT_EQ(live_again.errors.find("$0"), std::string::npos) << "it did not say what it took\n"
                                                             << live_again.errors;
  const std::string shown = run_sluice({"show", "last", "t"}).output;
  EXPECT_NE(shown.find(", tokens unknown\n"), std::string::npos) << shown;
}

TEST_F(OwnProviders, AProgramThatFailsIsTriedAgain) {
  write_bot(
      "cat > /dev/null\nif [ -e tried ]; then echo '{\"text\": \"hi\"}'; else touch tried; echo oops >&2; "
      "exit "
      "3; fi\n");
  write_settings(of_program);
  const auto finished = run({"--mode", "live"});
  EXPECT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
  write_text(folder() / "sluice.toml",
             "[eval]\nrate_limit_max_retries = 1\nrate_limit_initial_delay_ms = 1\n[providers.own]\nkind = "
             "\"exec\"\ncommand = [\"./no-such-bot\"]\n");
  const auto gone = run({"--mode", "live"});
  EXPECT_EQ(gone.exit_code, 2) << gone.output;
  EXPECT_NE(gone.errors.find("check \"command\" in [providers.own]"), std::string::npos) << gone.errors;
}

TEST_F(OwnProviders, AProgramThatChangesEndsItsRun) {
  std::string suite = "suite: s\ntests:\n";
  for (const char* id : {"a", "b", "c", "d", "e", "f"})
    suite += std::string("- {id: ") + id + ", input: {prompt: Say " + id +
             "}, expected: {type: contains, text: hi}}\n";
  write_text(folder() / "suite.yaml", suite);
  write_bot(
      "cat > /dev/null; echo x >> calls.txt\nif [ $(wc -l < calls.txt) -eq 2 ]; then echo '# edited' >> "
      "bot.sh; fi\necho '{\"text\": \"hi\"}'\n");
  write_settings(of_program);
  const auto finished =
      run({"--mode", "live", "--max-concurrent", "1", "--report", "json=" + (folder() / "r.json").string()});
  EXPECT_EQ(finished.exit_code, 2) << finished.errors;
  EXPECT_NE(finished.errors.find("exec:own names changed during the run"), std::string::npos)
      << finished.errors;
  EXPECT_EQ(json::parse(read_text(folder() / "r.json"))["reason_code"], "provider_changed");
  EXPECT_EQ(read_text(folder() / "calls.txt"), "x\nx\n") << "none after it";
}

TEST_F(OwnProviders, AProgramSeesItsOwnKeyAlone) {
  write_bot("cat > /dev/null; echo \"{\\\"text\\\": \\\"hi, $BOT_API_KEY and $OPENAI_API_KEY\\\"}\"\n");
  write_settings(of_program + "api_key_env = \"BOT_API_KEY\"\n");
  set_variable("BOT_API_KEY", "bot-secret-0123456789abcdef");
  set_variable("OPENAI_API_KEY", "sk-secret-0123456789abcdef");
  const auto finished = run({"--mode", "live"});
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_NE(finished.output.find("hi, [key] and \""), std::string::npos) << finished.output;
}

TEST_F(OwnProviders, AProgramsComplaintHasNoKey) {
  write_bot("cat > /dev/null; echo \"the key $BOT_API_KEY is wrong\" >&2; exit 1\n");
  write_text(folder() / "sluice.toml", "[eval]\nrate_limit_max_retries = 0\n[providers.own]\n" + of_program +
                                           "api_key_env = \"BOT_API_KEY\"\n");
  set_variable("BOT_API_KEY", "bot-secret-0123456789abcdef");
  const auto finished = run({"--mode", "live"});
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_NE(finished.output.find("the key [key] is wrong"), std::string::npos) << finished.output;
  EXPECT_EQ((finished.output + finished.errors).find("bot-secret"), std::string::npos);
}

TEST_F(OwnProviders, AProgramIsKilledWithItsRun) {
  write_bot("echo begun > begun.txt; sleep 600\n");
  write_settings(of_program);
  auto process = start_sluice(
      {"run", "suite.yaml", "--provider", "own", "--model", "m", "--mode", "live", "--drain-timeout", "0"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder() / "begun.txt"); }));
  process.signal(SIGINT);
  const auto finished = finish(process);
  EXPECT_EQ(finished.exit_code, 2) << finished.errors;
}

}  // namespace sluice::own_providers_test
