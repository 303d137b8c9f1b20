// A report that cannot be written is no report: exit code 2 and a sentence, whatever the run came to.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

namespace sluice {
namespace {

using namespace support;

class OutputErrors : public Workbench {
 protected:
  static Flags mock_run(const std::filesystem::path& fixtures) {
    return {"run", "--mode", "mock", "--format", "json", "--quiet", "--fixtures", fixtures.string()};
  }

  static void expect_one_sentence(const Finished& finished, const std::vector<std::string>& words) {
    EXPECT_EQ(finished.exit_code, 2) << finished.errors;
    ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
    for (const auto& word : words) {
      EXPECT_NE(finished.error_lines()[0].find(word), std::string::npos)
          << word << " in: " << finished.errors;
    }
  }

  // One case whose report is far larger than all that a run of it keeps: long rationales stand in reports
  // alone.
  std::filesystem::path wordy_fixtures() const {
    std::string text =
        "[metadata]\nid = \"wordy-001\"\nname = \"Wordy\"\ncategory = \"tls\"\nlanguage = \"c\"\n"
        "[input]\ncontent = \"int main(void) { return 0; }\"\n[expected]\nmust_contain = [\n";
    for (int i = 0; i < 200; ++i) {
      text += "  { subject = \"tls/min_version\", predicate = \"value\", value = \"" + std::to_string(i) +
              "\", rationale = \"" + std::string(10'000, 'r') + "\" },\n";
    }
    write_text(folder() / "wordy" / "tls" / "wordy.toml", text + "]\n");
    return folder() / "wordy";
  }
  static constexpr std::size_t file_limit = 512 * 1024;
};

TEST_F(OutputErrors, AFullDevice) {
  const auto finished = run_sluice(mock_run(shipped_fixtures()) + Flags{"--output", "/dev/full"});
  expect_one_sentence(finished, {"/dev/full", "no space"});
  EXPECT_EQ(finished.output, "");
}

TEST_F(OutputErrors, AFullStandardOutput) {
  expect_one_sentence(run_sluice_into("/dev/full", mock_run(shipped_fixtures())),
                      {"standard output", "no space"});
}

TEST_F(OutputErrors, ATomlFileAmongTheFixtures) {
  const auto fixtures = folder() / "own";
  std::filesystem::copy(shipped_fixtures(), fixtures, std::filesystem::copy_options::recursive);
  for (const auto& path : {fixtures / "report.toml", fixtures / "deeper" / "new.toml"}) {
    for (const Flags& flags :
         {Flags{"--output", path.string()}, Flags{"--report", "json=" + path.string()}}) {
      expect_one_sentence(run_sluice(mock_run(fixtures) + flags),
                          {"the report", path.string(), "would be read as a fixture", "another folder"});
    }
    expect_one_sentence(run_sluice(mock_run(fixtures) + Flags{"--call-log", path.string()}),
                        {"the call log", path.string()});
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  const auto suite = folder() / "suite.yaml";
  write_text(suite, "suite: own\nfixtures: [own]\n");
  const auto path = fixtures / "report.toml";
  expect_one_sentence(run_sluice({"run", suite.string(), "--mode", "mock", "--output", path.string()}),
                      {"the report", path.string(), "would be read as a fixture", "suite.yaml"});
  // What is no TOML file is nobody's fixture.
  const auto report = fixtures / "report.json";
  EXPECT_EQ(run_sluice(mock_run(fixtures) + Flags{"--output", report.string()}).exit_code, 1);
  EXPECT_EQ(run_sluice(mock_run(fixtures) + Flags{"--output", report.string()}).exit_code, 1);
  const auto outside = folder() / "report.toml";
  EXPECT_EQ(run_sluice(mock_run(fixtures) + Flags{"--output", outside.string()}).exit_code, 1);
}

TEST_F(OutputErrors, EveryFormatNoticesAFullDevice) {
  for (const auto* format : {"table", "markdown"}) {
    const auto finished =
        run_sluice_into("/dev/full", with(mock_run(shipped_fixtures()), "--format", format));
    expect_one_sentence(finished, {"standard output"});
  }
}

TEST_F(OutputErrors, AFolderThatDoesNotExist) {
  const auto file = (folder() / "no" / "such" / "report.json").string();
  expect_one_sentence(run_sluice(mock_run(shipped_fixtures()) + Flags{"--output", file}), {file, "folder"});
}

// It was noticed only once everything was paid for.
TEST_F(OutputErrors, AWriteProtectedReportIsNoticedBeforeTheRun) {
  const auto file = folder() / "report.json";
  write_text(file, "old");
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  expect_one_sentence(
      run_sluice_obeying_permissions(mock_run(shipped_fixtures()) + Flags{"--output", file.string()}),
      {file.string(), "the file is not writable"});
  EXPECT_FALSE(std::filesystem::exists(home() / "ledger.db")) << "no run began";
}

TEST_F(OutputErrors, AFileThatMayNotGrowIsNotLeftInHalf) {
  const auto file = folder() / "report.json";
  const auto whole = run_sluice(mock_run(wordy_fixtures()) + Flags{"--output", file.string()});
  EXPECT_EQ(whole.exit_code, 1) << whole.errors;
  ASSERT_GT(std::filesystem::file_size(file), 2 * file_limit);
  const auto before = read_text(file);

  const auto limited = run_sluice_with_file_limit(
      file_limit, {}, mock_run(wordy_fixtures()) + Flags{"--output", file.string()});
  expect_one_sentence(limited, {file.string()});
  EXPECT_EQ(read_text(file), before) << "the earlier report should have stayed as it was";
  // Nor is the unfinished one left beside it.
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    const auto name = entry.path().filename().string();
    EXPECT_TRUE(name == "report.json" || name.find("report.json") == std::string::npos) << name;
  }
}

TEST_F(OutputErrors, AStandardOutputThatMayNotGrow) {
  const auto file = folder() / "redirected.json";
  expect_one_sentence(run_sluice_with_file_limit(file_limit, file, mock_run(wordy_fixtures())),
                      {"standard output"});
}

TEST_F(OutputErrors, ALedgerThatMayNotGrow) {
  // Less than an empty ledger needs.
  const auto finished = run_sluice_with_file_limit(4096, {}, mock_run(shipped_fixtures()));
  expect_one_sentence(finished, {"ledger", "SLUICE_HOME"});
}

}  // namespace
}  // namespace sluice
