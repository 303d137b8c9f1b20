#include "coordinator/cli/past_runs/past_details.hpp"

#include "common/documents/json_depth.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/session/run_record.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

std::string text_in(const nlohmann::json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<ResolvedProvider> called_by(const nlohmann::json& settings, const std::string& name,
                                          const std::string& model) {
  for (const auto& one : settings.value("providers", nlohmann::json::array())) {
    if (!one.is_object() || text_in(one, "name") != name) continue;
    const auto kind = provider_kind_from(text_in(one, "kind"));
    if (!kind) return std::nullopt;
    ResolvedProvider called;
    called.provider.name = name;
    called.provider.kind = *kind;
    called.model = model;
    return called;
  }
  return std::nullopt;
}

}  // namespace

std::optional<GradedArms> graded_arms(const RunRecord& run) {
  if (command_of(run) != "grade") return std::nullopt;
  const auto settings = parse_tree<nlohmann::json>(run.settings);
  if (!settings.is_object()) return std::nullopt;
  const auto grading = settings.value("grading", nlohmann::json::object());
  const auto arms = settings.value("arms", nlohmann::json::array());
  if (!grading.is_object() || !arms.is_array() || arms.empty() || !arms.front().is_object())
    return std::nullopt;
  return GradedArms{text_in(grading, "baseline"), text_in(grading, "baseline_provider"),
                    text_in(grading, "baseline_model"), text_in(arms.front(), "name")};
}

Graders graders_of(const RunRecord& run) {
  const auto graded = graded_arms(run);
  if (!graded) return {};
  const auto settings = parse_tree<nlohmann::json>(run.settings);
  const auto grading = settings.value("grading", nlohmann::json::object());
  return {called_by(settings, graded->baseline_provider, graded->baseline_model),
          called_by(settings, text_in(grading, "provider"), text_in(grading, "model")),
          called_by(settings, text_in(settings, "embedding_provider"), text_in(settings, "embedding_model"))};
}

std::vector<std::string> arm_names(const RunRecord& run) {
  std::vector<std::string> names;
  if (const auto graded = graded_arms(run)) names.push_back(graded->baseline);
  const auto settings = parse_tree<nlohmann::json>(run.settings);
  const auto arms = settings.is_object() ? settings.find("arms") : settings.end();
  if (arms == settings.end() || !arms->is_array()) return names;
  for (const auto& arm : *arms) {
    if (arm.is_object()) names.push_back(text_in(arm, "name"));
  }
  return names;
}

Result<std::vector<CaseOutcome>> redacted_cases_of(const Ledger& ledger, const PastRun& past,
                                                   const Redactor& redactor) {
  auto cases = ledger.cases_of(past.run.run_id);
  if (!cases) return cases;
  for (CaseOutcome& one : *cases) {
    for (std::string& line : one.missed) redactor.apply(line);
  }
  return cases;
}

Result<std::map<std::string, std::vector<std::string>>> missed_by_cases(const Settings& settings,
                                                                        const PastRun& past,
                                                                        const Redactor& redactor) {
  std::map<std::string, std::vector<std::string>> missed;
  const auto ledger = open_past_runs(settings);
  if (!ledger) return fail(ledger.error());
  if (!*ledger) return missed;
  auto cases = redacted_cases_of(**ledger, past, redactor);
  if (!cases) return fail(cases.error());
  for (CaseOutcome& one : *cases) {
    if (!one.missed.empty()) missed.emplace(std::move(one.id), std::move(one.missed));
  }
  return missed;
}

Result<std::map<TrialId, GradedPair>> pairs_of(const Settings& settings, const PastRun& past,
                                               const Redactor& redactor) {
  std::map<TrialId, GradedPair> pairs;
  const auto arms = graded_arms(past.run);
  if (!arms) return pairs;
  const auto ledger = open_past_runs(settings);
  if (!ledger) return fail(ledger.error());
  if (!*ledger) return pairs;
  const auto visited = (*ledger)->results_of(past.run.run_id)->visit([&](const CommittedTrial& one) {
    if (!one.unit.grade) return;
    GradedPair pair{*one.unit.grade, arms->baseline, arms->baseline_provider, arms->baseline_model};
    for (std::string* text :
         {&pair.result.baseline.text, &pair.result.candidate.text, &pair.result.grade.notes})
      redactor.apply(*text);
    pairs.emplace(one.trial, std::move(pair));
  });
  if (!visited) return fail(visited.error());
  return pairs;
}

}  // namespace sluice
