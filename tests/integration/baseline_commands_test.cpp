// The commands around the run ledger and the manifest's baseline: runs, baseline, update-baseline.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <tuple>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;

constexpr const char* manifest_before =
    "# ours\n[corpus]\nversion = \"1.0.0\"  # of the corpus\n\n[baseline]\n# measured by hand\n"
    "recall = 0.5\nprecision = 0.25 # low\nmodel = \"old\"\n\n# the end\n";

std::ptrdiff_t characters_of(const std::string& utf8) {
  return std::ranges::count_if(utf8, [](char byte) { return (byte & 0xc0) != 0x80; });
}

class BaselineCommands : public Workbench {
 protected:
  /// Two fixtures of the shipped ones, in a folder that a test may change.
  std::filesystem::path suite(const std::string& name = "suite") {
    const auto folder_of_suite = folder() / name;
    std::filesystem::create_directories(folder_of_suite / "tls");
    for (const auto& entry : std::filesystem::directory_iterator(shipped_fixtures() / "tls")) {
      std::filesystem::copy_file(entry.path(), folder_of_suite / "tls" / entry.path().filename());
    }
    return folder_of_suite;
  }
  Flags on(const std::filesystem::path& folder_of_suite, Flags flags) {
    return std::move(flags) + Flags{"--fixtures", folder_of_suite.string()};
  }
  /// Runs a suite; the report, which may say that cases failed.
  nlohmann::json run_live(const SimulatorProcess& simulator, const std::filesystem::path& folder_of_suite,
                          const Flags& more = {}) {
    const auto finished = run_sluice(with(live(simulator), "--fixtures", folder_of_suite.string()) + more);
    const auto report = parse_report(finished.output);
    EXPECT_TRUE(report.is_object()) << finished.errors;
    return report;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  /// The command refuses with one sentence and leaves the manifest as it is.
  void expect_refusal(const Finished& finished, const std::string& message) {
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_EQ(finished.output, "");
    ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
    EXPECT_TRUE(has(finished.error_lines().front(), message)) << finished.errors;
  }
  static std::string two_digits(double score) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%.2f", score);
    return text.data();
  }
};

TEST_F(BaselineCommands, BaselineShowsTheManifestsTable) {
  const auto fixtures = suite();
  write_text(fixtures / "manifest.toml",
             "[baseline]\nprecision = 0.85\nrecall = 0.78\nf1 = 0.81\nprompt_version = \"1.0.0\"\n"
             "model = \"gemini-2.0-flash\"\nmeasured_at = \"2026-02-05T10:30:00Z\"\n");
  const auto shown = run_sluice(on(fixtures, {"baseline"}));
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  EXPECT_EQ(shown.output,
            "Current baseline: precision=0.85, recall=0.78, f1=0.81 (2026-02-05)\n"
            "model           gemini-2.0-flash\n"
            "prompt_version  1.0.0\n"
            "measured_at     2026-02-05T10:30:00Z\n");
}

TEST_F(BaselineCommands, WithoutABaselineItSaysHowToMakeOne) {
  const auto fixtures = suite();
  expect_refusal(run_sluice(on(fixtures, {"baseline"})),
                 "manifest.toml does not exist; run the suite, then `sluice update-baseline --force`");
  write_text(fixtures / "manifest.toml", "[corpus]\nversion = \"1\"\n");
  expect_refusal(run_sluice(on(fixtures, {"baseline"})), "manifest.toml has no [baseline]");
  write_text(fixtures / "manifest.toml", "[baseline]\nmodel = \"m\"\n");
  expect_refusal(run_sluice(on(fixtures, {"baseline"})), "manifest.toml has no [baseline] with a precision");
  write_text(fixtures / "manifest.toml", "[baseline]\nf1 = 1.5\n");
  expect_refusal(run_sluice(on(fixtures, {"baseline"})), "manifest.toml:2: ");
  expect_refusal(run_sluice(on(folder() / "nowhere", {"baseline"})), "is no folder");
}

TEST_F(BaselineCommands, UpdateBaselineShowsFirstAndWritesWhenForced) {
  const auto fixtures = suite();
  const auto manifest = fixtures / "manifest.toml";
  write_text(manifest, manifest_before);
  const auto simulator = start_simulator();
  const auto report = run_live(simulator, fixtures);
  const double precision = report["metrics"]["precision"];

  const auto shown = run_sluice(on(fixtures, {"update-baseline"}));
  EXPECT_EQ(shown.exit_code, 2);
  EXPECT_EQ(shown.errors, "");
  EXPECT_TRUE(shown.output.starts_with("Current baseline: precision=0.25, recall=0.50, f1=undefined\n"))
      << shown.output;
  EXPECT_TRUE(has(shown.output, "  precision       0.25 -> " + two_digits(precision).substr(0, 3)))
      << shown.output;
  EXPECT_TRUE(has(shown.output, "  model           old -> sim-1\n")) << shown.output;
  EXPECT_TRUE(shown.output.ends_with("To update, re-run with --force\n")) << shown.output;
  EXPECT_EQ(read_text(manifest), manifest_before);

  const auto updated = run_sluice(on(fixtures, {"update-baseline", "--force"}));
  EXPECT_EQ(updated.exit_code, 0) << updated.errors;
  const auto text = read_text(manifest);
  EXPECT_TRUE(
      text.starts_with("# ours\n[corpus]\nversion = \"1.0.0\"  # of the corpus\n\n[baseline]\n"
                       "# measured by hand\nrecall = "))
      << text;
  EXPECT_TRUE(text.ends_with("\n\n# the end\n")) << text;
  EXPECT_TRUE(has(text, "model = \"sim-1\"\n")) << text;
  const auto baseline = run_sluice(on(fixtures, {"baseline"}));
  EXPECT_EQ(baseline.exit_code, 0) << baseline.errors;
  EXPECT_TRUE(has(baseline.output, "sim-1")) << baseline.output;

  const auto again = run_sluice(on(fixtures, {"update-baseline", "--force"}));
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_EQ(read_text(manifest), text) << "the same run makes the same file";
}

TEST_F(BaselineCommands, AManifestIsMadeWhereThereIsNone) {
  const auto fixtures = suite();
  const auto simulator = start_simulator();
  run_live(simulator, fixtures);
  const auto shown = run_sluice(on(fixtures, {"update-baseline"}));
  EXPECT_TRUE(shown.output.starts_with("Current baseline: none\n")) << shown.output;
  EXPECT_FALSE(std::filesystem::exists(fixtures / "manifest.toml"));
  EXPECT_EQ(run_sluice(on(fixtures, {"update-baseline", "--force"})).exit_code, 0);
  EXPECT_TRUE(read_text(fixtures / "manifest.toml").starts_with("[baseline]\nprecision = "));
}

TEST_F(BaselineCommands, RunsThatDoNotFitAreRefusedEachWithItsReason) {
  const auto fixtures = suite();
  const auto other = suite("other");
  const auto manifest = fixtures / "manifest.toml";
  write_text(manifest, manifest_before);
  const Flags forced = on(fixtures, {"update-baseline", "--force"});
  expect_refusal(run_sluice(forced), "has no finished run of ");
  const auto simulator = start_simulator();
  const std::string of_other = run_live(simulator, other)["run_id"];
  expect_refusal(run_sluice(forced), "has no finished run of ");
  expect_refusal(run_sluice(forced + Flags{"--run-id", of_other}), "/other, not of ");
  expect_refusal(run_sluice(forced + Flags{"--run-id", "zzz"}), "has no run \"zzz\"");
  run_live(simulator, fixtures, {"--max-fixtures", "1"});
  expect_refusal(run_sluice(forced), "was of some cases alone");
  EXPECT_EQ(read_text(manifest), manifest_before);
}

TEST_F(BaselineCommands, MockRunsPinNothing) {
  const auto fixtures = suite();
  const auto manifest = fixtures / "manifest.toml";
  write_text(manifest, manifest_before);
  const Flags forced = on(fixtures, {"update-baseline", "--force"});
  const auto mock = [&] {
    const auto finished = run_sluice(on(fixtures, {"run", "--mode", "mock", "--format", "json"}));
    const auto report = parse_report(finished.output);
    return report.is_object() ? report["run_id"].get<std::string>() : finished.errors;
  };
  mock();
  expect_refusal(run_sluice(forced), "was in mode mock, whose answers no model gave");
  const auto simulator = start_simulator();
  run_live(simulator, fixtures);
  const std::string newest = mock();
  expect_refusal(run_sluice(forced + Flags{"--run-id", newest}), "was in mode mock");
  EXPECT_EQ(read_text(manifest), manifest_before);
  EXPECT_EQ(run_sluice(forced).exit_code, 0) << "the newest run that is no mock";
  EXPECT_TRUE(has(read_text(manifest), "model = \"sim-1\"")) << read_text(manifest);
}

TEST_F(BaselineCommands, RunsWithErrorsNeedAWord) {
  const auto fixtures = suite();
  const auto manifest = fixtures / "manifest.toml";
  write_text(manifest, manifest_before);
  const auto simulator = start_simulator({R"({"status": 400, "times": 1})"}, {});
  const auto report = run_live(simulator, fixtures);
  ASSERT_EQ(report["metrics"]["errors"], 1) << report["metrics"].dump();
  const Flags forced = on(fixtures, {"update-baseline", "--force"});
  expect_refusal(run_sluice(forced), "has 1 case error, which its scores leave out");
  EXPECT_EQ(read_text(manifest), manifest_before);
  EXPECT_EQ(run_sluice(forced + Flags{"--allow-errors"}).exit_code, 0);
  EXPECT_NE(read_text(manifest), manifest_before);
}

TEST_F(BaselineCommands, AManifestThatCannotBeEditedStaysAsItIs) {
  const auto fixtures = suite();
  const auto manifest = fixtures / "manifest.toml";
  const auto simulator = start_simulator();
  run_live(simulator, fixtures);
  const std::string text = "baseline = {\n  f1 = 0.5 # why\n}\n";
  write_text(manifest, text);
  expect_refusal(run_sluice(on(fixtures, {"update-baseline", "--force"})),
                 "manifest.toml: only a plain [baseline] table with a key a line is edited; write by hand");
  EXPECT_EQ(read_text(manifest), text);
}

TEST_F(BaselineCommands, RunsListAndShow) {
  const auto empty = run_sluice({"runs", "list"});
  EXPECT_EQ(empty.exit_code, 0) << empty.errors;
  EXPECT_EQ(empty.output, "No run is recorded yet; `sluice run` records one.\n");
  EXPECT_FALSE(std::filesystem::exists(home() / "ledger.db")) << "reading makes nothing";
  const auto nowhere = run_sluice({"runs", "list", "--home", (folder() / "nowhere").string()});
  EXPECT_EQ(nowhere.exit_code, 0) << nowhere.errors;
  EXPECT_NE(nowhere.errors.find("there is no home "), std::string::npos) << nowhere.errors;
  EXPECT_EQ(run_sluice({"runs", "list", "--format", "json"}).output, "[]\n");
  expect_refusal(run_sluice({"runs", "show", "1"}), "no run is recorded yet");

  const auto fixtures = suite("a_folder_of_fixtures_with_a_long_name");
  const auto simulator = start_simulator();
  const std::string first = run_live(simulator, fixtures)["run_id"];
  const auto report = run_live(simulator, fixtures, {"--max-fixtures", "1"});
  const std::string second = report["run_id"];

  const auto listed = run_sluice({"runs", "list"});
  EXPECT_EQ(listed.exit_code, 0) << listed.errors;
  const auto newest = listed.output.find(second.substr(0, 8));
  ASSERT_NE(newest, std::string::npos) << listed.output;
  EXPECT_LT(newest, listed.output.find(first.substr(0, 8)));
  EXPECT_FALSE(has(listed.output, "\x1b"));
  std::istringstream lines(listed.output);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(characters_of(line), 80) << line;
  EXPECT_FALSE(has(run_sluice({"runs", "list", "--limit", "1"}).output, first.substr(0, 8)));

  const auto all = nlohmann::json::parse(run_sluice({"runs", "list", "--format", "json"}).output);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["run_id"], second);
  EXPECT_EQ(all[0]["selection"], true);
  const std::string started = all[0]["started_at"];
  // The suite's long name leaves no room for the year.
  const std::string minute = started.substr(5, 5) + " " + started.substr(11, 5);
  EXPECT_TRUE(has(listed.output, second.substr(0, 8) + " " + minute + " ")) << listed.output;
  EXPECT_EQ(all[0]["recall"], report["metrics"]["recall"]);
  EXPECT_EQ(all[0]["verdict"], report["verdict"]);

  const auto shown = run_sluice({"runs", "show", second.substr(0, 8)});
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  EXPECT_TRUE(has(shown.output, second)) << shown.output;
  EXPECT_TRUE(has(shown.output, "sim-1 (openai)")) << shown.output;
  const auto one = nlohmann::json::parse(run_sluice({"runs", "show", second, "--format", "json"}).output);
  EXPECT_EQ(one, all[0]);
  expect_refusal(run_sluice({"runs", "show", "zz"}), "has no run \"zz\"");
}

TEST_F(BaselineCommands, RunsPruneRemovesOldRunsButThatOfTheBaseline) {
  const auto nothing = run_sluice({"runs", "prune", "--keep", "1"});
  EXPECT_EQ(nothing.exit_code, 0) << nothing.errors;
  EXPECT_TRUE(has(nothing.output, "removed 0 runs with 0 results, 0 runs left")) << nothing.output;
  EXPECT_FALSE(std::filesystem::exists(home() / "ledger.db")) << "removing makes nothing";

  const auto fixtures = suite();
  const auto simulator = start_simulator();
  const std::string pinned = run_live(simulator, fixtures)["run_id"];
  const auto updated = run_sluice(on(fixtures, {"update-baseline", "--force"}));
  ASSERT_EQ(updated.exit_code, 0) << updated.errors;
  const std::string old = run_live(simulator, fixtures, {"--max-fixtures", "1"})["run_id"];
  const std::string newest = run_live(simulator, fixtures, {"--max-fixtures", "1"})["run_id"];

  const auto counted = run_sluice({"runs", "prune", "--keep", "1", "--dry-run"});
  EXPECT_TRUE(has(counted.output, "would remove 1 run with 1 result, 2 runs left; 1 stays, being"))
      << counted.output;
  EXPECT_TRUE(has(run_sluice({"runs", "list"}).output, old.substr(0, 8)));
  const auto young = run_sluice({"runs", "prune", "--older-than", "1h", "--keep", "1"});
  EXPECT_TRUE(has(young.output, "removed 0 runs")) << young.output;

  const auto pruned = run_sluice({"runs", "prune", "--keep", "1"});
  EXPECT_EQ(pruned.exit_code, 0) << pruned.errors;
  EXPECT_TRUE(has(pruned.output, "removed 1 run with 1 result, 2 runs left; 1 stays, being"))
      << pruned.output;
  EXPECT_TRUE(has(pruned.output, " bytes after\n")) << pruned.output;
  const auto left = run_sluice({"runs", "list"}).output;
  EXPECT_TRUE(has(left, newest.substr(0, 8))) << left;
  EXPECT_TRUE(has(left, pinned.substr(0, 8))) << left;
  EXPECT_FALSE(has(left, old.substr(0, 8))) << left;
  // The answers are where they were.
  EXPECT_EQ(run_sluice(with(cached(simulator), "--fixtures", fixtures.string())).exit_code,
            run_sluice(with(live(simulator), "--fixtures", fixtures.string())).exit_code);
}

TEST_F(BaselineCommands, WhatARunWasOfIsTheSameForTheSameRunAlone) {
  const auto fixtures = suite();
  const auto simulator = start_simulator();
  run_live(simulator, fixtures);
  run_live(simulator, fixtures);
  run_live(simulator, fixtures, {"--max-fixtures", "1"});
  run_live(simulator, fixtures, {"--temperature", "0.5"});
  const auto runs = nlohmann::json::parse(run_sluice({"runs", "list", "--format", "json"}).output);
  ASSERT_EQ(runs.size(), 4u);
  const auto& [warmer, first_case, again, first] = std::tie(runs[0], runs[1], runs[2], runs[3]);
  EXPECT_EQ(again["plan_identity"], first["plan_identity"]);
  EXPECT_EQ(again["config_fingerprint"], first["config_fingerprint"]);
  EXPECT_TRUE(std::string(first["plan_identity"]).starts_with("sha256:"));
  EXPECT_NE(first_case["plan_identity"], first["plan_identity"]);
  EXPECT_NE(warmer["plan_identity"], first["plan_identity"]);
  EXPECT_NE(warmer["config_fingerprint"], first["config_fingerprint"]);
}

TEST_F(BaselineCommands, WrongUsageIsRefusedInOneSentence) {
  expect_refusal(run_sluice({"runs", "prune"}), "needs --older-than AGE, --keep N or both");
  expect_refusal(run_sluice({"runs", "prune", "--older-than", "3"}), "--older-than \"3\" is no age; give");
  expect_refusal(run_sluice({"runs", "prune", "--keep", "0"}), "--keep must be a whole number from 1");
  expect_refusal(run_sluice({"runs", "lst"}), "did you mean \"list\"?");
  expect_refusal(run_sluice({"runs", "list", "--limit", "0"}), "--limit must be a whole number from 1");
  expect_refusal(run_sluice({"runs", "list", "--format", "jsn"}), "did you mean \"json\"?");
  expect_refusal(run_sluice({"runs", "show"}), "ID is required");
  expect_refusal(run_sluice({"update-baseline", "--forse"}), "did you mean \"--force\"?");
  expect_refusal(run_sluice({"update-basline"}), "did you mean \"update-baseline\"?");
}

TEST_F(BaselineCommands, ALedgerOfAnotherVersionIsNamed) {
  const auto fixtures = suite();
  const auto simulator = start_simulator();
  run_live(simulator, fixtures);
  {
    // The user_version is the big-endian number at byte 60 of the file's header.
    std::fstream ledger(home() / "ledger.db", std::ios::in | std::ios::out | std::ios::binary);
    ledger.seekp(63);
    ledger.put(99);
  }
  expect_refusal(
      run_sluice({"runs", "list"}),
      "ledger.db has version 99, and this sluice knows versions up to 15: a newer sluice wrote it");
}

}  // namespace
}  // namespace sluice
