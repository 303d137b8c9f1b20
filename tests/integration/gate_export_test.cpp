// What exporting, gating and ordering must have in common, and the gate on a manifest's aggregates
// (docs/baselines.md, docs/gate.md).

#include "tests/integration/gate_workbench.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>

namespace sluice {
namespace {

using namespace support;

class GateExport : public GateWorkbench {
 protected:
  std::filesystem::path file(const std::string& name) const { return folder() / name; }

  Finished export_to(const std::filesystem::path& suite_file, const std::string& name,
                     const Flags& flags = {}) {
    return run_sluice(run_of(suite_file) + Flags{"--export-baseline", file(name).string()} + flags);
  }

  static void expect_refusal(const Finished& finished, const std::vector<std::string>& words) {
    EXPECT_EQ(finished.exit_code, 2) << finished.errors;
    ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
    for (const auto& word : words) {
      EXPECT_NE(finished.errors.find(word), std::string::npos) << word << " in: " << finished.errors;
    }
  }

  // Everything that has a score, and something that has none.
  static std::string mixed_suite() {
    return suite("max_drop: 0.05", recall_test("q_1", 17, 20) + claims_test("q_2", "claims_f1", 41, 50) +
                                       claims_test("q_3", "claims_precision", 0, 1) +
                                       greeting_test("q_4", "type: exact_match, text: Good morning") +
                                       similarity_test("q_5"));
  }
  static std::string similarity_test(const std::string& id) {
    return greeting_test(id, "type: semantic_similarity_to, text: Good evening");
  }
};

TEST_F(GateExport, ARunPassesAgainstItself) {
  const auto suite_file = write_suite(mixed_suite());
  const auto exported = export_to(suite_file, "baseline.json");
  EXPECT_EQ(exported.exit_code, 0) << exported.errors;
  const auto baseline = Json::parse(read_text(file("baseline.json")), nullptr, false);
  ASSERT_TRUE(baseline.is_object());
  EXPECT_EQ(baseline["schema_version"], 2);
  EXPECT_EQ(baseline["suite"], "demo_suite");
  EXPECT_EQ(baseline["assay_version"], SLUICE_VERSION);
  std::vector<std::string> entries;
  for (const auto& entry : baseline["entries"]) {
    entries.push_back(entry["test_id"].get<std::string>() + " " + entry["metric"].get<std::string>());
  }
  const std::vector<std::string> expected{"q_1 claims_recall", "q_2 claims_f1", "q_4 exact_match",
                                          "q_5 semantic_similarity_to"};
  EXPECT_EQ(entries, expected) << "an undefined score is none to pin";
  EXPECT_EQ(baseline["entries"][0]["score"], 0.85);
  EXPECT_NE(read_text(file("baseline.json")).find("0.85,"), std::string::npos) << "the shortest form";

  const auto gated = gate(suite_file, file("baseline.json"), {"--strict"});
  EXPECT_EQ(gated.exit_code, 0) << gated.errors << gated.output;
  EXPECT_EQ(parse_report(gated.output)["verdict"], "pass");
}

// Without a provider: the embedder that is built in, and answers that are nobody's.
TEST_F(GateExport, ARunOfNothingButMockAnswersPassesAgainstItself) {
  const auto suite_file = write_suite(
      "suite: offline\nsettings: {embedding_model: lexical-ngrams-v1}\ntests:\n" + similarity_test("q_1"));
  const Flags mock{"run", suite_file.string(), "--mode", "mock", "--format", "json"};
  const auto exported = run_sluice(mock + Flags{"--export-baseline", file("baseline.json").string()});
  EXPECT_EQ(exported.exit_code, 0) << exported.errors;
  EXPECT_NE(read_text(file("baseline.json")).find("lexical-ngrams-v1"), std::string::npos);
  const auto gated = run_sluice(mock + Flags{"--baseline", file("baseline.json").string(), "--strict"});
  EXPECT_EQ(gated.exit_code, 0) << gated.errors;
}

TEST_F(GateExport, AnUnchangedBaselineIsAnUnchangedFile) {
  const auto suite_file = write_suite(mixed_suite());
  EXPECT_EQ(export_to(suite_file, "baseline.json").exit_code, 0);
  const auto first = read_text(file("baseline.json"));
  EXPECT_EQ(export_to(suite_file, "baseline.json").exit_code, 0);
  EXPECT_EQ(read_text(file("baseline.json")), first);

  auto edited = Json::parse(first);
  edited["entries"][0]["score"] = 0.5;
  edited["created_at"] = "2020-01-01T00:00:00Z";
  write_text(file("baseline.json"), edited.dump());
  EXPECT_EQ(export_to(suite_file, "baseline.json").exit_code, 0);
  const auto renewed = Json::parse(read_text(file("baseline.json")));
  EXPECT_EQ(renewed["entries"], Json::parse(first)["entries"]);
  EXPECT_NE(renewed["created_at"], "2020-01-01T00:00:00Z") << "other scores, another date";
}

TEST_F(GateExport, ComparingAndOverwritingInOneGoIsRefused) {
  const auto suite_file = write_suite(mixed_suite());
  EXPECT_EQ(export_to(suite_file, "baseline.json").exit_code, 0);
  const auto before = read_text(file("baseline.json"));
  for (const auto* name : {"baseline.json", "other.json"}) {
    const auto finished = gate(suite_file, file("baseline.json"), {"--export-baseline", file(name).string()});
    expect_refusal(finished, {"--baseline", "--export-baseline"});
    EXPECT_EQ(finished.output, "");
  }
  EXPECT_EQ(read_text(file("baseline.json")), before);
  EXPECT_FALSE(std::filesystem::exists(file("other.json")));
}

TEST_F(GateExport, APartOfASuiteIsNotPinnedAsTheWhole) {
  const auto suite_file = write_suite(suite("", recall_test("q_1", 17, 20) + recall_test("q_2", 17, 20)));
  EXPECT_EQ(export_to(suite_file, "baseline.json").exit_code, 0);
  const auto before = read_text(file("baseline.json"));
  for (const Flags& some : {Flags{"--max-fixtures", "1"}, Flags{"--categories", "tests"}}) {
    expect_refusal(export_to(suite_file, "baseline.json", some), {"--export-baseline", some[0]});
  }
  EXPECT_EQ(read_text(file("baseline.json")), before);
}

TEST_F(GateExport, ARunOfNoCasesPinsNothing) {
  write_text(file("tests.jsonl"), "\n");
  const auto suite_file =
      write_suite("suite: demo_suite\nmodel: sim-1\nsettings: {provider: openai}\ntests_file: tests.jsonl\n");
  write_text(file("baseline.json"), "as it was");
  const auto finished = export_to(suite_file, "baseline.json");
  EXPECT_EQ(finished.exit_code, 2) << finished.errors;
  ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
  EXPECT_NE(finished.errors.find("names no test"), std::string::npos) << finished.errors;
  EXPECT_EQ(read_text(file("baseline.json")), "as it was");
}

TEST_F(GateExport, NeitherSuiteNorManifestIsOverwritten) {
  const auto text = suite("", recall_test("q_1", 17, 20));
  const auto suite_file = write_suite(text);
  expect_refusal(export_to(suite_file, "./suite.yaml"), {"--export-baseline", "suite.yaml"});
  expect_refusal(run_sluice(run_of(suite_file) + Flags{"--report", "junit=" + suite_file.string()}),
                 {"the suite", "suite.yaml"});
  EXPECT_EQ(read_text(suite_file), text);
  expect_refusal(export_to(suite_file, "manifest.toml"), {"manifest.toml", "sluice update-baseline"});
  EXPECT_FALSE(std::filesystem::exists(file("manifest.toml")));
}

TEST_F(GateExport, NothingThatTheRunReadsOrKeepsIsOverwritten) {
  write_text(file("prompt.txt"), "Hello?");
  write_text(file("schema.json"), R"({"type": "object"})");
  write_text(file("more.jsonl"),
             R"({"id": "m", "input": {"prompt": "p"}, "expected": {"type": "exact_match", "text": "x"}})"
             "\n");
  const auto suite_file = write_suite(
      "suite: demo_suite\nmodel: sim-1\nsettings: {provider: openai}\ntests_file: more.jsonl\ntests:\n"
      "- id: a\n  input: {file: prompt.txt}\n  expected: {type: json_schema, schema: schema.json}\n");
  write_text(file("other.toml"), "a = 1\n");
  for (const std::string name : {"prompt.txt", "schema.json", "more.jsonl", "other.toml"}) {
    const auto before = read_text(file(name));
    expect_refusal(run_sluice(run_of(suite_file) + Flags{"--report", "json=" + file(name).string()}),
                   {"the report would write over", name});
    EXPECT_EQ(read_text(file(name)), before);
  }
  expect_refusal(export_to(suite_file, "more.jsonl"), {"the baseline would write over a file of the suite"});
  expect_refusal(run_sluice(run_of(suite_file) + Flags{"--output", (home() / "ledger.db").string()}),
                 {"the run ledger", "ledger.db"});
  expect_refusal(run_sluice(run_of(suite_file) + Flags{"--output", (home() / "cache" / "x").string()}),
                 {"a file of the answer cache"});
}

TEST_F(GateExport, ARunWithErrorsExportsOnlyWithAllowErrors) {
  const auto suite_file = write_suite(suite("", refused_test("q_1") + recall_test("q_2", 17, 20)));
  write_text(file("baseline.json"), "as it was");
  const auto refused = export_to(suite_file, "baseline.json");
  EXPECT_EQ(refused.exit_code, 1) << "that of the run: " << refused.errors;
  ASSERT_EQ(refused.error_lines().size(), 1u) << refused.errors;
  for (const auto* word : {"baseline.json", "error", "--allow-errors"}) {
    EXPECT_NE(refused.error_lines()[0].find(word), std::string::npos) << word << " in: " << refused.errors;
  }
  EXPECT_EQ(read_text(file("baseline.json")), "as it was");

  EXPECT_EQ(export_to(suite_file, "baseline.json", {"--allow-errors"}).exit_code, 1) << "the error stays one";
  const auto baseline = Json::parse(read_text(file("baseline.json")), nullptr, false);
  ASSERT_TRUE(baseline.is_object());
  EXPECT_EQ(baseline["entries"].size(), 1u);
  EXPECT_EQ(baseline["entries"][0]["test_id"], "q_2");
}

TEST_F(GateExport, AFailedTestIsNoErrorAndIsPinned) {
  const auto suite_file = write_suite(suite("min_floor: 0.9", recall_test("q_1", 17, 20)));
  EXPECT_EQ(export_to(suite_file, "baseline.json").exit_code, 1);
  EXPECT_EQ(Json::parse(read_text(file("baseline.json")))["entries"].size(), 1u);
}

TEST_F(GateExport, OrderChangesNothing) {
  const auto q_1 = recall_test("q_1", 17, 20);
  const auto q_2 = claims_test("q_2", "claims_f1", 41, 50);
  const auto q_3 = recall_test("q_3", 3, 4);
  const auto forward = write_suite(suite("max_drop: 0.05", q_1 + q_2 + q_3));
  const auto backward =
      write_suite("# The other way round.\n" + suite("max_drop: 0.05", q_3 + q_2 + q_1), "other/suite.yaml");
  EXPECT_EQ(export_to(forward, "baseline.json").exit_code, 0);
  const auto baseline = read_text(file("baseline.json"));
  EXPECT_EQ(export_to(backward, "baseline.json").exit_code, 0);
  EXPECT_EQ(read_text(file("baseline.json")), baseline) << "same tests, same fingerprint, same file";

  auto lowered = Json::parse(baseline);
  lowered["entries"][0]["score"] = 0.95;
  write_text(file("baseline.json"), lowered.dump());
  const auto first = gate(forward, file("baseline.json"));
  EXPECT_EQ(first.exit_code, 1) << first.errors;
  const auto reference = comparable_part(first.output);
  EXPECT_NE(reference, "");
  EXPECT_EQ(comparable_part(gate(backward, file("baseline.json")).output), reference);
  std::ranges::reverse(lowered["entries"]);
  write_text(file("baseline.json"), lowered.dump());
  EXPECT_EQ(comparable_part(gate(forward, file("baseline.json")).output), reference);
}

TEST_F(GateExport, LineEndsOfPromptAndOntologyChangeNothing) {
  const auto suite_file = write_suite(suite("", recall_test("q_1", 17, 20)));
  const auto prompt = read_text(support::source_path("config/prompts/claims.toml"));
  const auto ontology = read_text(support::source_path("config/ontology.toml"));
  const auto fingerprint_with = [&](const std::string& line_end) {
    const auto ended = [&](const std::string& text) {
      std::string result;
      for (const char c : text) result += c == '\n' ? line_end : std::string(1, c);
      return result;
    };
    write_text(file("prompt.toml"), ended(prompt));
    write_text(file("ontology.toml"), ended(ontology));
    const Flags files{"--prompt", file("prompt.toml").string(), "--ontology", file("ontology.toml").string()};
    EXPECT_EQ(export_to(suite_file, "baseline.json", files).exit_code, 0);
    return Json::parse(read_text(file("baseline.json")))["config_fingerprint"];
  };
  EXPECT_EQ(fingerprint_with("\n"), fingerprint_with("\r\n"));
}

// --- A manifest's aggregates: precision 1, recall 17/20, F1 34/37 ---

class GateManifest : public GateWorkbench {
 protected:
  struct Row {
    const char* name;
    std::string baseline;  ///< The [baseline] table's keys.
    Flags flags;
    int exit_code;
    std::string verdict;
    bool has_regression;
  };

  void expect(const Row& row) {
    SCOPED_TRACE(row.name);
    write_text(folder() / "fixtures" / "q_1.toml", fixture("q_1"));
    const auto manifest = folder() / "fixtures" / "manifest.toml";
    write_text(manifest, "[baseline]\n" + row.baseline + "\n");
    const auto finished =
        gate(folder() / "fixtures", manifest, Flags{"--provider", "openai", "--model", "sim-1"} + row.flags);
    EXPECT_EQ(finished.exit_code, row.exit_code) << finished.errors;
    const auto report = parse_report(finished.output);
    ASSERT_TRUE(report.is_object()) << finished.errors;
    EXPECT_EQ(schema_findings(report), "");
    EXPECT_EQ(report["verdict"], row.verdict);
    const auto comparison = report["baseline_comparison"];
    ASSERT_TRUE(comparison.is_object()) << report["baseline_comparison"];
    EXPECT_EQ(comparison["has_regression"], row.has_regression);
    for (const auto* key : {"precision_delta", "recall_delta", "f1_delta", "regression_threshold"}) {
      EXPECT_TRUE(comparison.contains(key)) << key;
    }
  }
};

TEST_F(GateManifest, Aggregates) {
  const std::string same = "precision = 1.0\nrecall = 0.85\nf1 = 0.918";
  const std::string others = "precision = 1.0\nf1 = 0.918\n";
  const std::string within = others + "recall = 0.88";
  const std::string exactly = others + "recall = 0.90";
  const std::string beyond = others + "recall = 0.91";
  const std::string incomplete = "precision = 1.0\nf1 = 0.918";
  const Flags fail{"--fail-on-regression"};
  const Flags strict{"--strict"};
  const std::vector<Row> rows{
      {"no drop", same, {}, 0, "pass", false},
      {"no drop, strict", same, fail + strict, 0, "pass", false},
      {"within the limit", within, {}, 0, "review", false},
      {"within the limit, --fail-on-regression", within, fail, 0, "review", false},
      {"within the limit, strict", within, strict, 1, "review", false},
      {"exactly the limit", exactly, fail, 0, "review", false},
      {"beyond the limit, and nobody asked", beyond, {}, 0, "regression", true},
      {"beyond the limit", beyond, fail, 1, "regression", true},
      {"beyond the limit, strict", beyond, strict, 1, "regression", true},
      {"a wider limit", beyond, fail + Flags{"--threshold", "0.06"}, 0, "review", false},
      {"a narrower limit", within, fail + Flags{"--threshold", "0.02"}, 1, "regression", true},
      {"an aggregate is missing", incomplete, fail, 0, "review", false},
      {"an aggregate is missing, strict", incomplete, strict, 1, "fail", false},
      {"another aggregate", "precision = 1.0\nf1 = 0.99", fail, 1, "regression", true},
  };
  for (const auto& row : rows) expect(row);
}

// No aggregate knows of them, so that nothing else would say that they failed.
TEST_F(GateManifest, AFailedTextFailsTheRunAndAFailedClaimsCaseDoesNot) {
  write_text(folder() / "fixtures" / "q_1.toml", fixture("q_1"));
  const auto manifest = folder() / "fixtures" / "manifest.toml";
  write_text(manifest, "[baseline]\nprecision = 1.0\nrecall = 0.85\nf1 = 0.918\n");
  const auto outcome = [&](const std::string& text) {
    const auto suite_file = write_suite("fixtures: fixtures\n" +
                                        suite("", greeting_test("t_1", "type: must_contain, text: " + text)));
    const auto finished = gate(suite_file, manifest);
    return std::pair(finished.exit_code, parse_report(finished.output).value("verdict", finished.errors));
  };
  EXPECT_EQ(outcome("morning"), (std::pair<std::optional<ExitCode>, std::string>(0, "pass")));
  EXPECT_EQ(outcome("evening"), (std::pair<std::optional<ExitCode>, std::string>(1, "fail")));
}

TEST_F(GateManifest, NoBaselineTable) {
  write_text(folder() / "fixtures" / "q_1.toml", fixture("q_1"));
  const auto manifest = folder() / "fixtures" / "manifest.toml";
  for (const char* text : {"[corpus]\nversion = \"1\"\n", "[baseline]\n", "[baseline]\nmodel = \"m\"\n"}) {
    write_text(manifest, text);
    const auto finished = gate(folder() / "fixtures", manifest, {"--provider", "openai", "--model", "sim-1"});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_EQ(finished.output, "");
    ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
    EXPECT_NE(finished.errors.find("manifest.toml: there is no [baseline] table with"), std::string::npos)
        << finished.errors;
    EXPECT_NE(finished.errors.find("sluice update-baseline"), std::string::npos) << finished.errors;
  }
}

// What a manifest pins is of all cases: beside a part of them it would give false verdicts.
TEST_F(GateManifest, ASelectionIsRefused) {
  write_text(folder() / "fixtures" / "q_1.toml", fixture("q_1"));
  const auto manifest = folder() / "fixtures" / "manifest.toml";
  write_text(manifest, "[baseline]\nprecision = 1.0\nrecall = 0.85\nf1 = 0.918\n");
  for (const Flags& selection : {Flags{"--max-fixtures", "1"}, Flags{"--categories", "demo"}}) {
    const auto finished =
        gate(folder() / "fixtures", manifest, Flags{"--provider", "openai", "--model", "sim-1"} + selection);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_EQ(finished.output, "");
    ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
    EXPECT_NE(finished.errors.find("leave the selection out, or gate against a file of --export-baseline"),
              std::string::npos)
        << finished.errors;
  }
}

}  // namespace
}  // namespace sluice
