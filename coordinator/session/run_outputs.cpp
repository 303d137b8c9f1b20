#include "coordinator/session/run_outputs.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/facts/database_files.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/session/report_options.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view call_log = "call log";
constexpr std::string_view harvested = "solved examples";

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
  if (options.harvest) outputs.push_back({harvested, *options.harvest});
  return outputs;
}

bool lies_in(const fs::path& folder, const std::string& file) {
  std::error_code error;
  const auto whole = fs::weakly_canonical(fs::absolute(file, error), error);
  const auto within = fs::weakly_canonical(fs::absolute(folder, error), error);
  const auto mismatch = std::ranges::mismatch(within, whole);
  return !error && mismatch.in1 == within.end();
}

/// A pipe or /dev/null loses nothing, whoever else writes to it.
bool can_be_lost(const std::string& file) {
  std::error_code none;
  return !fs::exists(file, none) || fs::is_regular_file(file, none);
}

/// The file of the run's inputs that the output would replace; empty if it is none of them.
std::string input_at(const RunOutput& output, const RunOptions& options, const Suite& suite) {
  const Settings& settings = options.settings;
  for (const auto& [name, file] : {std::pair("the baseline", options.baseline.value_or("")),
                                   std::pair("the prompt", settings.prompt_file.value),
                                   std::pair("the ontology", settings.ontology_file.value),
                                   std::pair("the price table", settings.prices_file.value)}) {
    if (!file.empty() && is_same_file(file, output.file)) return std::string(name) + " of this run";
  }
  const auto identity = identity_of(fs::path(output.file));
  return identity && std::ranges::binary_search(suite.input_files, *identity) ? "a file of the suite" : "";
}

/// What sluice or the user keeps in the file's place, whichever run it is of; empty if it is none of that.
std::string kept_at(const std::string& file, const Settings& settings) {
  std::error_code none;
  const fs::path home = settings.home.value;
  for (const auto& [database, name] : {std::pair((home / "ledger.db").string(), "the run ledger"),
                                       std::pair(observations_file(settings), "the observations")}) {
    const auto is_it = [&file](const std::string& one) { return is_same_file(one, file); };
    if (std::ranges::any_of(database_files(database), is_it)) return name;
  }
  for (const auto& [folder, name] :
       {std::pair("cache", "a file of the answer cache"), std::pair("fleet", "a file of the fleet's keys"),
        std::pair("keys", "a file of the shared budgets"),
        std::pair("runs.lock", "the list of runs under way")}) {
    if (lies_in(home / folder, file)) return name;
  }
  return fs::path(file).extension() == ".toml" && fs::exists(file, none) ? "a TOML file" : "";
}

/// What stands in the output's place; empty if it may go there.
std::string taken_by(const RunOutput& output, const RunOptions& options, const Suite& suite) {
  std::error_code none;
  std::string kept = kept_at(output.file, options.settings);
  if (!kept.empty() || !fs::exists(output.file, none)) return kept;
  return input_at(output, options, suite);
}

Error would_replace(const RunOutput& output, const std::string& taken) {
  return {Reason::usage_invalid, "the " + std::string(output.content) + " would write over " + taken +
                                     ", \"" + excerpt(output.file, defaults::quoted_bytes) +
                                     "\": name another file"};
}

bool becomes_a_fixture(const RunOutput& output, const Suite& suite) {
  return fs::path(output.file).extension() == ".toml" &&
         std::ranges::any_of(suite.fixture_folders,
                             [&](const std::string& folder) { return lies_in(folder, output.file); });
}

/// Two outputs in one place, of which the later would take the earlier along.
Result<void> check_apart(const std::vector<RunOutput>& outputs) {
  for (auto later = outputs.begin(); later != outputs.end(); ++later) {
    const auto earlier = std::find_if(outputs.begin(), later, [&](const RunOutput& output) {
      return can_be_lost(output.file) && is_same_file(output.file, later->file);
    });
    if (earlier == later) continue;
    return fail(Reason::usage_invalid, "the " + std::string(earlier->content) + " and the " +
                                           std::string(later->content) + " would both be written to \"" +
                                           excerpt(later->file, defaults::quoted_bytes) +
                                           "\": give each a file of its own");
  }
  return {};
}

}  // namespace

Result<void> check_output(std::string_view content, const std::string& file, const Settings& settings) {
  std::error_code none;
  std::string taken = kept_at(file, settings);
  const auto ending = fs::path(file).extension();
  if (taken.empty() && (ending == ".yaml" || ending == ".yml") && fs::exists(file, none))
    taken = "a YAML file";
  if (!taken.empty()) return fail(would_replace({content, file}, taken));
  return check_output_path(content, file);
}

Result<void> check_run_outputs(const RunOptions& options, const Suite& suite) {
  const std::vector<RunOutput> outputs = outputs_of(options);
  if (auto apart = check_apart(outputs); !apart) return apart;
  for (const auto& output : outputs) {
    if (output.content == harvested) continue;  // They are added to what is there: see check_harvest.
    if (const auto taken = taken_by(output, options, suite); !taken.empty())
      return fail(would_replace(output, taken));
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
