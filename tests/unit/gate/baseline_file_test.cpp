#include "coordinator/score_files/baseline_file.hpp"

#include "gate_fixture.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

const std::string complete = R"({
  "schema_version": 2,
  "suite": "demo_suite",
  "assay_version": "0.1.0",
  "created_at": "2025-12-21T12:00:00Z",
  "config_fingerprint": "sha256:00ff",
  "entries": [
    {"test_id": "rag_q1", "metric": "semantic_similarity_to", "score": 0.91, "meta": {"model":"m","n":[1,{"x":null}]}},
    {"test_id": "rag_q2", "metric": "semantic_similarity_to", "score": 1}
  ]
}
)";

tl::expected<Baseline, Finding> parse(const std::string& text) {
  std::istringstream stream(text);
  return parse_baseline(stream, "base.json");
}

std::string written(const Baseline& baseline) {
  StringSink sink;
  write_baseline(baseline, sink);
  return sink.text();
}

/// The complete file with one text replaced.
std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = complete;
  const auto place = text.find(old_text);
  EXPECT_NE(place, std::string::npos) << old_text;
  return text.replace(place, old_text.size(), new_text);
}

/// The complete file with other entries, which begin in line 7.
std::string with_entries(const std::string& entries) {
  return complete.substr(0, complete.find('[')) + "[" + entries + "]}\n";
}

/// One sentence: no line break, no full stop at its end, and not long.
void expect_sentence(const Finding& finding) {
  EXPECT_EQ(finding.file, "base.json");
  EXPECT_FALSE(finding.message.empty());
  EXPECT_EQ(finding.message.find('\n'), std::string::npos) << finding.message;
  EXPECT_NE(finding.message.back(), '.') << finding.message;
  EXPECT_LT(finding.message.size(), 400u) << finding.message;
}

void expect_finding(const std::string& text, std::uint32_t line, const std::string& part) {
  const auto parsed = parse(text);
  ASSERT_FALSE(parsed.has_value()) << part;
  expect_sentence(parsed.error());
  EXPECT_EQ(parsed.error().line, line) << parsed.error().message;
  EXPECT_NE(parsed.error().message.find(part), std::string::npos) << parsed.error().message;
}

// --- What loads
// ----------------------------------------------------------------------------------------------

TEST(BaselineFile, ReadsEveryField) {
  const auto baseline = parse(complete);
  ASSERT_TRUE(baseline) << baseline.error().message;
  EXPECT_EQ(baseline->header, (BaselineHeader{"demo_suite", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00ff"}));
  ASSERT_EQ(baseline->size(), 2u);
  EXPECT_EQ(baseline->entry(0).meta, R"({"model":"m","n":[1,{"x":null}]})");
  EXPECT_EQ(baseline->score("rag_q1", similarity), 0.91);
  EXPECT_EQ(baseline->score("rag_q2", similarity), 1.0);
  EXPECT_EQ(baseline->entry(1).meta, "");
}

TEST(BaselineFile, WritesWhatItRead) {
  EXPECT_EQ(written(*parse(complete)), complete);
}

TEST(BaselineFile, RecordsWhereTheSuiteLiesAndThatItsRunWasAMock) {
  auto baseline = *parse(complete);
  baseline.header.suite_path = "tests/fix";
  baseline.header.mode = "mock";
  const std::string text = written(baseline);
  EXPECT_NE(text.find("\"suite\": \"demo_suite\",\n  \"suite_path\": \"tests/fix\",\n  \"assay_version\""),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  \"mode\": \"mock\",\n  \"entries\""), std::string::npos) << text;
  const auto again = parse(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->header, baseline.header);
  expect_finding(with(R"("suite")", R"("suite_path": 7, "suite")"), 3, "`suite_path` is 7");
}

TEST(BaselineFile, KeepsThePartsOfTheFingerprint) {
  const std::string parts = R"(  "fingerprint_parts": {"arm a": "00ff", "checks": "11ff"},)";
  const std::string text = with("  \"entries\": [", parts + "\n  \"entries\": [");
  const auto parsed = parse(text);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(parsed->header.fingerprint_parts, (FingerprintParts{{"arm a", "00ff"}, {"checks", "11ff"}}));
  EXPECT_NE(written(*parsed).find("\n" + parts + "\n"), std::string::npos) << written(*parsed);
  expect_finding(with("  \"entries\": [", "\"fingerprint_parts\": [], \"entries\": ["), 7, "an object");
  expect_finding(with("  \"entries\": [", "\"fingerprint_parts\": {\"a\": 1}, \"entries\": ["), 7,
                 "`fingerprint_parts.a`");
}

TEST(BaselineFile, ReadsTheExampleOfTheAdrWithItsUnknownMetric) {
  const auto baseline = parse(R"({"schema_version":1,"suite":"demo_suite","assay_version":"0.1.0",
    "created_at":"2025-12-21T12:00:00.123456+01:00","config_fingerprint":"sha256:<hash>","entries":[
    {"test_id":"rag_q1","metric":"faithfulness","score":0.91,
     "meta":{"rubric_version":"v1","model":"text-embedding-3-small"}}]})");
  ASSERT_TRUE(baseline) << baseline.error().message;
  EXPECT_EQ(baseline->score("rag_q1", "faithfulness"), 0.91);
  EXPECT_EQ(baseline->entry(0).meta, R"({"model":"text-embedding-3-small","rubric_version":"v1"})");
}

TEST(BaselineFile, PassesOverWhatItDoesNotKnow) {
  const std::string text =
      with(R"("suite")", R"("later": {"entries": [{"score": 7}], "schema_version": 9}, "suite")");
  EXPECT_EQ(written(*parse(text)), complete);
  EXPECT_EQ(written(*parse(with(R"("score": 1})", R"("score": 1, "runs": [{"score": 5}, [2]]})"))), complete);
}

TEST(BaselineFile, PassesOverAByteOrderMarkAndOtherLineEnds) {
  std::string text = "\xEF\xBB\xBF" + complete;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.insert(at, "\r");
  EXPECT_EQ(written(*parse(text)), complete);
}

TEST(BaselineFile, KeysMayStandInAnyOrder) {
  const auto baseline = parse(R"({"entries":[{"score":0.5,"meta":{},"metric":"m","test_id":"a"}],
    "config_fingerprint":"sha256:1","created_at":"2025-12-21T12:00:00Z","assay_version":"1","suite":"s",
    "schema_version":1})");
  ASSERT_TRUE(baseline) << baseline.error().message;
  EXPECT_EQ(baseline->entry(0).meta, "{}");
}

TEST(BaselineFile, ReadsNumbersExactly) {
  for (const std::string number :
       {"0", "1", "0.1", "0.30000000000000004", "5e-324", "1e-07", "0.9999999999999999"}) {
    const auto baseline = parse(with("0.91", number));
    ASSERT_TRUE(baseline) << number;
    EXPECT_EQ(baseline->entry(0).score, std::strtod(number.c_str(), nullptr));
    EXPECT_EQ(written(*baseline), with("0.91", number));
  }
  EXPECT_EQ(written(*parse(with("0.91", "-0.0"))), with("0.91", "0"));
  EXPECT_EQ(written(*parse(with("0.91", "9.10E-1"))), complete);
}

TEST(BaselineFile, AFileWithoutEntriesIsOne) {
  const auto baseline = parse(with_entries(""));
  ASSERT_TRUE(baseline);
  EXPECT_EQ(baseline->size(), 0u);
  EXPECT_EQ(written(*parse(written(*baseline))), written(*baseline));
}

TEST(BaselineFile, WritesTheGoldenFile) {
  const Baseline baseline =
      baseline_of({{"b", similarity, 1.0 / 3, R"({"embedding_model":"text-embedding-3-small"})"},
                   {"a/ü \"quoted\"\n", "claims_f1", 1.0},
                   {"b", "claims_recall", 0.0},
                   {"a", "claims_f1", 0.91},
                   {"a", "claims_precision", 1e-7, R"({"metric_version":"1"})"}});
  const std::string path = support::source_path("tests/unit/gate/golden/baseline.json");
  if (std::getenv("SLUICE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << written(baseline);
    FAIL() << "the file was written anew; run again without SLUICE_UPDATE_GOLDEN";
  }
  std::ifstream file(path, std::ios::binary);
  const std::string golden((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(written(baseline), golden);
  EXPECT_EQ(written(*load_baseline(path)), golden);
}

// --- What does not
// -------------------------------------------------------------------------------------------

TEST(BaselineFile, RefusesAFileThatIsCutOffAnywhere) {
  const std::size_t whole = complete.rfind('}') + 1;
  for (std::size_t size = 0; size < whole; ++size) {
    const auto parsed = parse(complete.substr(0, size));
    ASSERT_FALSE(parsed) << size;
    expect_sentence(parsed.error());
    EXPECT_GE(parsed.error().line, 1u);
    const char* part = size == 0 ? "is empty" : "ends too early";
    EXPECT_NE(parsed.error().message.find(part), std::string::npos) << size << ": " << parsed.error().message;
  }
  EXPECT_TRUE(parse(complete.substr(0, whole)));
}

TEST(BaselineFile, RefusesAFileWithAByteChangedOrReadsIt) {
  // Every byte replaced by bytes that JSON cares about: never anything but a baseline or a sentence.
  for (std::size_t at = 0; at < complete.size(); ++at) {
    for (const char byte : {'"', '{', '}', '[', ']', ',', '\\', '\0', '\xFF', '9'}) {
      std::string text = complete;
      text[at] = byte;
      const auto parsed = parse(text);
      if (!parsed) expect_sentence(parsed.error());
      if (parsed) {
        EXPECT_EQ(written(*parse(written(*parsed))), written(*parsed));
      }
    }
  }
}

TEST(BaselineFile, NamesMissingFields) {
  for (const std::string field :
       {"schema_version", "suite", "assay_version", "created_at", "config_fingerprint"}) {
    expect_finding(with('"' + field + '"', "\"other\""), 0, "has no `" + field + "`, which is required");
  }
  expect_finding(R"({"schema_version": 1, "suite": "s", "assay_version": "1", "config_fingerprint": "f",
    "created_at": "2025-12-21T12:00:00Z"})",
                 0, "has no `entries`");
  expect_finding(with("\"test_id\": \"rag_q2\"", "\"id\": 1"), 9, "`entries[1]` has no `test_id`");
  expect_finding(with("\"metric\": \"semantic_similarity_to\", \"score\": 1}", "\"score\": 1}"), 9,
                 "`entries[1]` has no `metric`");
  expect_finding(with(", \"score\": 1}", "}"), 9, "`entries[1]` has no `score`");
  expect_finding(with_entries("\n{},\n{}"), 8, "`entries[0]` has no `test_id`");
}

TEST(BaselineFile, NamesWrongTypes) {
  for (const std::string value : {"null", "true", "7", "[]", "{\"suite\": 1}", "\"\""}) {
    for (const std::string field : {"suite", "assay_version", "created_at", "config_fingerprint"}) {
      const auto from = complete.find(": ", complete.find(field)) + 2;
      const auto to = complete.find(",\n", from);
      expect_finding(
          complete.substr(0, from) + value + complete.substr(to),
          static_cast<std::uint32_t>(1 + std::count(complete.begin(), complete.begin() + from, '\n')),
          "`" + field + "` is ");
    }
    expect_finding(with("\"rag_q2\"", value), 9, "`entries[1].test_id` is ");
  }
  for (const std::string value : {"null", "true", "\"0.9\"", "[0.9]", "{}"}) {
    expect_finding(with("0.91", value), 8, "`entries[0].score` is ");
  }
  for (const std::string value : {"null", "true", "\"x\"", "1", "[]"}) {
    expect_finding(with("\"score\": 1}", "\"score\": 1, \"meta\": " + value + "}"), 9,
                   "`entries[1].meta` is ");
  }
  expect_finding(with_entries("1"), 7, "`entries[0]` is 1, expected an object");
  expect_finding(with_entries("[]"), 7, "`entries[0]` is a list, expected an object");
  for (const std::string value : {"{}", "null", "\"x\"", "1"}) {
    const std::string text = complete.substr(0, complete.find('[')) + value + "}";
    expect_finding(text, 7, "expected a list");
  }
  for (const std::string value : {"[]", "null", "\"x\"", "1", "true"})
    expect_finding(value, 1, "expected a JSON object");
}

TEST(BaselineFile, NamesScoresThatAreNone) {
  expect_finding(with("0.91", "-0.1"), 8, "`entries[0].score` is -0.1, expected a number from 0 to 1");
  expect_finding(with("0.91", "1.1"), 8, "`entries[0].score` is 1.1");
  expect_finding(with("0.91", "1.0000000000000002"), 8, "`entries[0].score` is 1.0000000000000002");
  expect_finding(with("0.91", "-1"), 8, "`entries[0].score` is -1");
  expect_finding(with("0.91", "18446744073709551616"), 8, "`entries[0].score` is 18446744073709551616");
  expect_finding(with("0.91", "1e400"), 8, "holds the number `1e400` in `entries[0].score`");
  expect_finding(with("0.91", "-1e400"), 8, "too large");
  for (const std::string value : {"NaN", "nan", "Infinity", "-Infinity", "0x1", ".5", "+1", "01", "1."}) {
    expect_finding(with("0.91", value), 8, "`entries[0].score`");
  }
}

TEST(BaselineFile, NamesTimesThatAreNone) {
  for (const std::string time :
       {"yesterday", "2025-12-21", "2025-13-21T12:00:00Z", "2025-02-29T12:00:00Z", "2025-12-21T24:00:00Z",
        "2025-12-21T12:00:00", "2025-12-21T12:00:00.Z", "2025-12-21T12:00:00+1:00",
        "2025-12-21T12:00:00+24:00", "2025-12-21T12:00:00ZZ"}) {
    expect_finding(with("2025-12-21T12:00:00Z", time), 5, "`created_at` is the text `" + time + "`");
  }
  for (const std::string time : {"2024-02-29t23:59:60z", "2025-12-21 12:00:00.000-08:30"}) {
    EXPECT_TRUE(parse(with("2025-12-21T12:00:00Z", time))) << time;
  }
}

TEST(BaselineFile, NamesAnotherSchemaVersionBeforeAllElse) {
  expect_finding(with("\"schema_version\": 2", "\"schema_version\": 3"), 2,
                 "has schema_version 3, and this sluice reads 1 to 2: regenerate the baseline with "
                 "`sluice run SUITE --export-baseline FILE`, or use a newer sluice");
  expect_finding(with("\"schema_version\": 2", "\"schema_version\": 0"), 2, "--export-baseline FILE`");
  expect_finding(R"({"entries": {"q": 1},
    "schema_version": 3})",
                 2, "has schema_version 3");
  expect_finding(R"({"entries": [{"score": [7]}],
    "schema_version": 3})",
                 2, "has schema_version 3");
  for (const std::string value : {"\"1\"", "1.0", "-1", "null", "[1]", "1.5"}) {
    expect_finding(with("\"schema_version\": 2", "\"schema_version\": " + value), 2, "`schema_version` is ");
  }
}

TEST(BaselineFile, DistinguishesAReportFromABaseline) {
  const std::string answer =
      "is a report: `sluice compare` reads reports, --baseline takes what --export-baseline wrote";
  expect_finding(
      "{\"schema_version\": 1,\n\"run_id\": \"x\", \"suite\": \"s\", \"metrics\": {},\n\"fixture_results\": "
      "[\n]}",
      3, answer);
  expect_finding("{\"schema_version\": 2, \"suite\": 5, \"fixture_results\": [", 1, answer);
}

TEST(BaselineFile, NamesDuplicates) {
  expect_finding(with("rag_q2", "rag_q1"), 9,
                 "`entries[1]` has the test_id and metric of `entries[0]` (line 8): keep one of the two");
  const std::string entry = R"({"test_id": "a", "metric": "m", "score": 0.1})";
  const std::string other = R"({"test_id": "b", "metric": "m", "score": 0.1})";
  expect_finding(with_entries("\n" + other + ",\n" + entry + ",\n" + other + ",\n" + entry), 10,
                 "`entries[2]`");
  expect_finding(with("\"suite\": \"demo_suite\"", "\"suite\": \"a\", \"suite\": \"a\""), 3,
                 "the key `suite` stands there twice");
  expect_finding(with("\"score\": 1}", "\"score\": 1, \"score\": 1}"), 9,
                 "the key `entries[1].score` stands there twice");
  expect_finding(with("\"model\":\"m\"", "\"model\":\"m\",\"model\":\"m\""), 8,
                 "the key `model` in `entries[0].meta`");
  expect_finding(with("\"model\":\"m\"", "\"a\\n\":1,\"a\\n\":2"), 8, "the key `a\\n` in `entries[0].meta`");
  expect_finding(with("\"entries\": [", "\"entries\": [],\n\"entries\": ["), 8,
                 "the key `entries` stands there twice");
}

TEST(BaselineFile, RefusesWhatIsNoJson) {
  expect_finding("", 1, "is empty");
  expect_finding(" \n\n ", 3, "is empty");
  expect_finding(complete + "x", 12, "goes on after the end of its JSON object with `x`");
  expect_finding(complete + "{}", 12, "goes on after the end");
  expect_finding(complete + complete, 12, "goes on after the end");
  expect_finding(with("rag_q1", "rag\xFFq1"), 8,
                 "is not UTF-8 text at `\"rag\xEF\xBF\xBD` in `entries[0].test_id`");
  expect_finding(with("rag_q1", "rag\xED\xA0\x80q1"), 8, "is not UTF-8");
  expect_finding(with("rag_q1", "rag\nq1"), 8, "is not JSON at");
  expect_finding(with("rag_q1", "\\ud800"), 8, "is not JSON at");
  expect_finding(with("\"suite\": ", "\"suite\" "), 3, "is not JSON at `\"demo_suite\"` in `suite`");
  expect_finding(with("score\": 1}\n", "score\": 1},\n"), 10, "is not JSON at `]` in `entries[2]`");
  expect_finding("// comment\n{}", 1, "is not JSON");
  expect_finding(std::string("\xFF\xFE{\0}\0", 6), 1, "is not");
  expect_finding(std::string(1000, '\0'), 1, "is not JSON");
  expect_finding(with("\"suite\": ", "\"suite\": \xE2\x80\x9C"), 3,
                 "is not JSON at a character that is not ASCII in `suite`");
  // A table ends the parser in the middle of its first character, which was then called no UTF-8.
  for (const char* report : {"┌──────────┬───────┐\n", "sluice: fail\n", "## ✗ Failed\n"})
    expect_finding(report, 1, "`sluice run SUITE --format json --output FILE` the other");
}

TEST(BaselineFile, RefusesDeepNestingAtOnce) {
  const std::string deep(100'000, '[');
  expect_finding(deep, 1, "expected a JSON object");
  expect_finding("{\"a\": " + deep, 1, "is nested deeper than 32 levels in `a`");
  expect_finding(with("{\"model\"", "{\"x\": " + deep), 8,
                 "is nested deeper than 32 levels in `entries[0].meta`");
  const auto nested = [](std::size_t levels) {
    return with("\"m\",", std::string(levels, '[') + std::string(levels, ']') + ",");
  };
  EXPECT_TRUE(parse(nested(28)));  // Below the file, the list, the entry and its meta.
  EXPECT_FALSE(parse(nested(29)));
}

TEST(BaselineFile, RefusesEndlessTextsAndMeta) {
  expect_finding(with("rag_q1", std::string((1 << 20) + 1, 'x')), 8,
                 "holds more than 1 MiB in one piece in `entries[0].test_id`");
  expect_finding(with("0.91", "0." + std::string(2 << 20, '1')), 8, "more than 1 MiB");
  expect_finding("{\"" + std::string(2 << 20, 'x'), 1, "more than 1 MiB");
  expect_finding("{" + std::string(2 << 20, ' ') + "\"a\": 1}", 1, "more than 1 MiB");
  std::string words = "{\"a\": [";
  for (int i = 0; i < 300'000; ++i) words += "true,";
  expect_finding(words, 1, "more than 1 MiB");
  EXPECT_TRUE(parse(with("rag_q1", std::string(1 << 19, 'x'))));
  std::string zeros;
  for (int i = 0; i < 70'000; ++i) zeros += "0,";
  expect_finding(with("[1,", "[" + zeros), 8, "`entries[0].meta` holds more than 64 KiB");
}

TEST(BaselineFile, AMetaOfManyKeysTakesNoTimeSquared) {
  std::string keys;
  for (int i = 0; i < 90'000; ++i) keys += "\"k" + std::to_string(i) + "\":1,";
  const std::clock_t begin = std::clock();
  expect_finding(with("\"model\"", keys + "\"model\""), 8, "`entries[0].meta` holds more than 64 KiB");
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 5.0);
  expect_finding(with("\"model\"", keys + "\"k89999\":1,\"model\""), 8,
                 "the key `k89999` in `entries[0].meta` stands there twice");
}

TEST(BaselineFile, EachEntryKeepsItsOwnMeta) {
  const auto entry = [](const std::string& id, const std::string& meta) {
    return "{\"test_id\":\"" + id + "\",\"metric\":\"m\",\"score\":1,\"meta\":" + meta + "}";
  };
  const std::vector<std::string> metas{
      R"({"a":1,"b":[0.0]})", R"({"b":[0.0],"a":1})", R"({"a":1,"b":[-0.0]})",
      R"({"a":1,"b":[0]})",   R"({"a":"1","b":[0]})", R"({"a":1})",
      R"({"a":true})",        R"({"a":false})",       R"({"a":-1})"};
  std::string entries;
  for (std::size_t i = 0; i < metas.size(); ++i) {
    entries += (i > 0 ? "," : "") + entry("t" + std::to_string(i), metas[i]);
  }
  const auto baseline = parse(with_entries(entries));
  ASSERT_TRUE(baseline) << to_text(baseline.error());
  for (std::size_t i = 0; i < metas.size(); ++i) {
    EXPECT_EQ(baseline->entry(i).meta, i == 1 ? metas[0] : metas[i]) << i;
  }
}

TEST(BaselineFile, CountsLinesAcrossPieces) {
  // More than one buffer of the reader, with the mistake in the last line.
  std::string entries;
  for (int i = 0; i < 5000; ++i) {
    entries += "\n{\"test_id\": \"t" + std::to_string(i) + "\", \"metric\": \"m\", \"score\": 0.5\n},";
  }
  entries += "\n{\"test_id\": \"last\", \"metric\": \"m\", \"score\": 2\n}";
  expect_finding(with_entries(entries), 7 + 2 * 5000 + 1, "`entries[5000].score` is 2");
}

// --- Files
// ---------------------------------------------------------------------------------------------------

void expect_unreadable(const std::filesystem::path& file, const std::string& part) {
  const auto loaded = load_baseline(file);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().file, file.string());
  EXPECT_NE(loaded.error().message.find(part), std::string::npos) << loaded.error().message;
}

TEST(BaselineFile, NamesAFileThatCannotBeRead) {
  const support::TemporaryFolder folder;
  expect_unreadable(folder.path() / "none.json", "cannot be read: there is no such file");
  expect_unreadable(folder.path(), "cannot be read: it is a folder");
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_unreadable(pipe, "it is no regular file");
  const auto closed = folder.path() / "closed.json";
  std::ofstream(closed) << complete;
  EXPECT_TRUE(load_baseline(closed));
  std::filesystem::permissions(closed, std::filesystem::perms::none);
  const bool may_read_everything = ::access(closed.c_str(), R_OK) == 0;
  if (!may_read_everything) expect_unreadable(closed, "cannot be read: ");
  expect_unreadable("/proc/self/mem", "cannot be read to its end");
}

TEST(BaselineFile, NamesAFileThatBreaksWhileItIsRead) {
  class Broken : public std::streambuf {
    int_type underflow() override { throw std::runtime_error("disk"); }
  };
  Broken buffer;
  std::istream stream(&buffer);
  const auto parsed = parse_baseline(stream, "base.json");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "cannot be read to its end");
}

}  // namespace
}  // namespace sluice
