// A run that was stopped before it had anything to show: one sentence, and no report of an earlier run left
// in its place.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;

class StoppedReport : public Workbench {
 protected:
  std::filesystem::path file(const std::string& name) const { return folder() / name; }
  /// With every format in a file of its own, beside the report on standard output.
  Flags with_files(const Flags& flags) const {
    Flags all = flags;
    for (const std::string format : {"markdown", "table", "junit", "github", "json"}) {
      all.insert(all.end(), {"--report", format + "=" + file("report." + format).string()});
    }
    return all;
  }
};

TEST_F(StoppedReport, TakesThePlaceOfAnEarlierOne) {
  const auto simulator = start_simulator();
  EXPECT_EQ(run_sluice(with_files(live(simulator))).exit_code, 1);
  ASSERT_NE(read_text(file("report.markdown")).find("passed"), std::string::npos);
  ASSERT_EQ(read_text(file("report.markdown")).find("ERROR"), std::string::npos);

  const auto elsewhere = Flags{"--home", (folder() / "empty").string()};
  const auto stopped = run_sluice(with_files(cached(simulator)) + elsewhere);
  EXPECT_EQ(stopped.exit_code, 2);
  EXPECT_EQ(stopped.output, "");
  ASSERT_EQ(stopped.error_lines().size(), 1u) << stopped.errors;
  EXPECT_EQ(simulator.count("start"), fixture_count()) << "only the first run called";

  for (const char* format : {"markdown", "table"}) {
    const std::string text = read_text(file(std::string("report.") + format));
    EXPECT_NE(text.find("ERROR"), std::string::npos) << text;
    EXPECT_NE(text.find("the run ended early"), std::string::npos) << text;
    EXPECT_NE(text.find("0 passed"), std::string::npos) << text;
  }
  const auto document = parse_report(read_text(file("report.json")));
  ASSERT_TRUE(document.is_object());
  EXPECT_EQ(document["verdict"], "error");
  const std::string reason = document["fixture_results"][0]["reason_code"];
  EXPECT_NE(read_text(file("report.table")).find("ended early (" + reason), std::string::npos) << reason;
  for (const char* format : {"junit", "github"}) {
    const std::string text = read_text(file(std::string("report.") + format));
    EXPECT_NE(text.find(reason), std::string::npos) << text;
  }
}

TEST_F(StoppedReport, IsWrittenWhereOutputNamesAFile) {
  const auto simulator = start_simulator();
  const auto output = file("report.json");
  const auto stopped = run_sluice(cached(simulator) + Flags{"--output", output.string()});
  EXPECT_EQ(stopped.exit_code, 2);
  ASSERT_EQ(stopped.error_lines().size(), 1u) << stopped.errors;
  ASSERT_TRUE(std::filesystem::exists(output));
  EXPECT_EQ(parse_report(read_text(output))["verdict"], "error");
}

}  // namespace
}  // namespace sluice
