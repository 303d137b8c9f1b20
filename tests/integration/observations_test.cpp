// Observations: what the file says of a run, and who may fail without it.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

namespace sluice::observations_test {

using namespace support;
using nlohmann::json;
namespace fs = std::filesystem;

class Observations : public Workbench {
 protected:
  fs::path database() const { return home() / "observations.db"; }

  /// What the plain sqlite3 program says; a line a row, columns parted by bars.
  std::string sql(const std::string& query) const {
    const auto file = folder() / "query.sql";
    std::ofstream(file) << query << ";\n";
    FILE* pipe =
        ::popen(("sqlite3 '" + database().string() + "' < '" + file.string() + "' 2>&1").c_str(), "r");
    std::string answer;
    std::array<char, 4096> buffer{};
    while (const auto size = std::fread(buffer.data(), 1, buffer.size(), pipe))
      answer.append(buffer.data(), size);
    EXPECT_EQ(::pclose(pipe), 0) << query << answer;
    if (answer.ends_with('\n')) answer.pop_back();
    return answer;
  }

  /// Cases that pass, fail, are refused and cannot be read.
  fs::path claims_folder() const {
    const auto suite = folder() / "suite";
    fs::create_directories(suite);
    const auto write = [&](const std::string& id, const std::string& content) {
      std::ofstream(suite / (id + ".toml"))
          << "[metadata]\nid = \"" << id
          << "\"\ncategory = \"tls\"\nlanguage = \"python\"\n[input]\ncontent = \"" << content
          << "\"\n[expected]\nmust_contain = [{ subject = \"tls/cert_verification\", predicate = "
          << "\"enabled\", value = false }]\n";
    };
    write("fails", "a wrong one");
    write("passes", "a right one");
    write("refused", "a bad one");
    write("unparsable", "an odd one");
    return suite;
  }
  SimulatorProcess start(const Flags& flags) {
    const auto claims = [](const std::string& value) {
      return R"({\"claims\":[{\"subject\":\"tls/cert_verification\",\"predicate\":\"enabled\",\"value\":)" +
             value + R"(,\"confidence\":0.9}]})";
    };
    return start_simulator({R"({"contains": "a wrong one", "text": ")" + claims("true") + "\"}",
                            R"({"contains": "a right one", "text": ")" + claims("false") + "\"}",
                            R"({"contains": "a bad one", "refusal": true})",
                            R"({"contains": "an odd one", "text": "Sorry, no."})"},
                           flags);
  }

  void expect_as_reported(const json& report, const std::string& mode) {
    const std::string of_run = " WHERE run_id = '" + report["run_id"].get<std::string>() + "'";
    EXPECT_EQ(sql("SELECT count(*) FROM observations" + of_run), "4");
    std::string expected;
    for (const json& one : report["fixture_results"]) {
      expected += (expected.empty() ? "" : "\n") + one["id"].get<std::string>() + "|" +
                  one["status"].get<std::string>() + "|" +
                  (one["reason_code"].is_null() ? "" : one["reason_code"].get<std::string>()) + "|" +
                  std::to_string(one["input_tokens"].get<int>()) + "|" +
                  std::to_string(one["output_tokens"].get<int>()) + "|" +
                  std::to_string(one["claims"].size()) + "|" + (one["status"] == "error" ? "0" : "1") + "|" +
                  (mode == "cached" ? "1" : "0");
    }
    EXPECT_EQ(sql("SELECT case_id, status, reason_code, input_tokens, output_tokens, "
                  "json_array_length(final_claims), "
                  "parse_success, cache_hit FROM observations" +
                  of_run + " ORDER BY trial"),
              expected);
    EXPECT_EQ(sql("SELECT sum(input_tokens + output_tokens) FROM observations" + of_run),
              std::to_string(report["metrics"]["total_tokens"].get<int>()));
    EXPECT_EQ(sql("SELECT count(*) FROM observations" + of_run + " AND model = '" +
                  report["model"].get<std::string>() + "' AND prompt_version = '" +
                  report["prompt_version"].get<std::string>() + "'"),
              "4");
    EXPECT_EQ(sql("SELECT raw_response, parse_error IS NOT NULL FROM observations" + of_run +
                  " AND case_id = 'unparsable'"),
              "Sorry, no.|1");
    EXPECT_EQ(sql("SELECT json_extract(parsed_claims, '$[0].value'), json_extract(final_claims, "
                  "'$[0].concept_path') "
                  "FROM observations" +
                  of_run + " AND case_id = 'passes'"),
              "0|tls/cert_verification");
    EXPECT_EQ(sql("SELECT count(*) FROM observations" + of_run +
                  " AND prompt LIKE '%a right one%' AND length(timestamp) = 24"),
              "1");
    EXPECT_EQ(
        sql("SELECT count(DISTINCT text) FROM observations JOIN prompts ON hash = system_hash" + of_run),
        "1");
  }

  std::string all_bytes_of(const fs::path& folder_of_files) const {
    std::string all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_of_files)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      all.append((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    }
    return all;
  }
};

TEST_F(Observations, SayInSqlWhatTheReportSaysForEachFormat) {
  if (std::system("command -v sqlite3 > /dev/null") != 0)
    GTEST_SKIP() << "the program sqlite3 is not installed";
  const std::array<std::array<std::string, 3>, 3> formats{{{"openai", "OPENAI_API_KEY", "/v1"},
                                                           {"anthropic", "ANTHROPIC_API_KEY", ""},
                                                           {"gemini", "GEMINI_API_KEY", ""}}};
  for (const auto& [provider, key, path] : formats) {
    const auto simulator = start({});
    set_variable(key, "key-for-tests");
    for (const std::string mode : {"live", "cached"}) {
      const auto finished = run_sluice({"run", "--mode", mode, "--fixtures", claims_folder().string(),
                                        "--provider", provider, "--model", "m", "--base-url",
                                        simulator.url() + path, "--format", "json", "--save-observations"});
      const json report = parse_report(finished.output);
      ASSERT_TRUE(report.is_object()) << provider << finished.errors;
      EXPECT_EQ(finished.errors.find("warning"), std::string::npos) << finished.errors;
      expect_as_reported(report, mode);
    }
  }
}

TEST_F(Observations, AreOffByDefault) {
  const auto simulator = start({});
  run_sluice({"run", "--mode", "live", "--fixtures", claims_folder().string(), "--provider", "openai",
              "--model", "m", "--base-url", simulator.url() + "/v1"});
  EXPECT_FALSE(fs::exists(database()));
  const auto listed = run_sluice({"observations", "list"});
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_EQ(listed.output, "No observation is saved yet; `sluice run --save-observations` saves some.\n");
  EXPECT_FALSE(fs::exists(database())) << "reading makes none";
}

TEST_F(Observations, OfTwoRunsAtOnceAreAllThere) {
  const auto simulator = start_simulator();
  auto one = start_sluice(live(simulator) + Flags{"--save-observations"});
  auto other = start_sluice(live(simulator) + Flags{"--save-observations"});
  const auto first = finish(one);
  const auto second = finish(other);
  for (const auto* finished : {&first, &second}) {
    EXPECT_EQ(finished->exit_code, 1) << finished->errors;
    EXPECT_EQ(finished->errors.find("bservation"), std::string::npos) << finished->errors;
    const json report = parse_report(finished->output);
    const auto exported =
        run_sluice({"observations", "export", "--run", report["run_id"].get<std::string>()});
    EXPECT_EQ(static_cast<std::size_t>(std::count(exported.output.begin(), exported.output.end(), '\n')),
              fixture_count());
  }
}

TEST_F(Observations, AFileThatIsNoneOfOursCostsAWarningAndNoRun) {
  const auto simulator = start_simulator();
  fs::create_directories(home());
  std::ofstream(database())
      << "This is no database at all, and long enough to be looked at by SQLite, which wants "
         "a hundred bytes at least.\n";
  const auto reference = run_sluice(live(simulator));
  const auto finished = run_sluice(cached(simulator) + Flags{"--save-observations"});
  EXPECT_EQ(finished.exit_code, reference.exit_code);
  EXPECT_EQ(comparable_part(finished.output), comparable_part(reference.output));
  EXPECT_NE(finished.errors.find("observations.db: file is not a database; `sluice doctor` says what can be "
                                 "repaired; this run saves "
                                 "none of them"),
            std::string::npos)
      << finished.errors;
  const auto first = finished.errors.find("warning");
  EXPECT_EQ(finished.errors.find("warning", first + 1), std::string::npos) << "one: " << finished.errors;
  EXPECT_TRUE(all_bytes_of(home()).find("This is no database at all") != std::string::npos)
      << "it stays as it is";
  EXPECT_EQ(run_sluice({"observations", "list"}).exit_code, 2);
}

TEST_F(Observations, AreShownOfARunThatIsPruned) {
  const auto simulator = start({});
  const Flags run{"run",    "--mode",  "live", "--fixtures", claims_folder().string(), "--provider",
                  "openai", "--model", "m",    "--base-url", simulator.url() + "/v1",  "--save-observations"};
  run_sluice(run);
  const std::string first = json::parse(run_sluice({"runs", "list", "--format", "json"}).output)[0]["run_id"];
  run_sluice(run);
  const auto pruned = run_sluice({"runs", "prune", "--keep", "1"});
  ASSERT_EQ(pruned.exit_code, 0) << pruned.errors;
  const auto shown = run_sluice({"show", first.substr(0, 8), "passes"});
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  EXPECT_NE(shown.output.find("passes"), std::string::npos) << shown.output;
  const auto grid = run_sluice({"show", first.substr(0, 8), "--grid"});
  EXPECT_EQ(grid.exit_code, 0) << grid.errors;
  EXPECT_NE(grid.output.find("│ passes "), std::string::npos) << grid.output;
  const auto unknown = run_sluice({"show", "00000000", "passes"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.errors.find("00000000"), std::string::npos) << unknown.errors;
}

TEST_F(Observations, AreListedExportedAndPruned) {
  const auto simulator = start({});
  const Flags run{"run",    "--mode",  "live", "--fixtures", claims_folder().string(), "--provider",
                  "openai", "--model", "m",    "--base-url", simulator.url() + "/v1",  "--save-observations"};
  run_sluice(run);
  const auto failed = run_sluice({"observations", "list", "--run", "last", "--status", "fail"});
  EXPECT_EQ(failed.exit_code, 0) << failed.errors;
  EXPECT_NE(failed.output.find("fails"), std::string::npos) << failed.output;
  EXPECT_EQ(failed.output.find("passes"), std::string::npos) << failed.output;
  std::istringstream lines(
      run_sluice({"observations", "export", "--case", "refused", "--since", "1h"}).output);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const json one = json::parse(line);
  EXPECT_EQ(one["case_id"], "refused");
  EXPECT_EQ(one["reason_code"], "refusal");
  EXPECT_EQ(one["language"], "python");
  EXPECT_TRUE(one["metrics"].is_array());
  EXPECT_TRUE(one["system_prompt"].get<std::string>().size() > 10);
  EXPECT_FALSE(std::getline(lines, line));
  const auto csv =
      run_sluice({"observations", "export", "--format", "csv", "--model", "m", "--output", "all.csv"});
  EXPECT_EQ(csv.exit_code, 0) << csv.errors;
  EXPECT_EQ(run_sluice({"observations", "prune"}).output,
            "removed 0 observations, 4 left; all of them are among the newest 1,000\n");
  set_variable("SLUICE_RETENTION_DAYS", "0");
  set_variable("SLUICE_RETENTION_MAX_COUNT", "3");
  EXPECT_EQ(run_sluice({"observations", "prune"}).output, "removed 1 observation, 3 left\n");
  run_sluice(run);
  EXPECT_EQ(run_sluice({"observations", "prune"}).output,
            "removed 0 observations, 3 left; all of them are among the newest 3\n")
      << "the run has done it at its end";
  const auto wrong = run_sluice({"observations", "list", "--since", "yesterday"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.errors.find("--since must be a date (2026-02-05)"), std::string::npos) << wrong.errors;
}

TEST_F(Observations, ACaseIsShownWholeFromThemOrFromTheCaches) {
  const auto simulator = start({});
  const Flags run{"run",    "--mode",  "live", "--fixtures", claims_folder().string(), "--provider",
                  "openai", "--model", "m",    "--base-url", simulator.url() + "/v1"};
  run_sluice(run);
  const Flags asked{"--base-url", simulator.url() + "/v1"};
  const auto cached = run_sluice(Flags{"show", "last", "unparsable", "--json"} + asked);
  EXPECT_EQ(cached.exit_code, 0) << cached.errors;
  run_sluice(run + Flags{"--save-observations"});
  const auto saved = run_sluice({"show", "last", "unparsable", "--json"});
  EXPECT_EQ(saved.exit_code, 0) << saved.errors;
  const json from_cache = json::parse(cached.output);
  const json from_file = json::parse(saved.output);
  for (const char* member : {"prompt", "raw_response", "system_prompt", "parse_error", "status",
                             "reason_code", "input_tokens", "key", "metrics", "model", "file_path"})
    EXPECT_EQ(from_cache[member], from_file[member]) << member;
  EXPECT_EQ(from_file["raw_response"], "Sorry, no.");
  const auto page = run_sluice({"show", "last", "passes"});
  for (const char* words : {"passes: pass", "Model m of openai", "a right one", "\nAnswer\n",
                            "tls/cert_verification/enabled = false", "claims_required passed"})
    EXPECT_NE(page.output.find(words), std::string::npos) << words << page.output;
  const auto none = run_sluice(Flags{"show", "last", "nobody"} + asked);
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.errors.find("has no result of a case \"nobody\""), std::string::npos) << none.errors;
  EXPECT_EQ(run_sluice(with(Flags{"show", "last", "nobody"} + asked, "--model", "other")).exit_code, 2)
      << "that is not what the run asked";
}

// It asked "did you mean" the very case that was named.
TEST_F(Observations, ACaseThatARunDidNotComeToIsSaidToBeThat) {
  const auto path = folder() / "suite.yaml";
  std::ofstream(path) << "suite: s\nmodel: m\nsettings: {provider: openai}\ntests:\n"
                         "  - {id: one, input: {prompt: x}, expected: {type: must_contain, text: x}}\n";
  EXPECT_EQ(
      run_sluice({"run", path.string(), "--mode", "live", "--base-url", "http://127.0.0.1:1/v1"}).exit_code,
      2);
  const auto shown = run_sluice({"show", "last", "one"});
  EXPECT_EQ(shown.exit_code, 2);
  EXPECT_NE(shown.errors.find("of a case \"one\"; the run ended before it had one"), std::string::npos)
      << shown.errors;
}

TEST_F(Observations, AStatusIsThatOfTheGate) {
  const auto simulator = start_simulator({R"({"contains": "capital", "text": "Paris, I think"})"}, {});
  const auto path = folder() / "suite.yaml";
  std::ofstream(path) << "suite: s\nmodel: m\nsettings: {provider: openai}\ntests:\n"
                         "  - id: a\n    input: {prompt: \"The capital?\"}\n"
                         "    expected: {type: semantic_similarity_to, text: Rome, min_score: 0.9}\n";
  const auto finished =
      run_sluice({"run", path.string(), "--mode", "live", "--base-url", simulator.url() + "/v1", "--format",
                  "json", "--embedding-model", "lexical-ngrams-v1", "--save-observations"});
  const json report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object()) << finished.errors;
  EXPECT_EQ(report["fixture_results"][0]["status"], "fail");
  const json one = json::parse(run_sluice({"observations", "export"}).output);
  EXPECT_EQ(one["status"], "fail");
  // `show` named the score, and neither the limit nor that there was one.
  const json shown = json::parse(run_sluice({"show", "last", "a", "--json"}).output, nullptr, false);
  ASSERT_EQ(shown["missed"].size(), 1u) << shown;
  const std::string missed = shown["missed"][0];
  EXPECT_NE(missed.find("limit 0.90: below the score asked for"), std::string::npos) << missed;
  const Flags again{"run",
                    path.string(),
                    "--mode",
                    "cached",
                    "--base-url",
                    simulator.url() + "/v1",
                    "--embedding-model",
                    "lexical-ngrams-v1"};
  const auto table = run_sluice(again);
  EXPECT_NE(table.output.find(missed), std::string::npos) << missed << " is no word of the report:\n"
                                                          << table.output;
  const auto page = run_sluice({"show", "last", "a"});
  EXPECT_NE(page.output.find("\nMissed by the case\n  " + missed + "\n"), std::string::npos)
      << "of a run that saved nothing: " << page.output << page.errors;
}

// It said that both had failed.
TEST_F(Observations, SaysWhichCheckBroke) {
  write_text(folder() / "suite.yaml",
             "suite: s\nmodel: m\nsettings: {provider: openai}\ntests:\n"
             "  - id: a\n    input: {prompt: \"The capital?\"}\n    expected:\n"
             "      - {type: must_contain, text: Rome}\n      - {type: must_contain, text: \"of Italy\"}\n");
  const auto run = [&](const char* answer, const Flags& more) {
    auto simulator =
        start_simulator({R"({"contains": "capital", "text": ")" + std::string(answer) + R"("})"}, {});
    return run_sluice(
        Flags{"run", "suite.yaml", "--mode", "live", "--refresh", "--base-url", simulator.url() + "/v1"} +
        more);
  };
  EXPECT_EQ(run("Rome.", {"--export-baseline", "base.json"}).exit_code, 1);
  EXPECT_EQ(run("Paris.", {"--baseline", "base.json"}).exit_code, 1);
  const auto page = run_sluice({"show", "last", "a"});
  EXPECT_NE(page.output.find("\nMissed by the case\n"
                             "  must_contain \"Rome\" broke: it passed when the baseline was made\n"
                             "  must_contain \"of Italy\" is still failing, as when the baseline was made\n"),
            std::string::npos)
      << page.output << page.errors;
}

// `show` stopped, though ledger and caches held it all, and nothing named `sluice doctor`.
TEST_F(Observations, DamagedOnesAreNamedAndShowGoesOnWithoutThem) {
  const auto simulator = start({});
  run_sluice({"run", "--mode", "live", "--fixtures", claims_folder().string(), "--provider", "openai",
              "--model", "m", "--base-url", simulator.url() + "/v1", "--save-observations"});
  std::fstream file(database(), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(100) << std::string(200, '\x5a');  // The schema.
  file.close();
  for (const Flags& command : {Flags{"observations", "list"}, Flags{"observations", "export"}}) {
    const auto refused = run_sluice(command);
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_NE(refused.errors.find("`sluice doctor` says what can be repaired"), std::string::npos)
        << refused.errors;
  }
  const auto shown = run_sluice({"show", "last", "passes"});
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  EXPECT_NE(shown.output.find("cert_verification"), std::string::npos) << shown.output;
  EXPECT_NE(shown.errors.find("the observations are not read"), std::string::npos) << shown.errors;
  EXPECT_NE(shown.errors.find("`sluice doctor`"), std::string::npos) << shown.errors;
}

}  // namespace sluice::observations_test
