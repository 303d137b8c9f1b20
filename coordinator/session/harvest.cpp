#include "coordinator/session/harvest.hpp"

#include "common/defaults.hpp"
#include "common/files.hpp"
#include "common/text/text.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/suite/solved_examples.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// What the file holds; nothing where there is none yet.
struct HarvestFile {
  std::string text;
  std::set<std::string, std::less<>> ids;
};

Result<HarvestFile> read_harvest_file(const std::string& file) {
  HarvestFile known;
  std::error_code none;
  if (!std::filesystem::exists(file, none)) return known;
  auto text = read_file(file, defaults::max_suite_bytes);
  if (!text) return fail(text.error().reason, "the file of --harvest, " + file + ", " + text.error().message);
  std::vector<Finding> findings;
  SolvedExamplesReader reader(findings);
  reader.add_json_lines(*text, file);
  if (!findings.empty()) {
    return fail(Reason::usage_invalid, "--harvest adds to solved examples, and " + to_text(findings.front()));
  }
  for (SolvedExample& one : reader.finish()) known.ids.insert(std::move(one.id));
  known.text = std::move(*text);
  return known;
}

bool passed_with_high_confidence(const CaseResult& result) {
  return result.status == CaseStatus::pass &&
         std::ranges::all_of(result.trials, [](const TrialResult& trial) {
           return trial.error == nullptr && trial.assessment.status == CaseStatus::pass;
         });
}

bool has_answer(const CaseResult& result) {
  return result.unit != nullptr && !one_line(result.unit->shown_text).empty();
}

/// Whole: of a longer one only the beginning is there.
bool has_whole_answer(const CaseResult& result) {
  return result.unit->shown_text.size() + 4 < defaults::max_shown_bytes;
}

}  // namespace

Result<void> check_harvest(const RunOptions& options) {
  const std::string& file = *options.harvest;
  if (std::filesystem::path(file).extension() != ".jsonl") {
    return fail(Reason::usage_invalid,
                "--harvest writes JSON Lines: name a file that ends in .jsonl, not " + file);
  }
  if (options.settings.mode.value == Mode::mock)
    return fail(Reason::usage_invalid, "--harvest takes answers of models, and a mock run has none");
  if (auto known = read_harvest_file(file); !known) return fail(std::move(known.error()));
  return check_output_path("solved examples", file);
}

Result<void> check_harvest_without_help(const RunInputs& inputs) {
  if (!inputs.retrieval) return {};
  const auto shown = std::ranges::find_if(inputs.retrieval->of_cases,
                                          [](const RetrievedExample& one) { return !one.shown.empty(); });
  if (shown == inputs.retrieval->of_cases.end()) return {};
  return fail(Reason::usage_invalid,
              "--harvest: the case \"" + excerpt(shown->event.test, defaults::quoted_bytes) +
                  "\" is shown the solved example \"" +
                  excerpt(shown->event.example, defaults::quoted_bytes) +
                  "\", and answers that had help must not become examples: run the suite without its "
                  "\"examples\"");
}

Result<Harvest> harvest_examples(const RunOptions& options, const RunResults& results) {
  const std::string& file = *options.harvest;
  auto known = read_harvest_file(file);
  if (!known) return fail(std::move(known.error()));
  std::string added;
  Harvest harvest;
  const bool has_arms = !options.arms.empty();
  const auto visited = visit_cases(results, [&](const CaseResult& result) {
    const Case& one = result.fixture;
    if (one.kind != CaseKind::text || !passed_with_high_confidence(result) || !has_answer(result)) return;
    std::string id = has_arms ? one.id.substr(0, one.id.rfind('@')) : one.id;
    if (known->ids.contains(id)) return;
    if (!has_whole_answer(result)) {
      ++harvest.too_long;
      return;
    }
    known->ids.insert(id);
    added += json_line({std::move(id), one.content, result.unit->shown_text, {one.category}});
    ++harvest.added;
  });
  if (!visited) return fail(visited.error());
  if (harvest.added == 0) return harvest;
  if (!known->text.empty() && known->text.back() != '\n') known->text += '\n';
  const auto written = write_whole_file("solved examples", file, [&](Sink& sink) -> Result<void> {
    sink.write(known->text);
    sink.write(added);
    return {};
  });
  if (!written) return fail(written.error());
  return harvest;
}

}  // namespace sluice
