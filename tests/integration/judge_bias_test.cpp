// A judge's bias is found where it is, and nothing is said where it is not.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::judge_bias_test {

using namespace support;
using Json = nlohmann::json;

class JudgeBias : public Workbench {
 protected:
  static constexpr int cases = 60;

  static std::string question(int number) { return "question q" + std::to_string(100 + number); }

  /// Answers of 40 to 630 bytes, whose quality has nothing to do with their length.
  static std::vector<std::string> answers() {
    std::vector<std::string> rules;
    for (int i = 0; i < cases; ++i) {
      const auto length = static_cast<std::size_t>(20 + 10 * ((i * 17) % cases));
      const std::string quality = std::to_string(20 + (i * 23) % 31);
      rules.push_back(R"({"contains": ")" + question(i) + R"(", "vote": false, "text": "[quality 0.)" +
                      quality + "] " + std::string(length, 'x') + R"("})");
    }
    return rules;
  }
  void write_suite() const {
    std::string suite = "suite: judged\ntests:\n";
    for (int i = 0; i < cases; ++i) {
      suite += "  - {id: t" + std::to_string(100 + i) + ", input: {prompt: " + question(i) +
               "}, expected: {type: relevancy, min_score: 0.1}}\n";
    }
    write_text(folder() / "suite.yaml", suite);
  }
  Finished run_with(const Flags& bias, const std::string& format) {
    auto simulator = start_simulator(answers(), bias);
    return run_sluice({"run", "suite.yaml", "--mode", "live", "--provider", "openai", "--model", "sim-1",
                       "--base-url", simulator.url() + "/v1", "--judge", "openai", "--judge-model", "judge-1",
                       "--judge-samples", "1", "--format", format});
  }
  static std::vector<std::string> codes_of(const Json& report) {
    std::vector<std::string> codes;
    for (const Json& notice : report.value("notices", Json::array())) codes.push_back(notice.at("code"));
    return codes;
  }
};

TEST_F(JudgeBias, ByLengthIsFound) {
  write_suite();
  const auto finished = run_with({"--judge-length-bias", "0.5"}, "json");
  EXPECT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
  const Json report = parse_report(finished.output);
  const Json& length = report.at("judge_bias").at("metrics").at(0).at("length");
  EXPECT_EQ(length.at("beyond_chance"), true) << length;
  EXPECT_GT(length.at("rho").get<double>(), 0.5) << length;
  EXPECT_GT(length.at("interval").at(0).get<double>(), 0.0) << length;
  EXPECT_EQ(length.at("cases"), cases);
  EXPECT_EQ(codes_of(report), std::vector<std::string>{"judge_length_bias"});
  EXPECT_EQ(report.at("verdict"), "pass") << "a correlation does not say why, and decides nothing";
  const auto table = run_with({"--judge-length-bias", "0.5"}, "table");
  EXPECT_NE(table.output.find("longer answers score"), std::string::npos) << table.output;
}

TEST_F(JudgeBias, IsNotSaidOfAnHonestJudge) {
  write_suite();
  const auto finished = run_with({}, "json");
  EXPECT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
  const Json report = parse_report(finished.output);
  const Json& metric = report.at("judge_bias").at("metrics").at(0);
  EXPECT_EQ(metric.at("length").at("beyond_chance"), false) << metric;
  EXPECT_EQ(metric.at("format").at("beyond_chance"), false) << metric;
  EXPECT_TRUE(codes_of(report).empty()) << finished.output;
}

}  // namespace sluice::judge_bias_test
