// A corpus from a code base: what is asked about, what is sampled and written, that it loads and runs, and
// that what was paid for is not paid for again.
#include "tests/integration/corpus_workbench.hpp"
#include "tests/support/paths.hpp"

#include <csignal>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice::corpus_test {

using nlohmann::json;

class Corpus : public CorpusWorkbench {};

using Counts = std::map<std::string, std::size_t>;

TEST_F(Corpus, OfATreeIsSampledByCategoryLoadsAndRuns) {
  write_tree();
  const auto simulator = start_simulator();
  const auto made = run_sluice(generate(simulator, {"--quiet"}));
  ASSERT_EQ(made.exit_code, 0) << made.errors << made.output;
  // Shares of 50 in 520: 23.08 of tls, 11.54 of secrets, 8.65 of jwt, 4.81 of auth, 1.92 of crypto. Rounded
  // down they are 47; crypto, auth and jwt have the largest remainders.
  const Counts by_hand{{"auth", 5}, {"crypto", 2}, {"jwt", 9}, {"secrets", 11}, {"tls", 23}};
  EXPECT_EQ(counts(out()), by_hand) << made.output;
  EXPECT_NE(made.output.find("520 to ask about"), std::string::npos) << made.output;
  EXPECT_NE(made.output.find("30 without a trigger"), std::string::npos) << made.output;
  EXPECT_NE(made.output.find("seed 1"), std::string::npos) << made.output;
  EXPECT_EQ(simulator.count("start"), 520u);

  // Files with findings counted as failed, and for a precision of 0.
  const json listed = json::parse(run_sluice({"runs", "list", "--format", "json"}).output, nullptr, false);
  EXPECT_EQ(listed[0]["passed"], 520) << listed;
  EXPECT_EQ(listed[0]["failed"], 0);
  EXPECT_TRUE(listed[0]["precision"].is_null());

  const auto valid = run_sluice({"validate-fixtures", "--fixtures", out().string()});
  EXPECT_EQ(valid.exit_code, 0) << valid.output << valid.errors;
  EXPECT_EQ(valid.output.find("warning"), std::string::npos) << valid.output;
  const auto ran = run_sluice(with(live(simulator), "--fixtures", out().string()));
  const json report = json::parse(ran.output, nullptr, false);
  ASSERT_TRUE(report.is_object()) << ran.errors;
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(report["metrics"]["total_fixtures"], 50);
  EXPECT_EQ(report["metrics"]["precision"], 1.0) << "each fixture expects all that its code shows";
  EXPECT_EQ(report["metrics"]["recall"], 1.0);
}

TEST_F(Corpus, IsTheSameForASeed) {
  write_tree();
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(generate(simulator, {"--quiet", "--seed", "7"})).exit_code, 0);
  const std::string first = all_text(out());
  const auto again = run_sluice(generate(simulator, {"--quiet", "--seed", "7", "--mode", "cached"}));
  ASSERT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_EQ(all_text(out()), first);
  EXPECT_EQ(again.output.find(" new"), std::string::npos) << again.output;
  fs::rename(out(), folder() / "seven");
  ASSERT_EQ(run_sluice(generate(simulator, {"--quiet", "--seed", "8", "--mode", "cached"})).exit_code, 0);
  EXPECT_EQ(counts(out()), counts(folder() / "seven")) << "the shares do not depend on the seed";
  EXPECT_NE(written(out()), written(folder() / "seven"));
  EXPECT_EQ(simulator.count("start"), 520u) << "what is cached is not asked for again";
}

// The repository's own sources, and the code of its fixtures as files of their languages.
TEST_F(Corpus, OfTheRepositorysOwnSources) {
  const std::map<std::string, std::string> extensions{
      {"c", "c"},       {"go", "go"},   {"java", "java"},     {"javascript", "js"},
      {"python", "py"}, {"rust", "rs"}, {"typescript", "ts"}, {"yaml", "yaml"}};
  std::size_t files = 0;
  for (const char* const room : {"common", "worker", "coordinator"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_path(room))) {
      const auto extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".hpp") continue;
      write_text(tree() / room / (std::to_string(files++) + extension.string()), read_text(entry.path()));
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(shipped_fixtures())) {
    const std::string text = read_text(entry.path());
    const auto value = [&](const std::string& key, const std::string& open, const std::string& close) {
      const auto at = text.find("\n" + key + " = " + open);
      if (at == std::string::npos) return std::string();
      const auto begin = at + 1 + key.size() + 3 + open.size();
      return text.substr(begin, text.find(close, begin) - begin);
    };
    const auto extension = extensions.find(value("language", "\"", "\""));
    const std::string code = value("content", "'''\n", "'''");
    if (extension == extensions.end() || code.empty()) continue;
    write_text(tree() / "code" / (std::to_string(files++) + "." + extension->second), code);
  }
  ASSERT_GE(files, 500u);
  const auto simulator = start_simulator();
  const auto made = run_sluice(generate(simulator, {"--quiet", "--sample-size", "40"}));
  ASSERT_EQ(made.exit_code, 0) << made.errors << made.output;
  for (const char* const language : {"cpp", "python", "go", "java", "rust"})
    EXPECT_NE(made.output.find(language), std::string::npos) << made.output;
  std::size_t sampled = 0;
  for (const auto& [category, count] : counts(out())) sampled += count;
  EXPECT_EQ(sampled, 40u) << made.output;
  EXPECT_EQ(run_sluice({"validate-fixtures", "--fixtures", out().string()}).exit_code, 0);
  const auto ran = run_sluice(with(live(simulator), "--fixtures", out().string()));
  EXPECT_EQ(json::parse(ran.output, nullptr, false)["metrics"]["errors"], 0) << ran.errors;
}

TEST_F(Corpus, OfAnInterruptedGenerationGoesOnFromTheCache) {
  write_files("py", "#", "response = requests.get(url, verify=False)", 200);
  auto simulator = start_simulator({"--latency-ms", "60"});
  const auto spent = run_sluice(generate(simulator, {"--quiet", "--max-tokens", "200000"}));
  EXPECT_EQ(spent.exit_code, 1) << spent.errors;
  EXPECT_NE(spent.errors.find("the same command goes on"), std::string::npos) << spent.errors;
  EXPECT_TRUE(written(out()).empty()) << "no sample of a part";
  const std::size_t before = simulator.count("start");
  EXPECT_GT(before, 0u);
  EXPECT_LT(before, 200u);

  auto stopped = start_sluice(generate(simulator));
  ASSERT_TRUE(eventually([&] { return simulator.count("answer") >= before + 10; })) << stopped.errors();
  stopped.signal(SIGINT);
  const auto interrupted = finish(stopped);
  EXPECT_EQ(interrupted.exit_code, 2) << interrupted.errors;
  EXPECT_TRUE(written(out()).empty());

  auto doomed = start_sluice(generate(simulator, {"--max-concurrent", "4"}));
  const std::size_t then = simulator.count("start");
  EXPECT_LT(then, 200u);
  ASSERT_TRUE(eventually([&] { return simulator.count("answer") >= then + 10; })) << doomed.errors();
  doomed.signal(SIGKILL);
  finish(doomed);

  const auto made = run_sluice(generate(simulator, {"--quiet"}));
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_EQ(counts(out()), (Counts{{"tls", 50}}));
  // What was under way when the process was killed is lost, and nothing else is asked for twice.
  std::map<std::string, int> asked;
  int twice = 0;
  for (const auto& event : simulator.final_events()) {
    if (event.kind == "start" && ++asked[event.content] > 1) ++twice;
  }
  EXPECT_EQ(asked.size(), 200u);
  EXPECT_LE(twice, 8) << "four calls in flight at the kill, and answers that were not stored yet";
}

TEST_F(Corpus, IsEstimatedWithoutACall) {
  write_tree();
  const auto simulator = start_simulator();
  const auto planned = run_sluice(
      with(generate(simulator, {"--dry-run", "--max-tokens-per-scan", "3000"}), "--model", "gpt-5-mini"));
  ASSERT_EQ(planned.exit_code, 0) << planned.errors;
  EXPECT_NE(planned.output.find("At most $"), std::string::npos) << planned.output;
  EXPECT_NE(planned.output.find("beyond max_tokens_per_scan"), std::string::npos) << planned.output;
  EXPECT_EQ(simulator.count("start"), 0u);
  EXPECT_FALSE(fs::exists(out()));
  std::istringstream lines(planned.output);
  for (std::string line; std::getline(lines, line);) {
    const auto columns = std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
    EXPECT_LE(columns, 80) << line;
  }
}

// A dry run said what is asked about, and nothing of what would be sampled.
TEST_F(Corpus, OfADryRunIsShownByCategoryAsFarAsTheCachesAnswer) {
  write_files("py", "#", "response = requests.get(url, verify=False)", 20);
  write_files("go", "//", "const hook = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\"", 10);
  const auto simulator = start_simulator();
  const Flags few{"--sample-size", "6", "--seed", "7"};
  const auto dry_run = [&](const Flags& flags) { return run_sluice(generate(simulator, few + flags)); };
  const auto before = dry_run({"--dry-run"});
  ASSERT_EQ(before.exit_code, 0) << before.errors;
  EXPECT_NE(before.output.find("the caches hold no answer"), std::string::npos) << before.output;
  ASSERT_EQ(dry_run({"--quiet"}).exit_code, 0);
  const auto sampled = counts(out());
  EXPECT_EQ(sampled, (Counts{{"secrets", 2}, {"tls", 4}}));
  const std::string as_written = all_text(out());
  const std::string runs = run_sluice({"runs", "list", "--format", "json"}).output;

  write_files("js", "//", "const user = jwt.decode(token);", 5);
  const auto planned = dry_run({"--dry-run"});
  ASSERT_EQ(planned.exit_code, 0) << planned.errors;
  EXPECT_EQ(planned.errors, "");
  EXPECT_NE(planned.output.find("30 of 35 files"), std::string::npos) << planned.output;
  EXPECT_NE(planned.output.find("6 fixtures (seed 7)"), std::string::npos) << planned.output;
  std::map<std::string, std::pair<int, int>> table;
  std::istringstream lines(planned.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(std::regex_replace(line, std::regex("\u2502"), " "));
    std::string category;
    std::pair<int, int> numbers;
    if (words >> category >> numbers.first >> numbers.second) table[category] = numbers;
  }
  EXPECT_EQ(table["tls"], std::pair(20, 4)) << planned.output;
  EXPECT_EQ(table["secrets"], std::pair(10, 2)) << planned.output;
  EXPECT_EQ(all_text(out()), as_written);
  EXPECT_EQ(run_sluice({"runs", "list", "--format", "json"}).output, runs) << "a dry run is no run";
  EXPECT_EQ(simulator.count("start"), 30u) << "nobody is asked";
  // A refresh asks anew: what the caches hold says nothing of it.
  const auto anew = dry_run({"--dry-run", "--refresh"});
  EXPECT_EQ(anew.output.find("30 of 35 files"), std::string::npos) << anew.output;
}

TEST_F(Corpus, KeepsWhatPeopleHaveDone) {
  write_files("py", "#", "response = requests.get(url, verify=False)", 12);
  const auto simulator = start_simulator();
  const Flags all{"--quiet", "--sample-size", "10"};
  ASSERT_EQ(run_sluice(generate(simulator, all)).exit_code, 0);
  const auto files = written(out())["tls"];
  ASSERT_EQ(files.size(), 10u);
  auto one = files.begin();
  const std::string accepted = fs::path(*one++).stem();
  const std::string changed = fs::path(*one++).stem();
  const std::string rejected = fs::path(*one++).stem();
  const auto review = [&](const Flags& flags) { return run_sluice(Flags{"review", out().string()} + flags); };

  const auto list = review({"--list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_NE(list.output.find(accepted), std::string::npos) << list.output;
  const auto done = review({"--accept", accepted, "--reject", rejected});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(done.output, "1 accepted, 1 rejected, 8 left.\n");
  EXPECT_EQ(review({"--list"}).output.find(accepted), std::string::npos) << "it is reviewed";
  EXPECT_EQ(review({"--accept", accepted}).exit_code, 2) << "nothing of that name awaits a review";
  EXPECT_TRUE(fs::exists(out() / ".rejected" / (rejected + ".toml")));
  const fs::path mine = out() / "tls" / (changed + ".toml");
  write_text(mine, read_text(mine) + "# mine\n");
  const std::string as_accepted = read_text(out() / "tls" / (accepted + ".toml"));

  const auto again = run_sluice(generate(simulator, all));
  ASSERT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_NE(again.output.find("1 rejected in a review"), std::string::npos) << again.output;
  EXPECT_NE(again.output.find("2 left as somebody made them"), std::string::npos) << again.output;
  EXPECT_EQ(read_text(out() / "tls" / (accepted + ".toml")), as_accepted);
  EXPECT_TRUE(read_text(mine).ends_with("# mine\n"));
  EXPECT_FALSE(fs::exists(out() / "tls" / (rejected + ".toml")));
  EXPECT_EQ(written(out())["tls"].size(), 10u) << "another finding takes its place";
  EXPECT_EQ(run_sluice({"validate-fixtures", "--fixtures", out().string()}).exit_code, 0);
}

TEST_F(Corpus, HoldsNoSecretThatIsToBeReplaced) {
  write_files("go", "//", "const hook = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\"", 3);
  const auto simulator = start_simulator();
  const auto made = run_sluice(generate(simulator, {"--quiet", "--redact", "keys"}));
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const std::string text = all_text(out());
  EXPECT_EQ(text.find("ghp_"), std::string::npos);
  EXPECT_NE(text.find("[redacted keys]"), std::string::npos);
  EXPECT_NE(made.output.find("secret replaced"), std::string::npos) << made.output;
  // The key of this very process is replaced whatever the settings.
  set_variable("OPENAI_API_KEY", "ghp_0123456789abcdefghijABCDEFGHIJ012345");
  fs::remove_all(out());
  ASSERT_EQ(run_sluice(generate(simulator, {"--quiet"})).exit_code, 0);
  EXPECT_EQ(all_text(out()).find("ghp_"), std::string::npos);
}

TEST_F(Corpus, SaysWhatIsWrongBeforeAnythingIsPaid) {
  write_files("py", "#", "response = requests.get(url, verify=False)", 2);
  const auto simulator = start_simulator();
  const auto expect_refused = [&](const Flags& flags, const std::string& words) {
    const auto refused = run_sluice(flags);
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_NE(refused.errors.find(words), std::string::npos) << refused.errors;
  };
  expect_refused(generate(simulator, {"--sample-size", "0"}), "--sample-size");
  expect_refused(generate(simulator, {"--seed", "x"}), "--seed");
  expect_refused(generate(simulator, {"--min-confidence", "70"}), "--min-confidence");
  expect_refused(generate(simulator, {"--mode", "robust"}), "--mode");
  expect_refused(generate(simulator, {"--triggers", "none.toml"}), "none.toml");
  expect_refused(with(generate(simulator), "--scan-path", (folder() / "none").string()), "--scan-path");
  write_text(folder() / "rules.toml", "version = \"1\"\n[[language]]\nname = \"c\"\nextensions = [\"c\"]\n");
  expect_refused(generate(simulator, {"--triggers", (folder() / "rules.toml").string()}),
                 "worth asking about");
  write_text(out() / "broken.toml", "[metadata]\n");
  expect_refused(generate(simulator), "broken.toml");
  expect_refused({"review", out().string()}, "broken.toml");
  expect_refused({"review", (folder() / "none").string()}, "no folder");
  fs::remove_all(out());
  fs::create_directories(out());
  expect_refused({"review", out().string()}, "--list");
  EXPECT_EQ(simulator.count("start"), 0u);
}

// Each took the tree that was scanned for the run's suite, and complained that it holds no fixture.
TEST_F(Corpus, IsNoRunThatCanBeShownOrRunAgain) {
  write_files("py", "#", "response = requests.get(url, verify=False)", 2);
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(generate(simulator, {"--quiet"})).exit_code, 0);
  const auto shown = run_sluice({"show", "last", "--filter", "*"});
  EXPECT_EQ(shown.exit_code, 2);
  EXPECT_NE(shown.errors.find("was made by `sluice generate-corpus`"), std::string::npos) << shown.errors;
  EXPECT_NE(shown.errors.find("--save-observations"), std::string::npos) << shown.errors;
  const auto again = run_sluice({"rerun", "last"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.errors.find("it was made by `sluice generate-corpus`"), std::string::npos) << again.errors;
}

TEST_F(Corpus, KeepsWhatIsReviewedWhileItIsMade) {
  write_files("py", "#", "response = requests.get(url, verify=False)", 5);
  const Flags few{"--quiet", "--sample-size", "10"};
  {
    const auto simulator = start_simulator();
    ASSERT_EQ(run_sluice(generate(simulator, few)).exit_code, 0);
  }
  const auto before = written(out())["tls"];
  ASSERT_EQ(before.size(), 5u);
  const std::string accepted = fs::path(*before.begin()).stem();
  const std::string rejected = fs::path(*before.rbegin()).stem();
  // One more file to ask about, and an answer that takes its time: the reviews end long before.
  write_text(tree() / "late.py", "# late\nresponse = requests.get(url, verify=False)\n");
  const auto slow = start_simulator({"--latency-ms", "5000"});
  auto making = start_sluice(generate(slow, few));
  ASSERT_TRUE(eventually([&] { return slow.count("start") >= 1; })) << making.errors();
  const auto reviewed = run_sluice({"review", out().string(), "--accept", accepted, "--reject", rejected});
  ASSERT_EQ(reviewed.exit_code, 0) << reviewed.errors;
  ASSERT_FALSE(fs::exists(out() / "tls" / (rejected + ".toml")));
  const std::string as_accepted = read_text(out() / "tls" / (accepted + ".toml"));
  const auto made = finish(making);
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_NE(made.output.find("1 new"), std::string::npos) << made.output;
  EXPECT_NE(made.output.find("1 rejected in a review"), std::string::npos) << made.output;
  EXPECT_EQ(read_text(out() / "tls" / (accepted + ".toml")), as_accepted);
  EXPECT_FALSE(fs::exists(out() / "tls" / (rejected + ".toml"))) << "it does not come back";
}

}  // namespace sluice::corpus_test
