// Whether a baseline belongs to what is compared with it (docs/baselines.md, "Compatibility").

#include "tests/integration/gate_workbench.hpp"

namespace sluice {
namespace {

using namespace support;

class BaselineIdentity : public GateWorkbench {
 protected:
  std::filesystem::path write_folder(const std::string& name, const std::string& id) {
    std::filesystem::create_directories(folder() / name);
    write_text(folder() / name / (id + ".toml"), fixture(id));
    return folder() / name;
  }
  static Flags run_in(const std::string& mode, const std::filesystem::path& suite, const Flags& flags = {}) {
    return Flags{"run",     suite.string(), "--mode",   mode,   "--provider", "openai",
                 "--model", "sim-1",        "--format", "json", "--quiet"} +
           flags;
  }
  /// Its cases fail, three of whose claims are missing; the scores are pinned all the same.
  void export_scores(const std::filesystem::path& suite, const std::string& file) {
    std::filesystem::remove(folder() / file);
    const auto finished = run_sluice(run_in("live", suite, {"--export-baseline", file}));
    EXPECT_EQ(finished.exit_code, 1) << finished.errors;
    ASSERT_TRUE(std::filesystem::exists(folder() / file)) << finished.errors;
  }
  void expect_refusal(const Finished& finished, const std::string& phrase) {
    EXPECT_EQ(finished.exit_code, 2) << finished.output;
    ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
    EXPECT_NE(finished.errors.find(phrase), std::string::npos) << finished.errors;
  }
};

TEST_F(BaselineIdentity, FoldersOfOneNameAreNotOneSuite) {
  const auto first = write_folder("s1/fix", "q_1");
  const auto second = write_folder("s2/fix", "q_2");
  export_scores(second, "s2.json");
  expect_refusal(run_sluice(run_in("live", first, {"--baseline", "s2.json"})),
                 "`s2.json` shares no case with this run");

  // In a checkout the path below it tells them apart, whatever the ids.
  std::filesystem::create_directory(folder() / ".git");
  write_folder("s2/fix", "q_1");
  export_scores(second, "s2.json");
  EXPECT_EQ(Json::parse(read_text(folder() / "s2.json"))["suite_path"], "s2/fix");
  expect_refusal(
      run_sluice(run_in("live", first, {"--baseline", "s2.json"})),
      "`s2.json` is a baseline of the suite `fix` in `s2/fix`, but this run is of `fix` in `s1/fix`");
  EXPECT_EQ(run_sluice(run_in("live", second, {"--baseline", "s2.json", "--strict"})).exit_code, 0);
}

TEST_F(BaselineIdentity, ABaselineOfAMockRunIsRefusedForALiveOne) {
  const auto suite = write_folder("fix", "q_1");
  ASSERT_TRUE(run_sluice(run_in("mock", suite, {"--export-baseline", "mock.json"})).exit_code.has_value());
  EXPECT_EQ(Json::parse(read_text(folder() / "mock.json"))["mode"], "mock");
  expect_refusal(run_sluice(run_in("live", suite, {"--baseline", "mock.json"})),
                 "`mock.json` has the scores of a mock run, whose answers no model gave");
  EXPECT_NE(run_sluice(run_in("mock", suite, {"--baseline", "mock.json"})).exit_code, 2);
}

TEST_F(BaselineIdentity, AMissingBaselineNamesTheCommandThatMakesOne) {
  const auto suite = write_folder("fix", "q_1").string();
  expect_refusal(run_sluice(run_in("live", suite, {"--baseline", "none.json"})),
                 "none.json: cannot be read: there is no such file; write it with `sluice run " + suite +
                     " --mode live --model sim-1 --provider openai --export-baseline none.json`");
  // A run out of the caches alone ends in exit code 2 again where they lack an answer.
  for (const char* mode : {"mock", "cached"}) {
    expect_refusal(run_sluice(run_in(mode, suite, {"--baseline", "none.json"})),
                   "write it with `sluice run " + suite +
                       " --model sim-1 --provider openai --mode live --export-baseline none.json`");
  }
  expect_refusal(run_sluice(run_in("live", suite, {"--baseline", "none.toml"})),
                 "none.toml: cannot be read: there is no such file; after a run without --baseline `sluice "
                 "update-baseline "
                 "--force` writes one");
}

TEST_F(BaselineIdentity, AManifestOfAnotherModelOrPromptWarnsAndFailsUnderStrict) {
  const auto suite = write_folder("fix", "q_1");
  const auto with_manifest = [&](const std::string& keys, const Flags& flags) {
    write_text(folder() / "base.toml", "[baseline]\nrecall = 0.85\n" + keys);
    const auto finished = run_sluice(run_in("live", suite, Flags{"--baseline", "base.toml"} + flags));
    std::string codes;
    const auto report = parse_report(finished.output);
    for (const auto& notice : report["baseline_comparison"]["notices"])
      codes += std::string(notice["code"]) + " ";
    return std::to_string(finished.exit_code.value_or(-1)) + " " + std::string(report["verdict"]) + " " +
           codes;
  };
  const std::string lacks = "missing_aggregates ";
  EXPECT_EQ(with_manifest("model = \"sim-1\"\n", {}), "0 review " + lacks);
  EXPECT_EQ(with_manifest("model = \"sim-2\"\n", {}), "0 review model_mismatch " + lacks);
  EXPECT_EQ(with_manifest("prompt_version = \"0.0.1\"\n", {}), "0 review prompt_mismatch " + lacks);
  EXPECT_EQ(with_manifest("model = \"sim-2\"\nprecision = 1.0\nf1 = 0.9189\n", {"--strict"}),
            "1 fail model_mismatch ");
  EXPECT_EQ(with_manifest("model = \"sim-1\"\nprecision = 1.0\nf1 = 0.9189\n", {"--strict"}), "0 pass ");
  const std::string whole = "precision = 1.0\nf1 = 0.9189\n";
  EXPECT_EQ(with_manifest(whole + "[corpus]\ntotal_fixtures = 1\n", {"--strict"}), "0 pass ");
  EXPECT_EQ(with_manifest(whole + "[corpus]\ntotal_fixtures = 61\n", {}), "0 review corpus_mismatch ");
  EXPECT_EQ(with_manifest(whole + "[corpus]\ntotal_fixtures = 61\n", {"--strict"}),
            "1 fail corpus_mismatch ");
}

TEST_F(BaselineIdentity, AManifestGateNamesTheFixturesThatChangedSinceItsRun) {
  const auto few_claims = [](std::string text) {
    const std::string all = "Recall 17 of 20.";
    return text.replace(text.find(all), all.size(), "Recall 3 of 4.");
  };
  const auto suite = write_folder("fix", "q_1");
  write_text(suite / "q_2.toml", few_claims(fixture("q_2")));
  write_text(suite / "q_3.toml", fixture("q_3"));
  ASSERT_EQ(run_sluice(run_in("live", suite)).exit_code, 1) << "claims are missing";
  const auto updated = run_sluice({"update-baseline", "--force", "--fixtures", suite.string()});
  ASSERT_EQ(updated.exit_code, 0) << updated.errors;

  const auto manifest = (suite / "manifest.toml").string();
  const auto notices = [&] {
    const auto finished = run_sluice(run_in("live", suite, {"--baseline", manifest}));
    std::string messages;
    const auto report = parse_report(finished.output);
    for (const auto& notice : report["baseline_comparison"]["notices"]) {
      if (notice["code"] == "fixtures_changed") messages += notice["message"];
    }
    return messages;
  };
  write_text(suite / "q_1.toml", few_claims(fixture("q_1")));
  write_text(suite / "q_2.toml", fixture("q_2"));
  const auto changed = notices();
  EXPECT_TRUE(changed.starts_with("since run ")) << changed;
  EXPECT_TRUE(changed.ends_with("`" + manifest +
                                "` was made of, 1 of 3 fixtures got worse in F1 (`q_1` 0.92 -> 0.26), and 1 "
                                "better (`q_2` 0.26 -> 0.92)."))
      << changed;
  std::filesystem::remove(home() / "ledger.db");
  EXPECT_EQ(notices(), "") << "the ledger does not know that run any more";
}

TEST_F(BaselineIdentity, ComparedFilesThatShareNoCaseAreRefused) {
  const auto first = write_folder("s1/fix", "q_1");
  const auto second = write_folder("s2/fix", "q_2");
  export_scores(first, "s1.json");
  export_scores(second, "s2.json");
  expect_refusal(run_sluice({"compare", "s1.json", "s2.json"}), "`s1.json` shares no case with `s2.json`");
}

}  // namespace
}  // namespace sluice
