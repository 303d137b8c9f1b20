#include "common/settings/request_body.hpp"

#include "common/defaults.hpp"
#include "common/settings/load_settings.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace sluice::request_body_test {

tl::expected<Settings, std::vector<Finding>> load(const std::string& table) {
  SettingSources sources;
  sources.file_text = "[eval]\nprovider = \"own\"\nmodel = \"m\"\n[providers.own]\n" + table;
  sources.file_name = "sluice.toml";
  return merge_settings(sources);
}

std::string finding(const std::string& table) {
  const auto settings = load(table);
  return settings ? "" : join_findings(settings.error());
}

const std::string http = "kind = \"http\"\nbase_url = \"https://bots.example/ask\"\n";
const std::string body = "body = { q = \"{{prompt}}\", n = { k = [1, true, \"{{ seed }}\"] } }\n";
const std::string answer = "answer = { text = \"/out/0/text\", input_tokens = \"/usage/in\" }\n";

TEST(RequestBody, IsATableOfTemplates) {
  const auto settings = load(http + body + answer);
  ASSERT_TRUE(settings) << join_findings(settings.error());
  const ProviderConfig* own = settings->find_provider("own");
  EXPECT_EQ(own->body.value, R"({"q":"{{prompt}}","n":{"k":[1,true,"{{ seed }}"]}})") << "in its order";
  EXPECT_EQ(own->answer.value.text, "/out/0/text");
  EXPECT_EQ(own->answer.value.input_tokens, "/usage/in");
  EXPECT_EQ(own->api_key_env.value, "");
}

TEST(RequestBody, AndItsPointersAreOfTheCacheIdentity) {
  const auto identity = [](const std::string& table) {
    const auto settings = load(table);
    return settings ? resolve_provider(*settings)->provider.cache_identity : "?";
  };
  const std::string before = identity(http + body + answer);
  EXPECT_TRUE(before.starts_with("https://bots.example/ask format:")) << before;
  EXPECT_EQ(identity(http + body + answer), before);
  EXPECT_NE(identity(http + "body = { q = \"{{prompt}}!\" }\n" + answer), before);
  EXPECT_NE(identity(http + body + "answer = { text = \"/out\" }\n"), before);
  const std::string named = identity(http + body + answer + "cache_identity = \"bots\"\n");
  EXPECT_TRUE(named.starts_with("bots format:")) << named;
}

TEST(RequestBody, IsRefusedWhereItIsNone) {
  EXPECT_NE(finding(http + answer).find("missing \"body\""), std::string::npos) << finding(http + answer);
  EXPECT_NE(finding(http + body).find("missing \"answer\""), std::string::npos);
  EXPECT_NE(finding(http + answer + "body = { q = \"{{promt}}\" }\n").find("\"prompt\""), std::string::npos);
  EXPECT_NE(
      finding(http + answer + "body = { q = \"As: {{messages}}\" }\n").find("let it be the whole value"),
      std::string::npos);
  EXPECT_NE(finding(http + answer + "body = { q = \"{{system}}\" }\n").find("{{prompt}} or {{messages}}"),
            std::string::npos)
      << "no test would be asked";
  EXPECT_EQ(finding(http + answer + "body = { a = [{ all = \"{{messages}}\" }] }\n"), "");
  const std::string key = "sk-0123456789abcdefghij";
  const std::string with_key =
      finding(http + answer + "body = { q = \"{{prompt}}\", k = \"" + key + "\" }\n");
  EXPECT_NE(with_key.find("must hold no secret"), std::string::npos) << with_key;
  EXPECT_EQ(with_key.find(key), std::string::npos) << with_key;
  EXPECT_NE(finding(http + answer + "body = \"{{prompt}}\"\n").find("must be a table"), std::string::npos);
  EXPECT_NE(finding(http + body + "answer = { text = \"out\" }\n").find("must begin with \"/\""),
            std::string::npos);
  EXPECT_NE(finding(http + body + "answer = { tokens = \"/a\" }\n").find("no part of an answer"),
            std::string::npos);
  EXPECT_NE(finding(http + body + answer + "command = [\"x\"]\n").find("has no meaning"), std::string::npos);
  EXPECT_NE(finding("kind = \"openai\"\nbase_url = \"http://localhost/v1\"\n" + body).find("has no meaning"),
            std::string::npos);
}

TEST(ExecProvider, HasACommandAndNoAddress) {
  const auto settings = load("kind = \"exec\"\ncommand = [\"python3\", \"bot.py\"]\n");
  ASSERT_TRUE(settings) << join_findings(settings.error());
  const auto resolved = resolve_provider(*settings);
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->provider.base_url, "exec:own");
  EXPECT_TRUE(resolved->provider.cache_identity.starts_with("exec:"));
  const auto other_field =
      load("kind = \"exec\"\ncommand = [\"python3\", \"bot.py\"]\nmax_tokens_field = \"max_tokens\"\n");
  ASSERT_TRUE(other_field) << join_findings(other_field.error());
  EXPECT_NE(resolve_provider(*other_field)->provider.cache_identity, resolved->provider.cache_identity)
      << "it reads another body";
  EXPECT_NE(finding("kind = \"exec\"\n").find("missing \"command\""), std::string::npos);
  EXPECT_NE(finding("kind = \"exec\"\ncommand = \"python3 bot.py\"\n").find("no shell reads it"),
            std::string::npos);
  EXPECT_NE(
      finding("kind = \"exec\"\ncommand = [\"x\"]\nbase_url = \"http://localhost\"\n").find("has no meaning"),
      std::string::npos);
}

TEST(ExecProvider, HasNoKeyAmongItsArguments) {
  const std::string key = "sk-0123456789abcdefghij";
  for (const std::string& argument : {key, "--key=" + key}) {
    const std::string said = finding("kind = \"exec\"\ncommand = [\"bot\", \"" + argument + "\"]\n");
    EXPECT_NE(said.find("must hold no secret"), std::string::npos) << said;
    EXPECT_EQ(said.find(key), std::string::npos) << said;
  }
}

TEST(ExecProvider, AnotherProgramIsAnotherIdentity) {
  const auto file = std::filesystem::temp_directory_path() / "sluice_request_body_test.py";
  const auto identity_with = [&](const std::string& text) {
    std::ofstream(file) << text;
    return identity_of_command({"python3", file.string()});
  };
  const std::string one = identity_with("one");
  EXPECT_EQ(identity_with("one"), one);
  EXPECT_NE(identity_with("two"), one);
  EXPECT_NE(identity_of_command({"python3"}), one);
  // Too large to hash: it counted as if it were not there.
  const auto large = [&](std::size_t beyond) {
    std::filesystem::resize_file(file, defaults::max_program_bytes + beyond);
    return identity_of_command({"python3", file.string()});
  };
  EXPECT_NE(large(1), large(2));
  const std::string before = large(2);
  std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) + std::chrono::seconds(1));
  EXPECT_NE(identity_of_command({"python3", file.string()}), before) << "it may have been overwritten";
  std::filesystem::remove(file);
  EXPECT_NE(identity_of_command({"python3", file.string()}), one);
}

}  // namespace sluice::request_body_test
