// Lines of stderr for programs: with --log-format json each is one object, from the first to the last.
#include "tests/support/paths.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/terminal_process.hpp"
#include "tests/support/wait.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::json_log_test {

using namespace support;
using nlohmann::json;

const Flags as_json{"--log-format", "json"};

class JsonLog : public Workbench {
 protected:
  /// The objects; fails the test for a line that is none, or lacks what all have.
  static std::vector<json> objects_in(const std::string& errors) {
    std::vector<json> objects;
    std::istringstream lines(errors);
    for (std::string line; std::getline(lines, line);) {
      auto object = json::parse(line, nullptr, false);
      EXPECT_TRUE(object.is_object()) << line;
      if (!object.is_object()) continue;
      for (const char* member : {"time", "level", "message"}) EXPECT_TRUE(object.contains(member)) << line;
      EXPECT_EQ(object.value("time", "").size(), std::string("2026-02-05T14:30:00.000Z").size()) << line;
      EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
      objects.push_back(std::move(object));
    }
    EXPECT_FALSE(objects.empty());
    return objects;
  }

  /// The first whose message has the text; an empty object if there is none.
  static json with_text(const std::vector<json>& objects, const std::string& text) {
    const auto has_it = [&](const json& one) {
      return one.at("message").get<std::string>().find(text) != std::string::npos;
    };
    const auto found = std::ranges::find_if(objects, has_it);
    return found == objects.end() ? json::object() : *found;
  }

  /// Where a coordinator listens that says so in JSON.
  static std::string endpoint_in_json(Process& coordinator) {
    static const std::string words = "listening on ";
    std::string endpoint;
    EXPECT_TRUE(eventually([&] {
      const auto written = coordinator.errors();
      const auto begin = written.find(words);
      const auto end = begin == std::string::npos ? begin : written.find('"', begin);
      if (end == std::string::npos) return !coordinator.running();
      endpoint = written.substr(begin + words.size(), end - begin - words.size());
      return true;
    }));
    return endpoint;
  }
};

TEST_F(JsonLog, EachLineOfAFleetSaysWhatItIsAbout) {
  const auto simulator = start_simulator({R"({"status": 400, "times": 1})"}, {});
  auto coordinator = start_sluice(live(simulator) + as_json +
                                  Flags{"--listen", "tcp://127.0.0.1:0", "--log-level", "debug"});
  auto worker = start_worker(endpoint_in_json(coordinator), as_json + Flags{"--name", "gpu-7"});
  const auto finished = finish(coordinator);
  EXPECT_EQ(worker.wait(), 0) << worker.errors();
  const auto run = parse_report(finished.output).at("run_id").get<std::string>();

  const auto said = objects_in(finished.errors);
  const auto joined = with_text(said, "worker gpu-7 is there");
  EXPECT_EQ(joined.value("worker", ""), "gpu-7") << finished.errors;
  EXPECT_EQ(joined.value("run", ""), run);
  EXPECT_EQ(joined.value("level", ""), "info");
  const auto failed = with_text(said, "ends with an error");
  EXPECT_EQ(failed.value("provider", ""), "openai") << finished.errors;
  EXPECT_EQ(failed.value("worker", ""), "gpu-7");
  EXPECT_NE(failed.value("case", ""), "");
  EXPECT_EQ(with_text(said, "cases done").value("run", ""), run) << "progress: " << finished.errors;

  const auto connected = with_text(objects_in(worker.errors()), "connected; working on run");
  EXPECT_EQ(connected.value("worker", ""), "gpu-7") << worker.errors();
  EXPECT_EQ(connected.value("run", ""), run);
}

TEST_F(JsonLog, WhatIsWrongBeforeARunIsAnObjectToo) {
  set_variable("SLUICE_LOG_FORMAT", "json");
  const auto unknown = objects_in(run_sluice({"rnu"}).errors);
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(unknown[0].at("level"), "error");
  EXPECT_TRUE(unknown[0].at("message").get<std::string>().starts_with("unknown command \"rnu\""));
  EXPECT_FALSE(unknown[0].contains("run"));
  const auto worker = objects_in(run_worker("tcp://127.0.0.1:1", {"--orphan-timeout", "0.2"}).errors);
  EXPECT_EQ(worker.back().at("level"), "error");
  EXPECT_NE(worker.back().value("worker", ""), "");
  EXPECT_NE(worker.front().value("worker", ""), "") << "before it has connected";
  set_variable("SLUICE_LOG_FORMAT", "");
  const auto wrong = run_sluice(Flags{"run", "--mode", "mock", "--log-format", "yaml"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.errors.find("must be \"text\" or \"json\""), std::string::npos) << wrong.errors;
}

TEST_F(JsonLog, OnATerminalNothingIsWrittenOver) {
  TerminalProcess terminal({program_path("sluice"), "run", shipped_fixtures().string(), "--mode", "mock",
                            "--output", (folder() / "report.txt").string(), "--log-format", "json"},
                           {{"SLUICE_HOME", home().string()}, {"TERM", "xterm"}});
  const auto shown = terminal.read_to("; see ");
  EXPECT_NE(shown.find("\"message\":\""), std::string::npos) << shown;
  EXPECT_EQ(shown.find('\x1b'), std::string::npos) << shown;
}

}  // namespace sluice::json_log_test
