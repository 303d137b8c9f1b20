#include "coordinator/session/run_outputs.hpp"

#include "coordinator/suite/suite_loader.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <string>

namespace sluice {
namespace {

class RunOutputs : public SuiteFiles {
 protected:
  void SetUp() override {
    SuiteFiles::SetUp();
    write("prompts/a.txt", "Hello?");
    options_.suite_path = (folder_ / "suite.yaml").string();
    options_.settings.home.value = (folder_ / "home").string();
  }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void report_to(const std::string& name) { options_.reports = {{ReportFormat::markdown, file(name)}}; }
  /// What check_run_outputs refuses, without the folder's name.
  std::string refusal() const {
    const auto checked = check_run_outputs(options_, suite_);
    if (checked) return "(none)";
    EXPECT_EQ(checked.error().reason, Reason::usage_invalid);
    std::string text = checked.error().message;
    const std::string folder = folder_.string() + "/";
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
      text.erase(at, folder.size());
    }
    return text;
  }

  RunOptions options_;
  Suite suite_;
};

TEST_F(RunOutputs, NoCallLogIsAppendedToTheBaseline) {
  write("b.json", "{}");
  options_.baseline = file("b.json");
  options_.call_log = file("./b.json");
  EXPECT_EQ(refusal(),
            "the call log would write over the baseline of this run, \"./b.json\": name another file");
  options_.call_log = file("calls.jsonl");
  EXPECT_EQ(refusal(), "(none)");
}

TEST_F(RunOutputs, NoTwoOutputsGoToOneFile) {
  options_.export_baseline = file("x");
  options_.call_log = file("./x");
  EXPECT_EQ(refusal(),
            "the baseline and the call log would both be written to \"./x\": give each a file of its own");
  options_.export_baseline.reset();
  report_to("x");
  EXPECT_EQ(refusal(),
            "the report and the call log would both be written to \"./x\": give each a file of its own");
  options_.reports = {{ReportFormat::markdown, "/dev/null"}};
  options_.call_log = "/dev/null";
  EXPECT_EQ(refusal(), "(none)") << "nothing is lost there";
}

// The baseline took the place of the examples, or calls stood among them and nothing was added.
TEST_F(RunOutputs, NothingElseIsWrittenToTheFileOfSolvedExamples) {
  write("solved.jsonl", "");
  options_.harvest = file("solved.jsonl");
  EXPECT_EQ(refusal(), "(none)");
  options_.export_baseline = file("./solved.jsonl");
  EXPECT_EQ(refusal(),
            "the baseline and the solved examples would both be written to \"solved.jsonl\": give each a "
            "file of its own");
  options_.export_baseline.reset();
  options_.call_log = file("solved.jsonl");
  EXPECT_EQ(refusal(),
            "the call log and the solved examples would both be written to \"solved.jsonl\": give each a "
            "file of its own");
}

TEST_F(RunOutputs, NoReportTakesThePlaceOfADataFile) {
  report_to("data.txt");
  write("data.txt", "as it was");
  EXPECT_EQ(refusal(), "(none)") << "an old report";
  for (const auto& [name, setting] :
       {std::pair("the prompt", &Settings::prompt_file), std::pair("the ontology", &Settings::ontology_file),
        std::pair("the price table", &Settings::prices_file)}) {
    (options_.settings.*setting).value = file("data.txt");
    EXPECT_EQ(refusal(), "the report would write over " + std::string(name) +
                             " of this run, \"data.txt\": name another file");
    (options_.settings.*setting).value.clear();
  }
}

TEST_F(RunOutputs, NoReportTakesThePlaceOfADatabaseOrOfWhatSqliteKeepsBesideIt) {
  for (const std::string ending : {"", "-wal", "-journal", "-shm"}) {
    report_to("home/ledger.db" + ending);
    EXPECT_EQ(refusal(), "the report would write over the run ledger, \"home/ledger.db" + ending +
                             "\": name another file");
    report_to("home/observations.db" + ending);
    EXPECT_EQ(refusal(), "the report would write over the observations, \"home/observations.db" + ending +
                             "\": name another file");
  }
  for (const auto& [file, what] : {std::pair("fleet/coordinator.key", "a file of the fleet's keys"),
                                   std::pair("keys/a", "a file of the shared budgets"),
                                   std::pair("runs.lock", "the list of runs under way")}) {
    report_to("home/" + std::string(file));
    EXPECT_EQ(refusal(), "the report would write over " + std::string(what) + ", \"home/" + file +
                             "\": name another file");
  }
  report_to("ledger.db-journal");
  EXPECT_EQ(refusal(), "(none)") << "of another folder";
}

TEST_F(RunOutputs, NoReportTakesThePlaceOfAFileThatATestNames) {
  write("l.jsonl",
        R"({"id": "j", "input": {"file": "prompts/b.txt"}, "expected": {"type": "exact_match", "text": "x"}})"
        "\n");
  write("prompts/b.txt", "What?");
  write("schema.json", R"({"type": "object"})");
  suite_ = load(
               "suite: s\ntests_file: l.jsonl\ntests:\n- id: y\n  input: {file: prompts/a.txt}\n"
               "  expected: {type: json_schema, schema: schema.json}\n")
               .suite;
  for (const std::string name : {"prompts/a.txt", "prompts/b.txt", "schema.json", "l.jsonl", "suite.yaml"}) {
    report_to(name);
    EXPECT_EQ(refusal(),
              "the report would write over a file of the suite, \"" + name + "\": name another file");
  }
  write("prompts/c.txt", "Nobody's.");
  report_to("prompts/c.txt");
  EXPECT_EQ(refusal(), "(none)");
}

}  // namespace
}  // namespace sluice
