#include "coordinator/suite/suite_remarks.hpp"

#include "tests/unit/suite/suite_files.hpp"

#include <string>
#include <string_view>

namespace sluice {
namespace {

constexpr const char* claims_test =
    "  - {id: c, weight: 2, input: {prompt: x}, expected: {type: claims_recall, must_contain: [{subject: "
    "tls/cert_verification, predicate: enabled, value: false}]}}\n";

class SuiteRemarks : public SuiteFiles {
 protected:
  /// Those of a suite, a line each, without the folder's name.
  std::string remarks(const std::string& yaml) const {
    std::string text;
    for (const std::string& one : suite_remarks(load("suite: s\n" + yaml).suite)) text += one + "\n";
    const std::string folder = folder_.generic_string() + "/";
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder))
      text.erase(at, folder.size());
    return text;
  }
  /// A schema of a property for each format, in a line of the suite.
  static std::string schema_test(const std::string& id, const std::string& formats) {
    return "  - {id: " + id + ", input: {prompt: x}, expected: {type: json_schema, schema: {properties: {" +
           formats + "}}}}\n";
  }
};

// A weight of 1000 had no effect on anything, and nobody said so.
TEST_F(SuiteRemarks, AWeightIsForClaimsAlone) {
  const std::string check = ", input: {prompt: x}, expected: {type: contains, text: a}}\n";
  EXPECT_EQ(remarks("tests:\n  - {id: a, weight: 1000" + check + "  - {id: b, weight: 0.1" + check +
                    "  - {id: d, weight: 1" + check),
            "\"weight\" has no effect on 2 tests without claims (first suite.yaml:3): it is for the weighted "
            "precision, recall and F1 of claims, and a pass rate counts each test once; leave it out\n");
  EXPECT_EQ(remarks("tests:\n" + std::string(claims_test)), "");
}

TEST_F(SuiteRemarks, ALimitOnScoresNeedsAScore) {
  const std::string floor = "settings: {thresholding: {min_floor: 0.8, max_drop: 0.01}}\ntests:\n";
  const std::string check = "  - {id: a, input: {prompt: x}, expected: {type: contains, text: a}}\n";
  EXPECT_EQ(remarks(floor + check),
            "\"min_floor\" in settings.thresholding has no effect: no test of the suite has a score, and "
            "checks pass or fail; leave it out, or say \"min_pass_rate\" for a share of the tests\n");
  EXPECT_EQ(remarks(floor + check + claims_test), "");
  EXPECT_EQ(remarks(floor + "  - {id: a, input: {prompt: x}, expected: {type: relevancy}}\n"), "");
  EXPECT_EQ(remarks("settings: {thresholding: {max_drop: 0.01}}\ntests:\n" + check), "")
      << "it is stability's, too";
}

// An answer passed whatever stood where a mail address was asked for.
TEST_F(SuiteRemarks, FormatsThatNothingChecksAreNamed) {
  write("more.jsonl",
        R"({"id": "z", "input": {"prompt": "x"}, "expected": {"type": "json_schema", "schema": )"
        R"({"items": {"format": "uuid"}}}})"
        "\n");
  EXPECT_EQ(remarks("tests:\n" +
                    schema_test("a", "mail: {format: email}, when: {format: datetime}, day: {format: date}") +
                    schema_test("b", "mail: {format: email}, url: {format: uri}, format: {type: string}") +
                    "tests_file: more.jsonl\n"),
            "nothing checks the format \"datetime\" (suite.yaml:3) of a schema, which is none that is known; "
            "did you mean \"date-time\"?\n"
            "nothing checks these formats of schemas: \"email\" (suite.yaml:3), \"uri\" (suite.yaml:4), "
            "\"uuid\" (more.jsonl:1); only \"date\", \"time\" and \"date-time\" are checked: say what such a "
            "text looks like with \"pattern\"\n");
}

}  // namespace
}  // namespace sluice
