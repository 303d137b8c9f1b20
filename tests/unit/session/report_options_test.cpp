#include "coordinator/session/report_options.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

class ReportOptions : public ::testing::Test {
 protected:
  ReportOptions() {
    std::string name = (fs::temp_directory_path() / "sluice-reports-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~ReportOptions() override { fs::remove_all(folder); }

  std::string file(const std::string& name) const { return (folder / name).string(); }
  static std::string refusal(const ReportFlags& flags, const std::vector<NamedFile>& taken = {}) {
    const auto targets = make_report_targets(flags, taken);
    if (targets) return "(none)";
    EXPECT_EQ(targets.error().reason, Reason::usage_invalid);
    return targets.error().message;
  }

  fs::path folder;
};

TEST_F(ReportOptions, ByDefaultOneTableOnStandardOutput) {
  EXPECT_EQ(format_of_file("a.xml"), ReportFormat::junit);
  EXPECT_EQ(to_string(format_of_file("a.csv")), "csv");
  EXPECT_EQ(format_of_file("a.txt"), ReportFormat::table);
  EXPECT_EQ(make_report_targets({}, {}), (std::vector<ReportTarget>{{ReportFormat::table, std::nullopt}}));
}

TEST_F(ReportOptions, SeveralAtOnceInTheirOrder) {
  const ReportFlags flags{.format = "json",
                          .output = file("a.json"),
                          .reports = {"junit=" + file("b=c.xml"), "markdown=" + file("d.md"), "github=-"}};
  EXPECT_EQ(make_report_targets(flags, {}),
            (std::vector<ReportTarget>{{ReportFormat::json, file("a.json")},
                                       {ReportFormat::junit, file("b=c.xml")},
                                       {ReportFormat::markdown, file("d.md")},
                                       {ReportFormat::github, std::nullopt}}));
}

TEST_F(ReportOptions, TheEndingOfTheFileNamesTheFormatWhereNothingElseDoes) {
  const auto format = [](const std::optional<std::string>& named, const std::string& output) {
    return make_report_targets({.format = named, .output = output, .reports = {}}, {})->front().format;
  };
  EXPECT_EQ(format({}, "a.html"), ReportFormat::html);
  EXPECT_EQ(format({}, "a.csv"), ReportFormat::csv);
  EXPECT_EQ(format({}, "a.json"), ReportFormat::json);
  EXPECT_EQ(format({}, "a.xml"), ReportFormat::junit);
  EXPECT_EQ(format({}, "a.md"), ReportFormat::markdown);
  EXPECT_EQ(format({}, "a.txt"), ReportFormat::table);
  EXPECT_EQ(format({}, "-"), ReportFormat::table);
  EXPECT_EQ(format("table", "a.html"), ReportFormat::table);
  EXPECT_EQ(format("github", "a.md"), ReportFormat::github);
}

TEST_F(ReportOptions, NamesWhatIsWrong) {
  EXPECT_EQ(
      refusal({.format = "htm", .output = {}, .reports = {}}),
      "--format must be one of table, json, markdown, junit, github, html, csv, not \"htm\"; did you mean "
      "\"html\"?");
  EXPECT_EQ(refusal({.format = "yaml", .output = {}, .reports = {}}),
            "--format must be one of table, json, markdown, junit, github, html, csv, not \"yaml\"");
  EXPECT_EQ(
      refusal({.format = "md", .output = {}, .reports = {}}),
      "--format must be one of table, json, markdown, junit, github, html, csv, not \"md\"; did you mean "
      "\"markdown\"?");
  EXPECT_EQ(
      refusal({.format = "table", .output = {}, .reports = {"xml=a.xml"}}),
      "the name in --report \"xml=a.xml\" must be one of table, json, markdown, junit, github, html, csv, "
      "not \"xml\"; did you mean \"junit\"?");
  EXPECT_EQ(refusal({.format = "table", .output = {}, .reports = {"juni=a.xml"}}),
            "the name in --report \"juni=a.xml\" must be one of table, json, markdown, junit, github, html, "
            "csv, not "
            "\"juni\"; did you mean \"junit\"?");
  EXPECT_EQ(
      refusal({.format = "table", .output = {}, .reports = {"a.xml"}}),
      "--report must be FORMAT=FILE, like junit=report.xml, not \"a.xml\"; did you mean \"junit=a.xml\"?");
  EXPECT_EQ(refusal({.format = "table", .output = {}, .reports = {"a/x.html"}}),
            "--report must be FORMAT=FILE, like junit=report.xml, not \"a/x.html\"; did you mean "
            "\"html=a/x.html\"?");
  EXPECT_EQ(refusal({.format = "table", .output = {}, .reports = {"html"}}),
            "--report must be FORMAT=FILE, like junit=report.xml, not \"html\"");
  EXPECT_EQ(refusal({.format = "table", .output = {}, .reports = {"junit="}}),
            "--report \"junit=\" must name a file after the equals sign");
  EXPECT_EQ(refusal({.format = "table", .output = "", .reports = {}}), "--output must name a file");
  ReportFlags flags{.format = "junit", .output = {}, .reports = {}};
  flags.inputs = true;
  EXPECT_EQ(refusal(flags),
            "--report-inputs is about reports in JSON: add --format json, or --report json=FILE");
  flags.reports = {"json=a.json"};
  EXPECT_TRUE(make_report_targets(flags, {}));
}

TEST_F(ReportOptions, NoFileTwiceHoweverItIsWritten) {
  const std::string twice = "two reports would be written to";
  fs::create_directory(folder / "sub");
  std::ofstream(file("there.xml")) << "old";
  fs::create_symlink(file("there.xml"), file("link.xml"));
  fs::create_hard_link(file("there.xml"), file("hard.xml"));
  for (const auto& [first, second] :
       std::vector<std::pair<std::string, std::string>>{{"a.xml", "a.xml"},
                                                        {"a.xml", "./a.xml"},
                                                        {"a.xml", "sub/../a.xml"},
                                                        {"there.xml", "link.xml"},
                                                        {"there.xml", "hard.xml"}}) {
    const ReportFlags flags{
        .format = "table", .output = {}, .reports = {"junit=" + file(first), "json=" + file(second)}};
    EXPECT_TRUE(refusal(flags).starts_with(twice)) << first << " and " << second << ": " << refusal(flags);
  }
  EXPECT_TRUE(
      refusal({.format = "table", .output = file("a"), .reports = {"json=" + file("a")}}).starts_with(twice));
  EXPECT_EQ(refusal({.format = "table", .output = "-", .reports = {"github=-"}}),
            "two reports would go to standard output: give all but one of them a file");
  EXPECT_EQ(
      refusal({.format = "table", .output = {}, .reports = {"junit=" + file("a"), "json=" + file("b")}}),
      "(none)");
}

TEST_F(ReportOptions, NoReportOverABaseline) {
  const ReportFlags flags{.format = "json", .output = file("./baseline.json"), .reports = {}};
  EXPECT_EQ(refusal(flags, {{"--export-baseline", file("baseline.json")}}),
            "a report would be written to \"" + file("./baseline.json") +
                "\", which is the file of --export-baseline: give it a file of its own");
}

}  // namespace
}  // namespace sluice
