// What a run learns of a limit that nobody named is there for the next one.
#include "tests/integration/budget_workbench.hpp"

namespace sluice {
namespace {

using namespace support;

class LearnedLimitsTest : public BudgetWorkbench {
 protected:
  Json run_once(const Flags& flags = {}) {
    const auto finished = run_sluice(Flags{"run", (folder() / "suite.yaml").string(), "--format", "json",
                                           "--no-cache", "--max-concurrent", "50"} +
                                     flags);
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    const Json report = parse_report(finished.output);
    EXPECT_EQ(schema_findings(report), "");
    return report;
  }
  Json limits() {
    const auto shown = run_sluice({"limits", "--format", "json"});
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    return Json::parse(shown.output, nullptr, false);
  }
};

TEST_F(LearnedLimitsTest, AreKeptShownUsedAndForgotten) {
  constexpr double per_minute = 6000;
  auto simulator =
      start_simulator({"--latency-ms", "20", "--rps", "100", "--burst", "10", "--retry-after", "1"});
  write_settings(simulator, "");
  write_questions(300);
  EXPECT_EQ(limits(), Json::array()) << "nothing is learnt yet";
  Json first = run_once();
  // Two refusals in one second say a rate only to a run that the machine lets call as fast as it may, and
  // what a busy one accepts is less than the server would.
  const auto has_learned = [&first] {
    const Json& found = first["run"]["budget"][0]["learned"];
    return found.is_object() && found["requests_per_minute"] > 0.5 * per_minute;
  };
  for (int more = 0; more < 2 && !has_learned(); ++more) first = run_once({"--forget-limits"});
  const Json learned = first["run"]["budget"][0]["learned"];
  ASSERT_TRUE(learned.is_object()) << first["run"]["budget"];
  EXPECT_EQ(learned["source"], "found");
  EXPECT_GT(learned["requests_per_minute"], 0.5 * per_minute);
  EXPECT_LT(learned["requests_per_minute"], 1.2 * per_minute);

  const Json kept = limits();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0]["provider"], "limited");
  EXPECT_EQ(kept[0]["requests_per_minute"], learned["requests_per_minute"]);
  EXPECT_EQ(kept[0]["run_id"], first["run_id"]);
  const auto table = run_sluice({"limits"});
  EXPECT_NE(table.output.find("requests_per_minute = "), std::string::npos) << table.output;
  EXPECT_NE(table.output.find(", in "), std::string::npos) << "the run's time: " << table.output;

  const Json second = run_once();
  EXPECT_LT(second["run"]["rate_limited"], first["run"]["rate_limited"]) << "it begins with what is known";

  const auto unknown = run_sluice({"limits", "--forget-limits", "other"});
  EXPECT_EQ(unknown.exit_code, 2) << unknown.output;
  EXPECT_EQ(run_sluice({"limits", "--forget-limits", "--format", "json"}).exit_code, 2)
      << "a sentence is no JSON";
  const auto forgotten = run_sluice({"limits", "--forget-limits", "limited"});
  EXPECT_EQ(forgotten.exit_code, 0) << forgotten.errors;
  EXPECT_NE(forgotten.output.find("1 provider"), std::string::npos) << forgotten.output;
  EXPECT_EQ(limits(), Json::array());

  EXPECT_EQ(run_sluice({"limits", "--forget-limits"}).exit_code, 0) << "nothing is left to forget";

  for (int tries = 0; tries < 3 && limits().empty(); ++tries) run_once();
  ASSERT_EQ(limits().size(), 1u);
  run_once({"--forget-limits", "--max-fixtures", "1"});
  EXPECT_EQ(limits(), Json::array()) << "one call teaches nothing new";
}

}  // namespace
}  // namespace sluice
