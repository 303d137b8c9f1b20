// What is wrong in a baseline file, and how it is said.
#include "baseline_file_text.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>

#include <gtest/gtest.h>

namespace sluice::baseline_file_test {

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

TEST(BaselineFile, CountsLinesAcrossPieces) {
  // More than one buffer of the reader, with the mistake in the last line.
  std::string entries;
  for (int i = 0; i < 5000; ++i) {
    entries += "\n{\"test_id\": \"t" + std::to_string(i) + "\", \"metric\": \"m\", \"score\": 0.5\n},";
  }
  entries += "\n{\"test_id\": \"last\", \"metric\": \"m\", \"score\": 2\n}";
  expect_finding(with_entries(entries), 7 + 2 * 5000 + 1, "`entries[5000].score` is 2");
}

}  // namespace sluice::baseline_file_test
