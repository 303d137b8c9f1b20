// What redaction keeps out of everything that a run writes and shows.
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::redaction_test {

using namespace support;
using nlohmann::json;
namespace fs = std::filesystem;

using Redaction = Workbench;

TEST_F(Redaction, ACanaryOfEachShippedPatternIsSeenNowhereButInTheCache) {
  // In two parts each, so that nobody takes them for real ones.
  const std::vector<std::string> canaries{
      std::string("sk-") + "canary0123456789abcdef",
      std::string("canary.bird@") + "mine.example.org",
      std::string("sk_") + "live_canaryQqLyjWDarjtT1zdp7dc",
      std::string("AIza") + "SycanaryA1234567890abcdefghijklmnopqr",
      std::string("AKIA") + "CANARY7EXAMPLE00",
      std::string("ghp") + "_canary0123456789abcdefghijklmnopqrst",
      std::string("github") + "_pat_canary11ABCDEFG0abcdefghijkl",
      std::string("glpat") + "-canaryf0123456789_-xy",
      std::string("xoxb") + "-canary1234567890-abcdef",
      std::string("hf") + "_canaryghijklmnopqrstuvwxyz01234567",
      std::string("eyJ") + "canaryJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
      std::string("-----") + "BEGIN PRIVATE KEY-----\nMIIcanaryEow"};
  std::string both;
  for (const std::string& canary : canaries) both += (both.empty() ? "" : " and ") + canary;
  const auto rule = [](const std::string& contains, const std::string& key, const json& value,
                       json more = {}) {
    more["contains"] = contains;
    more[key] = value;
    return more.dump();
  };
  const json claim{
      {"subject", "secrets/api_key"}, {"predicate", "value"}, {"value", both}, {"confidence", 1}};
  const json problem{{"error", {{"message", "no such user " + both}}}};
  const auto simulator = start_simulator(
      {rule("Say it", "text", "It is " + both), rule("Err", "body", problem.dump(), {{"status", 400}}),
       rule("Refuse", "refusal", true), rule("Pass", "text", "It passes: " + both),
       rule("claims please", "text", json{{"claims", {claim}}}.dump())},
      {});
  const std::string quoted = json(both).dump();
  const auto prompt = [&](const std::string& words) { return json(words + both).dump(); };
  const auto suite = folder() / "suite.yaml";
  std::ofstream(suite) << "suite: s\nmodel: m\nsettings: {provider: openai}\ntests:\n"
                       << "  - id: a\n    input: {prompt: " << prompt("Say it, ") << "}\n"
                       << "    expected: {type: exact_match, text: nothing}\n"
                       << "  - id: b\n    input: {prompt: " << prompt("Err: ") << "}\n"
                       << "    expected: {type: must_contain, text: x}\n"
                       << "  - id: c\n    input: {prompt: " << prompt("Refuse ") << "}\n"
                       << "    expected: {type: must_contain, text: x}\n"
                       << "  - id: d\n    input: {prompt: \"Say it again\"}\n"
                       << "    expected: {type: semantic_similarity_to, min_score: 1.0, text: " << quoted
                       << "}\n"
                       << "  - id: e\n    input: {prompt: " << prompt("Pass ") << "}\n"
                       << "    expected: {type: must_contain, text: passes}\n";
  const Flags run{"run",
                  suite.string(),
                  "--mode",
                  "live",
                  "--base-url",
                  simulator.url() + "/v1",
                  "--embedding-model",
                  "lexical-ngrams-v1",
                  "--verbose",
                  "--call-log",
                  "calls.log"};
  const auto plain = run_sluice(run + Flags{"--format", "json", "--home", (folder() / "plain").string()});
  EXPECT_NE(plain.output.find(canaries[0]), std::string::npos) << "the test would find it: " << plain.output;
  const Flags redacted = run + Flags{"--redact", "all", "--save-observations"};
  std::string seen;
  const auto first = run_sluice(
      redacted + Flags{"--format", "json", "--report", "markdown=report.md", "--report", "junit=report.xml",
                       "--report", "table=report.txt", "--report", "github=report.log", "--report",
                       "html=report.html", "--report", "csv=report.csv", "--harvest", "solved.jsonl"});
  const json report = parse_report(first.output);
  ASSERT_TRUE(report.is_object()) << first.errors;
  seen += first.output + first.errors;
  const auto fixtures = folder() / "fixtures";
  fs::create_directories(fixtures);
  std::ofstream(fixtures / "passes.toml")
      << "[metadata]\nid = \"passes\"\ncategory = \"c\"\n[input]\ncontent = " << prompt("claims please ")
      << "\n[expected]\nmust_contain = [{ subject = \"secrets/api_key\", predicate = \"owner\", value = "
      << quoted << ", rationale = " << prompt("since ") << " }]\n";
  const auto claims = run_sluice({"run", "--mode", "live", "--fixtures", fixtures.string(), "--provider",
                                  "openai", "--model", "m", "--base-url", simulator.url() + "/v1", "--format",
                                  "json", "--redact", "all", "--save-observations"});
  EXPECT_NE(claims.output.find("[redacted keys]"), std::string::npos) << claims.output << claims.errors;
  seen += claims.output + claims.errors;
  for (const Flags& flags :
       {Flags{"observations", "export"}, Flags{"observations", "export", "--format", "csv"},
        Flags{"observations", "list"}, Flags{"runs", "list"}}) {
    const auto shown = run_sluice(flags);
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    seen += shown.output + shown.errors;
  }
  for (const Flags& flags : {Flags{"show", "last", "passes"}, Flags{"show", "last", "passes", "--json"},
                             Flags{"show", "last", "a", "--redact", "all", "--home",
                                   (folder() / "plain").string(), "--base-url", simulator.url() + "/v1"},
                             Flags{"show", "last~1", "--grid"}, Flags{"report", "last"},
                             Flags{"report", "last~1", "--format", "html"}}) {
    const auto shown = run_sluice(flags);
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    EXPECT_NE(shown.output.find("[redacted keys]"), std::string::npos) << shown.output;
    seen += shown.output + shown.errors;
  }
  // What was cut when it was kept may begin with one: whole ones are not to be seen.
  for (const char* const format : {"html", "json", "table"}) {
    const auto shown = run_sluice(
        {"report", "last", "--redact", "all", "--format", format, "--home", (folder() / "plain").string()});
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    EXPECT_NE(shown.output.find("[redacted keys]"), std::string::npos) << shown.output;
    for (const std::string& canary : canaries)
      EXPECT_EQ(shown.output.find(canary), std::string::npos) << canary << shown.output;
  }
  run_sluice(redacted + Flags{"--refresh"});
  for (const Flags& flags : {Flags{"diff"}, Flags{"diff", "--json", "--all"}}) {
    const auto shown = run_sluice(flags);
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    seen += shown.output + shown.errors;
  }
  EXPECT_NE(seen.find("It is [redacted keys] and [redacted mail]"), std::string::npos) << seen;
  EXPECT_NE(seen.find("Say it, [redacted keys] and [redacted mail]"), std::string::npos);
  for (const char* name : {"report.md", "report.xml", "report.txt", "report.log", "report.html", "report.csv",
                           "solved.jsonl", "calls.log"}) {
    EXPECT_TRUE(fs::exists(folder() / name)) << name;
    std::ifstream file(folder() / name, std::ios::binary);
    seen.append((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
  for (const auto& entry : fs::directory_iterator(home())) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    seen.append((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
  for (const std::string& canary : canaries) {
    const auto bird = std::min(canary.find("canary"), canary.find("CANARY"));
    const auto at = seen.find(canary.substr(bird, 9));
    EXPECT_EQ(at, std::string::npos) << seen.substr(at > 300 ? at - 300 : 0, 600);
  }
  // Nothing but what is shown has changed.
  const json without = parse_report(plain.output);
  for (std::size_t i = 0; i < report["fixture_results"].size(); ++i) {
    const json& one = report["fixture_results"][i];
    const json& other = without["fixture_results"][i];
    for (const char* member : {"status", "reason_code", "answer", "input_tokens"})
      EXPECT_EQ(one[member], other[member]);
    for (std::size_t n = 0; n < one["metrics"].size(); ++n)
      EXPECT_EQ(one["metrics"][n]["score"], other["metrics"][n]["score"]);
  }
}

}  // namespace sluice::redaction_test
