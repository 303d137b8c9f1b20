// What is read of a baseline file, and what is written.
#include "coordinator/score_files/baseline_file.hpp"

#include "baseline_file_text.hpp"
#include "gate_fixture.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <istream>
#include <iterator>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::baseline_file_test {

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

// --- files ---

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

}  // namespace sluice::baseline_file_test
