// Expectations in other words than the ontology's, from end to end.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;
using nlohmann::json;

class Synonyms : public Workbench {
 protected:
  void fixture(const std::string& id, const std::string& expected) const {
    std::filesystem::create_directories(folder() / "suite");
    std::ofstream(folder() / "suite" / (id + ".toml"))
        << "[metadata]\nid = \"" << id << "\"\ncategory = \"tls\"\n[input]\ncontent = \"min " << id
        << "\"\n[expected]\n"
        << expected;
  }

  Flags run(const SimulatorProcess& simulator) const {
    return {"run",
            "--mode",
            "live",
            "--fixtures",
            (folder() / "suite").string(),
            "--format",
            "json",
            "--model",
            "m",
            "--provider",
            "openai",
            "--base-url",
            simulator.url() + "/v1"};
  }
};

TEST_F(Synonyms, AnExpectationInASynonymIsMetByTheSameAnswer) {
  const auto simulator = start_simulator(
      {R"rule({"contains": "min written", "text": "{\"claims\":[{\"subject\":\"tls/min_version\",\"predicate\":\"version\",\"value\":\"1.0\",\"confidence\":0.9}]}"})rule",
       R"rule({"contains": "min number", "text": "{\"claims\":[{\"subject\":\"tls/min_version\",\"predicate\":\"value\",\"value\":1.0,\"confidence\":0.9}]}"})rule",
       R"rule({"contains": "min forbidden", "text": "{\"claims\":[{\"subject\":\"tls/min_version\",\"predicate\":\"version\",\"value\":\"1.0\",\"confidence\":0.9}]}"})rule"},
      {});
  const std::string synonym = R"({ subject = "tls/min_version", predicate = "version", value = "1.0" })";
  fixture("written", "must_contain = [" + synonym + "]\n");
  fixture("number", R"(must_contain = [{ subject = "ssl/version", predicate = "value", value = "1.0" }])"
                    "\n");
  fixture("forbidden", "must_not_contain = [" + synonym + "]\n");
  const auto finished = run_sluice(run(simulator));
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  const json report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object()) << finished.output << finished.errors;
  EXPECT_EQ(schema_findings(report), "");
  std::map<std::string, json> results;
  for (const json& one : report["fixture_results"]) results[one["id"]] = one;
  EXPECT_EQ(results["written"]["status"], "pass") << results["written"];
  EXPECT_EQ(results["written"]["true_positives"], 1);
  EXPECT_EQ(results["number"]["status"], "pass") << "1.0 and \"1.0\" agree: " << results["number"];
  EXPECT_EQ(results["forbidden"]["status"], "fail");
  ASSERT_EQ(results["forbidden"]["forbidden"].size(), 1u) << results["forbidden"];
  EXPECT_EQ(results["forbidden"]["forbidden"][0]["predicate"], "version");
  EXPECT_EQ(results["forbidden"]["forbidden"][0]["taken_for"]["predicate"], "value");

  const auto checked = run_sluice({"validate-fixtures", (folder() / "suite").string()});
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  EXPECT_NE(checked.output.find("note: written names tls/min_version/version = \"1.0\", taken for "
                                "tls/min_version/value = \"1.0\""),
            std::string::npos)
      << checked.output;
  EXPECT_EQ(checked.output.find("warning"), std::string::npos) << checked.output;
}

TEST_F(Synonyms, ValidateFixturesRefusesOneClaimInTwoWords) {
  fixture("a", R"(must_contain = [{ subject = "tls/min_version", predicate = "version", value = "1.0" }])"
               "\n"
               R"(must_not_contain = [{ subject = "tls/min_version", predicate = "value", value = "1.0" }])"
               "\n");
  const auto checked = run_sluice({"validate-fixtures", (folder() / "suite").string()});
  EXPECT_EQ(checked.exit_code, 2);
  EXPECT_NE(checked.output.find("a.toml:2: error: a requires tls/min_version/version = \"1.0\" and forbids"),
            std::string::npos)
      << checked.output;
  EXPECT_NE(checked.errors.find("1 finding in "), std::string::npos) << checked.errors;
  // A run paid for it.
  const auto simulator = start_simulator({}, {});
  const auto finished = run_sluice(run(simulator));
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.errors.find("a.toml:2: a requires tls/min_version/version = \"1.0\" and forbids"),
            std::string::npos)
      << finished.errors;
  EXPECT_EQ(simulator.count("start"), 0u);
}

}  // namespace
}  // namespace sluice
