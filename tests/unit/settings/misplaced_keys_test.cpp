#include "common/settings/load_settings.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::misplaced_keys_test {

std::string findings(const std::string& file, ValidKeys valid_keys = ValidKeys::pointed_to) {
  SettingSources sources;
  sources.valid_keys = valid_keys;
  sources.file_name = "sluice.toml";
  sources.file_text = file;
  const auto settings = merge_settings(sources);
  return settings ? "" : join_findings(settings.error());
}

TEST(MisplacedKeys, AreReportedWithWhereTheyBelong) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"max_concurrent = 3\n", "sluice.toml:1: unknown key \"max_concurrent\"; it belongs in [eval]"},
      {"retention_days = 3\n", "sluice.toml:1: unknown key \"retention_days\"; it belongs in [eval]"},
      {"max_in_flight = 3\n", "sluice.toml:1: unknown key \"max_in_flight\"; it belongs in [providers.NAME]"},
      {"judge_samples = 3\n",
       "sluice.toml:1: unknown key \"judge_samples\"; it belongs in [judge] as \"samples\""},
      {"[judge]\nseed = 3\n", "sluice.toml:2: unknown key \"seed\" in [judge]; it belongs in [eval]"},
      {"[eval]\nbase_url = \"http://h/v1\"\n",
       "sluice.toml:2: unknown key \"base_url\" in [eval]; it belongs in [providers.NAME]"},
      {"[eval]\nhome = \"x\"\n",
       "sluice.toml:2: unknown key \"home\" in [eval]; it is set by --home or SLUICE_HOME"},
      {"[eval]\nOPENAI_API_KEY = \"sk-secret\"\n",
       "sluice.toml:2: unknown key \"OPENAI_API_KEY\" in [eval]; keys stay in the environment, and "
       "\"api_key_env\" in [providers.NAME] names the variable"},
      {"api_key = \"sk-secret\"\n",
       "sluice.toml:1: unknown key \"api_key\"; keys stay in the environment, and \"api_key_env\" in "
       "[providers.NAME] names the variable"},
      {"[providers.openai]\ntemperature = 1\n",
       "sluice.toml:2: unknown key \"temperature\" in [providers.openai]; it belongs in [eval]"}};
  for (const auto& [file, message] : cases) EXPECT_EQ(findings(file), message) << file;
}

TEST(MisplacedKeys, ThatBelongNowhereAreReportedWithWhatThereIs) {
  EXPECT_EQ(findings("[openai]\nx = 1\n"),
            "sluice.toml:1: unknown table \"openai\"; valid here: eval, judge, redaction, ledger, providers");
  EXPECT_EQ(
      findings("[providers.openai]\nrpm = 3\n"),
      "sluice.toml:2: unknown key \"rpm\" in [providers.openai]; valid here: kind, base_url, api_key_env, "
      "cache_identity, model, max_tokens_field, headers, query, params, key_hosts, requests_per_minute, "
      "tokens_per_minute, "
      "input_tokens_per_minute, output_tokens_per_minute, max_in_flight, burst_seconds");
  EXPECT_EQ(
      findings("[eval]\nparallelism = 3\n"),
      "sluice.toml:2: unknown key \"parallelism\" in [eval]; `sluice config` lists those that are valid");
}

TEST(ProviderNames, AreThoseThatFlagsAndArmsCanName) {
  EXPECT_EQ(findings("[providers.\"my-1_v2.b\"]\nkind = \"openai\"\n"), "");
  const std::string no_name = "must have a name of letters, digits, '-', '_' and '.', at most 128 of them";
  for (const std::string name : {"", "a b", "a:b", "\\u001b[31m", "\u202e"}) {
    const std::string said = findings("[providers.\"" + name + "\"]\nkind = \"openai\"\n");
    EXPECT_TRUE(said.ends_with(no_name)) << name << ": " << said;
  }
  for (const std::string name : {"none", "fake"}) {
    EXPECT_EQ(findings("[providers." + name + "]\nkind = \"openai\"\n"),
              "sluice.toml:1: [providers." + name +
                  "] has a name that means no provider where a judge is named: take another");
  }
}

TEST(MisplacedKeys, AreAnsweredWithTheListWhereItIsSluiceConfigThatAsks) {
  const std::string message = findings("[eval]\nparallelism = 3\n", ValidKeys::listed);
  EXPECT_TRUE(
      message.starts_with("sluice.toml:2: unknown key \"parallelism\" in [eval]; valid here: fixtures_dir, "
                          "mode, provider, model, "
                          "temperature, "))
      << message;
  EXPECT_TRUE(message.ends_with(", ontology_file, prices_file"))
      << "no home, which no file sets: " << message;
}

}  // namespace sluice::misplaced_keys_test
