// Texts of a provider and of a suite that would give commands to a terminal, a build server, a browser or a
// spreadsheet: they reach every output as text (docs/security.md).
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;
using nlohmann::json;

/// Colours, a title, a link of the terminal's own (OSC 8), C1's CSI, a direction that turns, a line end that
/// begins a command of GitHub's, markup of three kinds, and a formula; as JSON.
constexpr const char* hostile_json =
    R"(=cmd|' /C calc'!A0 \u001b[31mred\u001b]0;title\u0007\u001b]8;;http://evil.example\u001b\\link\u009b2J\u202etxt\u2066)"
    R"(\r\n::error file=a::forged\n::set-output name=x::y\n##[error]forged)"
    R"(\n<script>alert(1)</script><img src=x onerror=y>&lt;]]>)"
    R"(\n# Title\n| a | b |\n[click](http://evil.example) ![i](http://evil.example/p.png) @everyone #1 `code`)";

class HostileTexts : public Workbench {
 protected:
  /// One test that fails, so that its answer is shown; its id and prompt are hostile as well.
  Flags run(const SimulatorProcess& simulator, const std::string& name = "suite.yaml") const {
    const auto path = folder() / name;
    std::ofstream(path) << "suite: \"s\\u202e<b>\"\nmodel: m\nsettings: {provider: openai}\ntests:\n"
                           "  - id: \"=1+1 \\u202e<b>&]]>\"\n    category: \"c|`x` @all\"\n"
                           "    input: {prompt: \"Say it.\"}\n"
                           "    expected: {type: must_contain, text: \"<i>no</i> | \\u202e`where`\"}\n";
    return {
        "run", path.string(), "--mode", "live", "--base-url", simulator.url() + "/v1", "--save-observations"};
  }
  SimulatorProcess start_hostile() {
    return start_simulator({std::string(R"({"contains": "Say it.", "text": ")") + hostile_json + "\"}"}, {});
  }

  static void expect_harmless(const std::string& text) {
    for (const char* bad : {"\x1b", "\x07", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "\r"})
      EXPECT_EQ(text.find(bad), std::string::npos) << "found in: " << text;
  }
  /// Without what Markdown shows as it is.
  static std::string without_code(std::string text) {
    for (auto from = text.find("`` "); from != std::string::npos; from = text.find("`` ", from)) {
      const auto to = text.find(" ``", from + 3);
      text.erase(from, to == std::string::npos ? to : to + 3 - from);
    }
    return text;
  }
  /// GitHub's runner passes over blanks before `::`.
  static void expect_no_commands(const std::string& text) {
    for (const auto& line : lines_of(text)) {
      const auto first = std::min(line.find_first_not_of(" \t"), line.size());
      EXPECT_FALSE(line.substr(first).starts_with("::set-output")) << line;
      EXPECT_FALSE(line.substr(first).starts_with("::error file=a")) << line;
    }
  }
  static std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(HostileTexts, SteerNoTerminalAndForgeNoMarkup) {
  const auto simulator = start_hostile();
  for (const char* format : {"table", "markdown", "junit", "github"}) {
    SCOPED_TRACE(format);
    const auto finished = run_sluice(run(simulator) + Flags{"--format", format});
    EXPECT_EQ(finished.exit_code, 1) << finished.errors;
    EXPECT_FALSE(finished.output.empty());
    expect_harmless(finished.output);
    expect_harmless(finished.errors);
    expect_no_commands(finished.output + finished.errors);
    if (std::string_view(format) == "table") {
      EXPECT_EQ(finished.output.find("##[error]"), std::string::npos) << finished.output;
    }
    if (std::string_view(format) != "junit" && std::string_view(format) != "markdown") continue;
    const std::string text = without_code(finished.output);
    for (const char* markup : {"<script", "<img", "<b>", "<i>", "\n# Title"})
      EXPECT_EQ(text.find(markup), std::string::npos) << text;
    if (std::string_view(format) != "markdown") continue;
    for (const char* markup : {"](http", " @everyone"})
      EXPECT_EQ(text.find(markup), std::string::npos) << text;
  }
}

TEST_F(HostileTexts, StayWhatTheyAreInDataAndCommandsShowThemAsText) {
  const auto simulator = start_hostile();
  const auto finished = run_sluice(run(simulator) + Flags{"--format", "json"});
  const json report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object()) << finished.errors;
  run_sluice(run(simulator));  // Two runs can be compared.
  EXPECT_EQ(schema_findings(report), "");
  expect_harmless(finished.output);
  for (const Flags& command :
       {Flags{"runs", "list"}, Flags{"runs", "show", "last"}, Flags{"observations", "list"},
        Flags{"show", "last", "--filter", "*"}, Flags{"show", "last", "--grid"}, Flags{"plan", "suite.yaml"},
        Flags{"report", "last"}, Flags{"report", "last", "--format", "html"}, Flags{"diff", "--all"}}) {
    SCOPED_TRACE(command.front());
    const auto shown = run_sluice(command);
    EXPECT_FALSE(shown.output.empty()) << shown.errors;
    expect_harmless(shown.output);
    expect_harmless(shown.errors);
    expect_no_commands(shown.output + shown.errors);
    // A page is for a browser.
    if (command.back() != "html") {
      EXPECT_EQ(shown.output.find("##[error]"), std::string::npos) << shown.output;
    }
  }
  for (const Flags& command :
       {Flags{"observations", "export", "--format", "csv"}, Flags{"report", "last", "--format", "csv"}}) {
    const auto rows = run_sluice(command);
    expect_no_commands(rows.output);
    for (const char* bad : {"\x1b", "\x07", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "##[error]"})
      EXPECT_EQ(rows.output.find(bad), std::string::npos) << rows.output;
  }
  const auto csv = run_sluice({"observations", "export", "--format", "csv"});
  EXPECT_NE(csv.output.find("'=cmd|"), std::string::npos) << csv.output;
  EXPECT_NE(csv.output.find("'=1+1"), std::string::npos) << csv.output;
  EXPECT_EQ(csv.output.find(",=1+1"), std::string::npos) << csv.output;
  const auto exact = json::parse(lines_of(run_sluice({"observations", "export"}).output).front());
  EXPECT_TRUE(exact["raw_response"].get<std::string>().starts_with("=cmd|' /C calc'!A0 \x1b[31m"));
}

TEST_F(HostileTexts, NamesOfFilesBeginNoLine) {
  const auto simulator = start_hostile();
  const std::string name = "a\n::error::forged\x1b[31m\xe2\x80\xae.yaml";
  for (const char* format : {"github", "table", "junit"}) {
    SCOPED_TRACE(format);
    const auto finished = run_sluice(run(simulator, name) + Flags{"--format", format});
    expect_harmless(finished.output);
    expect_harmless(finished.errors);
    for (const auto& line : lines_of(finished.output + finished.errors))
      EXPECT_FALSE(line.starts_with("::error::forged")) << line;
  }
  const auto missing = run_sluice({"run", "gone\n::error::forged\x1b[31m.yaml"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(std::ranges::count(missing.errors, '\n'), 1) << missing.errors;
  expect_harmless(missing.errors);
}

// A settings file comes with a checkout, and may be anybody's.
TEST_F(HostileTexts, OfSettingsAreShownAsText) {
  std::ofstream(folder() / "sluice.toml") << "[eval]\nmodel = \"m\u009b31m\u202e\"\n";
  const auto shown = run_sluice({"config"});
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  EXPECT_NE(shown.output.find("eval.model"), std::string::npos);
  expect_harmless(shown.output);
}

// Whatever a command reads: it waits for nobody who never writes, and reads no device without end.
TEST_F(HostileTexts, PipesAndDevicesInTheirPlacesAreRefusedAtOnce) {
  const auto simulator = start_hostile();
  const Flags flags = run(simulator);
  ASSERT_EQ(::system(("mkfifo " + (folder() / "pipe").string()).c_str()), 0);
  for (const char* file : {"pipe", "/dev/zero"}) {
    for (const Flags& command :
         {Flags{"run", file}, Flags{"--baseline", file}, Flags{"--prompt", file}, Flags{"--ontology", file},
          Flags{"--answers", file}, Flags{"--prices", file}, Flags{"--config", file}}) {
      SCOPED_TRACE(command.front() + " " + file);
      const auto finished =
          run_sluice(command.front() == "run" ? command + Flags{"--mode", "mock"} : flags + command);
      EXPECT_EQ(finished.exit_code, 2) << finished.errors;
    }
    for (const Flags& command : {Flags{"cache", "import", file}, Flags{"compare", file, file}}) {
      SCOPED_TRACE(command.front() + " " + file);
      EXPECT_EQ(run_sluice(command).exit_code, 2);
    }
  }
}

}  // namespace
}  // namespace sluice
