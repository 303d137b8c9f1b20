#include "coordinator/import/kept_checks.hpp"

#include "common/defaults.hpp"
#include "common/model/metrics.hpp"
#include "common/text/text.hpp"
#include "coordinator/import/program_checks.hpp"

#include <utility>

namespace sluice {

void KeptChecks::add(const std::vector<ImportedCheck>& checks) {
  for (const ImportedCheck& check : checks) {
    add(check.parts);
    for (const ImportedCheck& part : check.parts) note_lost_name(part);
    if (check.program) ++needs_.programs[check.program->language];
    note_lost_scores(check.parts, from_);
    if (!check.parts.empty() && check.pass_mark == 0)
      from_.with(check.file).note(check.line, "a \"threshold\" of 0 lets any answer pass, as there");
    if (const auto& [clause, loss] = check.leniency; !clause.empty()) {
      from_.with(check.file)
          .lose(loss, check.line,
                "the check " + excerpt(check.foreign_type, defaults::quoted_bytes) + " " + clause);
    }
    const MetricInfo* metric = find_metric(check.type);
    if (metric == nullptr) continue;
    const MetricId id = positive(metric->id);
    const bool is_own = check.file == from_.name;
    if (id == MetricId::latency && !needs_.timed_line) needs_.timed_line = is_own ? check.line : 1;
    needs_.is_priced = needs_.is_priced || id == MetricId::cost;
    if (id == MetricId::semantic_similarity_to) add_embedder(check);
    if (!is_judge_metric(id)) continue;
    needs_.is_judged = true;
    if (!needs_.grader) needs_.grader = check.grader;
    Places& named = graded_[check.grader ? check.judge : judge_];
    if (check.grader) named.emplace(check.file, check.line);
  }
}

void KeptChecks::add_embedder(const ImportedCheck& check) {
  needs_.is_embedded = true;
  if (!check.grader) needs_.takes_usual_embedder = true;
  // A check of the default test may stand in each test.
  if (check.grader && embedded_.emplace(check.file, check.line).second)
    needs_.embedders.push_back({*check.grader, check.judge, check.file, check.line});
}

/// A part of a group passes or fails.
void KeptChecks::note_lost_name(const ImportedCheck& part) const {
  if (part.score_name.empty()) return;
  from_.with(part.file).note(
      part.line, "\"metric\" of the check " + excerpt(part.foreign_type, defaults::quoted_bytes) + ", " +
                     json_string(excerpt(part.score_name, defaults::quoted_bytes)) +
                     ", names a score, and with a \"threshold\" the check only passes or fails: left out");
}

CheckNeeds KeptChecks::take() {
  if (graded_.size() < 2) return std::move(needs_);
  // A suite has one judge.
  needs_.grader.reset();
  for (const auto& [judge, places] : graded_) {
    for (const auto& [file, line] : places) {
      if (judge != judge_)
        from_.with(file).change(line,
                                "the \"provider\" of a check is not that of all checks which a model judges, "
                                "and a suite has one judge: left out");
    }
  }
  return std::move(needs_);
}

}  // namespace sluice
