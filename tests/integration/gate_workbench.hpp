#pragma once

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice::support {

/// Suites whose recalls are exact fractions: the simulated model names as many of the expected claims as the
/// prompt tells it to.
class GateWorkbench : public Workbench {
 protected:
  using Json = nlohmann::json;

  void SetUp() override {
    std::vector<std::string> rules{R"({"contains": "Refuse.", "refusal": true})",
                                   R"({"contains": "Greet.", "text": "Good morning"})"};
    for (const auto& [found, of] : fractions) {
      std::string claims;
      for (int i = 1; i <= found; ++i) {
        claims += (claims.empty() ? "" : ", ") + ("{\"subject\": \"" + subject(i)) +
                  R"(", "predicate": "holds", "value": true, "confidence": 0.9, "line": 1})";
      }
      rules.push_back(R"({"contains": ")" + prompt(found, of) + R"(", "text": {"claims": [)" + claims +
                      "]}}");
    }
    simulator_ = std::make_unique<SimulatorProcess>(start_simulator(rules, {}));
    set_variable("SLUICE_BASE_URL", simulator_->url() + "/v1");
  }

  // --- Suites ---

  /// `thresholding` is settings.thresholding as a YAML flow mapping; empty: none.
  static std::string suite(const std::string& thresholding, const std::string& tests) {
    return "suite: demo_suite\nmodel: sim-1\nsettings:\n  provider: openai\n" +
           (thresholding.empty() ? "" : "  thresholding: {" + thresholding + "}\n") + "tests:\n" + tests;
  }
  /// A test with a recall of found/of; `more` are further keys of `expected` as YAML flow entries.
  static std::string recall_test(const std::string& id, int found, int of, const std::string& more = "") {
    return claims_test(id, "claims_recall", found, of, more);
  }
  static std::string claims_test(const std::string& id, const std::string& metric, int found, int of,
                                 const std::string& more = "") {
    std::string claims;
    for (int i = 1; i <= of; ++i) {
      claims +=
          (claims.empty() ? "" : ", ") + ("{subject: " + subject(i)) + ", predicate: holds, value: true}";
    }
    return "  - id: " + id + "\n    input: {prompt: '" + prompt(found, of) +
           "'}\n    expected: {type: " + metric + ", must_contain: [" + claims + "]" +
           (more.empty() ? "" : ", " + more) + "}\n";
  }
  /// A test whose answer is `Good morning`.
  static std::string greeting_test(const std::string& id, const std::string& expected) {
    return "  - id: " + id + "\n    input: {prompt: Greet.}\n    expected: {" + expected + "}\n";
  }
  /// A test that the model declines to answer.
  static std::string refused_test(const std::string& id) {
    return "  - id: " + id + "\n    input: {prompt: Refuse.}\n    expected: {type: must_contain, text: x}\n";
  }

  /// A fixture with a recall of 17/20, a precision of 1 and an F1 of 34/37.
  static std::string fixture(const std::string& id) {
    std::string claims;
    for (int i = 1; i <= 20; ++i) {
      claims += "  { subject = \"" + subject(i) + "\", predicate = \"holds\", value = true },\n";
    }
    return "[metadata]\nid = \"" + id + "\"\nname = \"" + id +
           "\"\ncategory = \"demo\"\nlanguage = \"c\"\n[input]\ncontent = \"" + prompt(17, 20) +
           "\"\n[expected]\nmust_contain = [\n" + claims + "]\n";
  }

  // --- Files ---

  std::filesystem::path write_suite(const std::string& text, const std::string& name = "suite.yaml") {
    write_text(folder() / name, text);
    return folder() / name;
  }

  static Flags run_of(const std::filesystem::path& suite) {
    return {"run", suite.string(), "--mode", "live", "--format", "json"};
  }

  /// The suite's own baseline.
  Json pinned(const std::filesystem::path& suite_file) {
    const auto file = folder() / "pinned.json";
    std::filesystem::remove(file);
    const auto finished =
        run_sluice(run_of(suite_file) + Flags{"--export-baseline", file.string(), "--allow-errors"});
    EXPECT_TRUE(std::filesystem::exists(file)) << finished.errors;
    return Json::parse(read_text(file), nullptr, false);
  }

  Finished gate(const std::filesystem::path& suite_file, const std::filesystem::path& baseline,
                const Flags& flags = {}) {
    return run_sluice(run_of(suite_file) + Flags{"--baseline", baseline.string()} + flags);
  }

  static Json result_of(const Json& report, const std::string& id) {
    if (!report.is_object()) return {};
    for (const auto& result : report["fixture_results"]) {
      if (result["id"] == id) return result;
    }
    return {};
  }

 private:
  static constexpr std::pair<int, int> fractions[] = {{17, 20}, {41, 50}, {3, 4}, {0, 1}};

  static std::string prompt(int found, int of) {
    return "Recall " + std::to_string(found) + " of " + std::to_string(of) + ".";
  }
  static std::string subject(int number) { return "demo/k" + std::to_string(100 + number); }

  std::unique_ptr<SimulatorProcess> simulator_;
};

}  // namespace sluice::support
