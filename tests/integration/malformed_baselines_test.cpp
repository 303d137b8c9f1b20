// Baselines that are none, through the command line: one line on stderr that names file and place, exit code
// 2, nothing on stdout, and no file that a flag names is touched.

#include "tests/integration/malformed_inputs.hpp"
#include "tests/support/sanitizers.hpp"

#include <fstream>
#include <functional>

#include <sys/resource.h>

namespace sluice {
namespace {

using namespace support;

TEST_F(MalformedInputs, TheSuiteIsGoodOtherwise) {
  EXPECT_EQ(run_sluice({"run", "suite.yaml", "--mode", "mock"}).exit_code, 0);
}

TEST_F(MalformedInputs, BaselinesThatAreNoJson) {
  expect_bad_baselines({
      {"empty", "", {"is empty"}},
      {"white space", " \n\n ", {"is empty"}},
      {"truncated in a text",
       baseline_of(entry("0.5")).substr(0, baseline_of(entry("0.5")).find("laims_recall")),
       {"bad.json:2", "entries[0].metric", "cut off"}},
      {"truncated at the end", "{" + good_header + ", \"entries\": []", {"bad.json:1", "cut off"}},
      {"a comment", "// pinned\n" + baseline_of(""), {"bad.json:1", "not JSON"}},
      {"a comma too many", baseline_of(entry("0.5") + ","), {"bad.json:2", "entries", "not JSON"}},
      {"NaN", baseline_of(entry("NaN")), {"bad.json:2", "entries[0].score"}},
      {"Infinity", baseline_of(entry("-Infinity")), {"bad.json:2", "entries[0].score"}},
      {"1e400", baseline_of(entry("1e400")), {"bad.json:2", "entries[0].score", "too large"}},
      {"invalid UTF-8",
       baseline_of(R"({"test_id": ")"
                   "\xff"
                   R"(", "metric": "m", "score": 1})"),
       {"bad.json:2", "UTF-8", "entries[0].test_id"}},
      {"a second document", baseline_of("") + "{}", {"bad.json:3", "goes on"}},
      {"binary", std::string("\0\1\2\3", 4), {"bad.json:1", "not JSON"}},
      {"deep nesting", repeated("[", 100'000), {"bad.json:1"}},
      {"deep nesting in an entry",
       baseline_of(R"({"meta": )" + repeated(R"({"a":)", 100'000)),
       {"bad.json:2", "nested deeper than 32"}},
      {"deep nesting under an unknown key", "{\"notes\": " + repeated("[", 100'000), {"bad.json:1", "notes"}},
  });
}

TEST_F(MalformedInputs, BaselinesThatAreSomethingElse) {
  const auto without = [](const std::string& member) {
    auto text = baseline_of("");
    return text.erase(text.find(member), member.size());
  };
  expect_bad_baselines({
      {"a list", "[]", {"bad.json:1", "a JSON object"}},
      {"null", "null", {"a JSON object"}},
      {"an empty object", "{}", {"schema_version", "required"}},
      {"no suite", without(R"("suite": "demo", )"), {"`suite`", "required"}},
      {"no version of the tool", without(R"("assay_version": "0.1.0", )"), {"`assay_version`", "required"}},
      {"no time", without(R"("created_at": "2025-12-21T12:00:00Z", )"), {"`created_at`", "required"}},
      {"no fingerprint",
       without(R"(, "config_fingerprint": "sha256:0")"),
       {"`config_fingerprint`", "required"}},
      {"no entries", "{" + good_header + "}", {"`entries`", "required"}},
      {"a version as text", R"({"schema_version": "1"})", {"bad.json:1", "schema_version"}},
      {"a fraction of a version", R"({"schema_version": 1.5})", {"schema_version"}},
      {"a later version", R"({"schema_version": 3, "items": {}})", {"schema_version 3", "regenerate"}},
      {"a suite that is a number", R"({"schema_version": 1, "suite": 7})", {"`suite`", "7"}},
      {"an empty suite", R"({"schema_version": 1, "suite": ""})", {"`suite`"}},
      {"no time of this kind",
       R"({"schema_version": 1, "created_at": "yesterday"})",
       {"`created_at`", "yesterday"}},
      {"entries as an object", "{" + good_header + R"(, "entries": {}})", {"`entries`", "a list"}},
      {"a key twice", "{" + good_header + R"(, "suite": "demo", "entries": []})", {"suite", "twice"}},
      {"a report", R"({"schema_version": 1, "fixture_results": []})", {"a report", "sluice compare"}},
  });
}

TEST_F(MalformedInputs, BaselinesWithBadEntries) {
  expect_bad_baselines({
      {"a text", baseline_of(R"("q_1")"), {"bad.json:2", "entries[0]", "an object"}},
      {"no test", baseline_of(R"({"metric": "m", "score": 1})"), {"bad.json:2", "entries[0]", "test_id"}},
      {"no metric", baseline_of(R"({"test_id": "q", "score": 1})"), {"bad.json:2", "entries[0]", "metric"}},
      {"no score", baseline_of(R"({"test_id": "q", "metric": "m"})"), {"bad.json:2", "entries[0]", "score"}},
      {"a test that is a number", baseline_of(R"({"test_id": 1})"), {"bad.json:2", "entries[0].test_id"}},
      {"a score as text", baseline_of(entry(R"("0.5")")), {"bad.json:2", "entries[0].score", "0.5"}},
      {"a null score", baseline_of(entry("null")), {"bad.json:2", "entries[0].score", "null"}},
      {"a score above 1", baseline_of(entry("1.0000001")), {"bad.json:2", "entries[0].score", "from 0 to 1"}},
      {"a score below 0", baseline_of(entry("-1e-9")), {"bad.json:2", "entries[0].score", "from 0 to 1"}},
      {"meta as a list",
       baseline_of(R"({"test_id": "q", "metric": "m", "score": 1, "meta": []})"),
       {"bad.json:2", "entries[0].meta", "an object"}},
      {"an entry twice",
       baseline_of(entry("0.5") + ",\n" + entry("0.6")),
       {"bad.json:3", "entries[1]", "entries[0]", "line 2"}},
      {"the second is bad",
       baseline_of(entry("0.5") + ",\n{\"test_id\": \"q_2\"}"),
       {"bad.json:3", "entries[1]"}},
      {"a score twice",
       baseline_of(R"({"test_id": "q", "metric": "m", "score": 1, "score": 1})"),
       {"bad.json:2", "entries[0].score", "twice"}},
  });
}

TEST_F(MalformedInputs, BaselinesThatCannotBeRead) {
  std::filesystem::create_directory(folder() / "a_folder");
  std::filesystem::create_symlink("nowhere.json", folder() / "dangling.json");
  std::filesystem::create_symlink("round.json", folder() / "round.json");
  for (const auto* name : {"missing.json", "a_folder", "dangling.json", "round.json", "/dev/null"}) {
    SCOPED_TRACE(name);
    expect_findings(gate(name), 1, {name, "cannot be read"});
  }
  expect_findings(gate(""), 1, {"--baseline"});
}

// --- Baselines of 100 MB ---

class LargeBaselines : public MalformedInputs {
 protected:
  static constexpr std::size_t size = 100'000'000;

  // Pieces until the file has its size, and then an end.
  void write_large(const std::string& head, const std::function<std::string(std::size_t)>& piece,
                   const std::string& end) {
    std::ofstream file(folder() / "large.json", std::ios::binary);
    file << head;
    std::size_t written = head.size();
    for (std::size_t i = 0; written < size; ++i) {
      const auto text = piece(i);
      file << text;
      written += text.size();
    }
    file << end;
    ASSERT_TRUE(file.flush());
  }

  // The most that any child of this program has taken so far.
  static void expect_bounded_memory() {
    rusage usage{};
    ASSERT_EQ(::getrusage(RUSAGE_CHILDREN, &usage), 0);
    constexpr long limit_kib = support::has_address_sanitizer ? 3L << 20 : 400L << 10;
    EXPECT_LT(usage.ru_maxrss, limit_kib);
  }
};

TEST_F(LargeBaselines, Garbage) {
  const auto of = [](const std::string& text) {
    return
        [block = repeated(text, static_cast<int>((1u << 20) / text.size()))](std::size_t) { return block; };
  };
  write_large("", of("x"), "");
  expect_findings(gate("large.json"), 1, {"large.json:1", "not JSON"});
  write_large("\"", of("x"), "\"");
  expect_findings(gate("large.json"), 1, {"large.json:1", "more than 1 MiB"});
  write_large("", of("["), "");
  expect_findings(gate("large.json"), 1, {"large.json:1"});
  write_large("{" + good_header + ", \"entries\": [", of(entry("0.5") + ",\n"), "");
  expect_findings(gate("large.json"), 1, {"large.json:", "cut off"});
  expect_bounded_memory();
}

TEST_F(LargeBaselines, Valid) {
  write_large(
      "{" + good_header + ", \"entries\": [\n",
      [](std::size_t i) {
        return R"({"test_id": "another_test_)" + std::to_string(i) +
               R"(", "metric": "claims_recall", "score": 0.5},)" + "\n";
      },
      entry("0.5") + "]}");
  const auto finished = run_sluice({"run", "suite.yaml", "--mode", "mock", "--baseline", "large.json"});
  EXPECT_EQ(finished.exit_code, 0) << "unused entries warn: " << finished.errors;
  expect_bounded_memory();
}

}  // namespace
}  // namespace sluice
