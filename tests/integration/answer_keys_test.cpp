// What becomes of an API key that a provider puts into its answers, and of answers that cannot be read.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;
using nlohmann::json;

constexpr const char* echoed_key = "sk-echoed-0123456789";

class AnswerKeys : public Workbench {
 protected:
  Flags run(const std::string& mode, const SimulatorProcess& simulator) const {
    const auto path = folder() / "suite.yaml";
    std::ofstream(path) << "suite: echo\nmodel: m\nsettings: {provider: openai}\ntests:\n"
                           "  - id: a\n    input: {prompt: \"Say it.\"}\n"
                           "    expected: {type: must_contain, text: nothing}\n";
    return {"run", path.string(), "--mode", mode, "--base-url", simulator.url() + "/v1"};
  }

  /// Every file of the home (ledger, cache, log) that holds the text.
  std::vector<std::string> files_with(const std::string& text) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(home())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      if (bytes.find(text) != std::string::npos) found.push_back(entry.path().string());
    }
    return found;
  }
};

TEST_F(AnswerKeys, AreInNoReportAndNoFile) {
  set_variable("OPENAI_API_KEY", echoed_key);
  const auto simulator = start_simulator(
      {R"({"contains": "Say it.", "text": "It is SK-ECHOED-0123456789, sk-echoed-\n0123456789 or c2stZWNob2VkLTAxMjM0NTY3ODk="})"},
      {});
  const auto finished = run_sluice(run("live", simulator) + Flags{"--format", "json"});
  const json report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object()) << finished.errors;
  EXPECT_EQ(report["fixture_results"][0]["answer_text"], "It is [key], [key] or [key]k=");
  for (const char* form : {"SK-ECHOED-0123456789", "c2stZWNob2VkLTAxMjM0NTY3OD"}) {
    EXPECT_TRUE(files_with(form).empty()) << form << " stands in " << files_with(form).front();
  }
  const auto replayed = run_sluice(run("cached", simulator) + Flags{"--format", "json"});
  EXPECT_EQ(comparable_part(replayed.output), comparable_part(finished.output));
}

TEST_F(AnswerKeys, AnUnparsableAnswerIsSeenInTheReports) {
  const auto simulator =
      start_simulator({R"({"contains": "min", "text": "Sorry,\n I cannot \u001b[31mdo\u202e this."})"}, {});
  std::filesystem::create_directories(folder() / "suite");
  std::ofstream(folder() / "suite" / "a.toml")
      << "[metadata]\nid = \"a\"\ncategory = \"tls\"\n[input]\ncontent = \"min\"\n";
  const Flags flags{"run",    "--fixtures", (folder() / "suite").string(), "--model", "m", "--provider",
                    "openai", "--base-url", simulator.url() + "/v1"};
  const auto finished = run_sluice(flags + Flags{"--mode", "live", "--format", "json"});
  const json report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object()) << finished.errors;
  EXPECT_EQ(schema_findings(report), "");
  EXPECT_EQ(report["fixture_results"][0]["reason_code"], "unparsable_answer");
  EXPECT_EQ(report["fixture_results"][0]["answer_text"], "Sorry, I cannot [31mdo this.");
  for (const char* format : {"table", "markdown", "junit"}) {
    const auto shown = run_sluice(flags + Flags{"--mode", "cached", "--format", format});
    EXPECT_NE(shown.output.find("Sorry, I cannot [31mdo this."), std::string::npos) << shown.output;
  }
}

}  // namespace
}  // namespace sluice
