#include "coordinator/session/run_outputs.hpp"

#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/session/report_options.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view call_log = "call log";

struct RunOutput {
  std::string_view content;
  std::string file;
};

std::vector<RunOutput> outputs_of(const RunOptions& options) {
  std::vector<RunOutput> outputs;
  for (const auto& report : options.reports) {
    if (report.file) outputs.push_back({"report", *report.file});
  }
  if (options.export_baseline) outputs.push_back({"baseline", *options.export_baseline});
  if (options.call_log) outputs.push_back({call_log, *options.call_log});
  return outputs;
}

bool lies_in(const fs::path& folder, const std::string& file) {
  std::error_code error;
  const auto whole = fs::weakly_canonical(fs::absolute(file, error), error);
  const auto within = fs::weakly_canonical(fs::absolute(folder, error), error);
  const auto mismatch = std::ranges::mismatch(within, whole);
  return !error && mismatch.in1 == within.end();
}

/// What stands in the output's place; empty if it may go there.
std::string taken_by(const RunOutput& output, const RunOptions& options, const Suite& suite) {
  std::error_code none;
  const fs::path home = options.settings.home.value;
  for (const auto* name : {"ledger.db", "ledger.db-wal", "ledger.db-shm"}) {
    if (is_same_file((home / name).string(), output.file)) return "the run ledger";
  }
  if (lies_in(home / "cache", output.file)) return "a file of the answer cache";
  if (!fs::exists(output.file, none)) return "";
  if (fs::path(output.file).extension() == ".toml") return "a TOML file";
  const bool is_read = std::ranges::any_of(
      suite.input_files, [&](const std::string& input) { return is_same_file(input, output.file); });
  return is_read ? "a file of the suite" : "";
}

bool becomes_a_fixture(const RunOutput& output, const Suite& suite) {
  return fs::path(output.file).extension() == ".toml" &&
         std::ranges::any_of(suite.fixture_folders,
                             [&](const std::string& folder) { return lies_in(folder, output.file); });
}

}  // namespace

Result<void> check_run_outputs(const RunOptions& options, const Suite& suite) {
  for (const auto& output : outputs_of(options)) {
    if (const auto taken = taken_by(output, options, suite); !taken.empty()) {
      return fail(Reason::usage_invalid, "the " + std::string(output.content) + " would write over " + taken +
                                             ", \"" + excerpt(output.file, defaults::quoted_bytes) +
                                             "\": name another file");
    }
    if (becomes_a_fixture(output, suite)) {
      return fail(Reason::usage_invalid, "the " + std::string(output.content) + " \"" +
                                             excerpt(output.file, defaults::quoted_bytes) +
                                             "\" would be read as a fixture by the next run of \"" +
                                             excerpt(options.suite_path, defaults::quoted_bytes) +
                                             "\": give it another ending than .toml, or another folder");
    }
    if (output.content == call_log) continue;  // Who opens it says what is wrong with it.
    if (auto possible = check_output_path(output.content, output.file); !possible) return possible;
  }
  return {};
}

}  // namespace sluice
