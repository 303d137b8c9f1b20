// Cassettes with the built programs: what a live run stored is carried into a fresh home, where it replays to
// the same report without a provider; and what the commands refuse.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;
namespace fs = std::filesystem;

class Cassettes : public Workbench {
 protected:
  // A refusal, a truncation and an unparsable answer among the answers.
  SimulatorProcess start_unwilling_simulator() {
    return start_simulator(
        {R"({"contains": "Listener set-up of the payment concentrator", "refusal": true})",
         R"({"contains": "Client talks to the container registry", "fault": "length"})",
         R"({"contains": "mqtts://broker.greenhouse.example.org", "text": "Nice weather today."})"},
        {});
  }

  std::string file(const std::string& name = "answers.cassette") const { return (folder() / name).string(); }
  std::string other_home() const { return (folder() / "other-home").string(); }

  Finished export_to(const std::string& output, const Flags& flags = {}) {
    return run_sluice(Flags{"cache", "export", "--output", output} + flags);
  }

  nlohmann::json stats(const Flags& flags = {}) {
    const auto finished = run_sluice(Flags{"cache", "stats", "--format", "json"} + flags);
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    return parse_report(finished.output)["caches"];
  }

  void expect_refused(const Finished& finished, const std::string& words) {
    EXPECT_EQ(finished.exit_code, 2) << finished.output;
    EXPECT_EQ(finished.output, "");
    ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
    EXPECT_NE(finished.errors.find(words), std::string::npos) << finished.errors;
  }

  static std::string run_id_of(const Finished& run) {
    return parse_report(run.output)["run_id"].get<std::string>();
  }

  static std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
};

TEST_F(Cassettes, ReplayInAFreshHomeToTheSameReport) {
  auto simulator = start_unwilling_simulator();
  const auto recorded = run_sluice(live(simulator));
  ASSERT_EQ(recorded.exit_code, 1) << recorded.errors;
  ASSERT_EQ(parse_report(recorded.output)["metrics"]["errors"], 3);
  const auto flags = cached(simulator);
  simulator.final_events();  // The provider is gone.

  const auto exported = export_to(file());
  ASSERT_EQ(exported.exit_code, 0) << exported.errors;
  EXPECT_NE(exported.output.find(std::to_string(fixture_count()) + " entries"), std::string::npos)
      << exported.output;
  const auto imported = run_sluice({"cache", "import", file(), "--home", other_home()});
  ASSERT_EQ(imported.exit_code, 0) << imported.errors;
  EXPECT_NE(imported.output.find(std::to_string(fixture_count()) + " added"), std::string::npos)
      << imported.output;

  set_variable("OPENAI_API_KEY", "");
  const auto replayed = run_sluice(flags + Flags{"--home", other_home()});
  EXPECT_EQ(replayed.exit_code, 1) << replayed.errors;
  EXPECT_EQ(comparable_part(replayed.output), comparable_part(recorded.output));
  EXPECT_NE(comparable_part(replayed.output), "");

  // The same content gives the same bytes, whichever home it comes from; and a second import changes nothing.
  const auto again = run_sluice({"cache", "import", file(), "--home", other_home()});
  EXPECT_NE(again.output.find(" 0 added, " + std::to_string(fixture_count()) + " already there"),
            std::string::npos)
      << again.output;
  ASSERT_EQ(export_to(file("second.cassette"), {"--home", other_home()}).exit_code, 0);
  EXPECT_EQ(read_text(file("second.cassette")), read_text(file()));
}

TEST_F(Cassettes, HoldJustWhatARunUsed) {
  auto simulator = start_simulator();
  const auto some = run_sluice(live(simulator) + Flags{"--categories", "tls"});
  ASSERT_EQ(some.exit_code, 1) << some.errors;
  ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  const auto count = parse_report(some.output)["run"]["requests"].get<std::size_t>();
  ASSERT_LT(count, fixture_count());
  const auto flags = cached(simulator) + Flags{"--home", other_home()};
  simulator.final_events();

  const auto exported = export_to(file(), {"--run", run_id_of(some).substr(0, 13)});
  ASSERT_EQ(exported.exit_code, 0) << exported.errors;
  EXPECT_NE(exported.output.find(std::to_string(count) + " entries"), std::string::npos) << exported.output;
  ASSERT_EQ(run_sluice({"cache", "import", file(), "--home", other_home()}).exit_code, 0);
  const auto replayed = run_sluice(flags + Flags{"--categories", "tls"});
  EXPECT_EQ(comparable_part(replayed.output), comparable_part(some.output));
  EXPECT_EQ(run_sluice(flags).exit_code, 2) << "the other answers are not in it";

  expect_refused(export_to(file(), {"--run", "no-such-run"}), "no-such-run");
  expect_refused(export_to(file(), {"--run", "x", "--home", (folder() / "empty").string()}),
                 "leave out --run");
}

TEST_F(Cassettes, OfARunThatWasCutShortSayWhatTheyLack) {
  const auto simulator = start_simulator();
  const auto cut = run_sluice(live(simulator) + Flags{"--max-output-tokens", "500", "--max-tokens", "12000"});
  ASSERT_EQ(parse_report(cut.output)["reason_code"], "token_budget_spent");
  const auto exported = export_to(file(), {"--run", "last"});
  EXPECT_EQ(exported.exit_code, 0) << exported.errors;
  const std::string id = run_id_of(cut).substr(0, 8);
  EXPECT_NE(exported.errors.find("run " + id + " has no answer for "), std::string::npos) << exported.errors;
  EXPECT_NE(exported.errors.find("`sluice run --resume " + id + "`"), std::string::npos) << exported.errors;
}

TEST_F(Cassettes, OfARunWhoseAnswersWereReplacedIsRefused) {
  auto simulator = start_simulator({R"({"text": "{\"claims\":[]}", "times": 1})"}, {});
  const auto flags = live(simulator) + Flags{"--max-fixtures", "1"};
  const auto first = run_sluice(flags);
  const auto second = run_sluice(flags + Flags{"--refresh"});
  expect_refused(export_to(file(), {"--run", run_id_of(first)}), "were replaced by later ones");
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_EQ(export_to(file(), {"--run", run_id_of(second)}).exit_code, 0);
}

TEST_F(Cassettes, WhatTheCachesLackIsReportedAndNoFileIsMade) {
  auto simulator = start_simulator();
  const auto uncached = run_sluice(live(simulator) + Flags{"--no-cache", "--categories", "jwt"});
  expect_refused(export_to(file()), "there is no cache");
  ASSERT_EQ(run_sluice(live(simulator) + Flags{"--categories", "tls"}).exit_code, 1);
  expect_refused(export_to(file(), {"--run", run_id_of(uncached)}), "are in no cache");
  EXPECT_FALSE(fs::exists(file()));
  for (const auto& name : names_in(folder())) {
    EXPECT_FALSE(name.starts_with("answers.cassette")) << "a draft is left: " << name;
  }
}

TEST_F(Cassettes, DamagedOnesLeaveTheCacheAsItWas) {
  auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  ASSERT_EQ(export_to(file()).exit_code, 0);
  const auto bytes = read_text(file());
  const auto before = stats();

  auto flipped = bytes;
  flipped[bytes.size() / 2] = static_cast<char>(flipped[bytes.size() / 2] ^ 0x20);
  write_text(file("flipped"), flipped);
  write_text(file("cut"), bytes.substr(0, bytes.size() - 1));
  write_text(file("longer"), bytes + "\n");
  write_text(file("report"), "{\"verdict\": \"pass\"}\n");
  expect_refused(run_sluice({"cache", "import", file("flipped")}), "flipped is damaged");
  expect_refused(run_sluice({"cache", "import", file("cut")}), "cut is damaged");
  expect_refused(run_sluice({"cache", "import", file("longer")}), "longer is damaged");
  expect_refused(run_sluice({"cache", "import", file("report")}), "report is no cassette");
  expect_refused(run_sluice({"cache", "import", file("absent")}), "absent cannot be read");
  for (const std::string name : {"flipped", "cut", "longer", "report", "absent"}) {
    expect_refused(run_sluice({"cache", "import", file(name), "--home", other_home()}), name);
  }
  EXPECT_EQ(stats(), before);
  EXPECT_FALSE(fs::exists(other_home())) << "nothing is made for a cassette that is refused";
  EXPECT_EQ(run_sluice(cached(simulator)).exit_code, 1);
}

TEST_F(Cassettes, ACassetteThatCannotBeWrittenLeavesTheOldOne) {
  auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  write_text(file(), "the old one");
  const auto limited = run_sluice_with_file_limit(1024, "", {"cache", "export", "--output", file()});
  expect_refused(limited, "the cassette cannot be written");
  EXPECT_EQ(read_text(file()), "the old one");
  expect_refused(export_to((folder() / "absent" / "a.cassette").string()), "the cassette cannot be written");
}

TEST_F(Cassettes, StatsCountsAndPruneRemoves) {
  auto simulator = start_unwilling_simulator();
  ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  const auto all = stats();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["name"], "worker-0");
  EXPECT_EQ(all[0]["answers"], fixture_count() - 3);
  EXPECT_EQ(all[0]["non_answers"], 3);
  EXPECT_EQ(all[0]["in_use"], false);
  const auto table = run_sluice({"cache", "stats"});
  EXPECT_TRUE(table.output.starts_with("worker-0: free, ")) << table.output;
  EXPECT_NE(table.output.find("(" + std::to_string(fixture_count() - 3) + " answers, 3 non-answers,"),
            std::string::npos)
      << table.output;
  std::istringstream lines(table.output);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;

  const auto none = run_sluice({"cache", "prune", "--older-than", "1h", "--pinned"});
  EXPECT_EQ(none.exit_code, 0) << none.errors;
  EXPECT_NE(none.output.find("removed 0 entries"), std::string::npos) << none.output;
  EXPECT_EQ(stats()[0]["answers"], all[0]["answers"]);
  for (const std::string age : {"", "d", "5", "-1d", "1.5d", "3w", "99999999999999999999d", "36601d"}) {
    expect_refused(run_sluice({"cache", "prune", "--older-than=" + age}), "--older-than");
  }
}

TEST_F(Cassettes, MistakesOnTheCommandLineAreNamed) {
  expect_refused(run_sluice({"cache"}), "export, import, stats or prune");
  expect_refused(run_sluice({"cache", "export"}), "--output is required (see `sluice cache export --help`)");
  expect_refused(run_sluice({"cache", "export", "--output", file(), "--rum", "x"}),
                 "did you mean \"--run\"?");
  expect_refused(run_sluice({"cache", "exprot"}), "did you mean \"export\"?");
  expect_refused(run_sluice({"cache", "import"}), "FILE is required");
  expect_refused(run_sluice({"cache", "stats", "--format", "xml"}), "xml");
  for (const std::string name : {"export", "import", "stats", "prune"}) {
    const auto help = run_sluice({"cache", name, "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_NE(help.output.find("Examples:\n  sluice cache " + name), std::string::npos) << help.output;
  }
}

}  // namespace
}  // namespace sluice
