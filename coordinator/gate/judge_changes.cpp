#include "coordinator/gate/judge_changes.hpp"

#include "coordinator/gate/quoted.hpp"

#include <cstddef>
#include <optional>

namespace sluice {
namespace {

std::string there_and_here(const std::string& there, const std::string& here) {
  return escaped_excerpt(there) + " there, " + escaped_excerpt(here) + " here";
}

bool differ(const std::string& there, const std::string& here) {
  return !there.empty() && !here.empty() && there != here;
}

}  // namespace

void JudgeDifferences::Changed::add(std::string_view test_id, std::string_view metric,
                                    const std::string& words) {
  if (scores.count() == 0) first = words;
  scores.add(test_id, metric);
}

void JudgeDifferences::add(std::string_view test_id, std::string_view metric, const JudgePin& then,
                           const JudgePin& now) {
  if (differ(then.rubric_version, now.rubric_version)) {
    rubrics_.add(test_id, metric, there_and_here(then.rubric_version, now.rubric_version));
  } else if (differ(then.rubric_hash, now.rubric_hash)) {
    rubrics_.add(test_id, metric, escaped_excerpt(now.rubric_version) + " in other words");
  }
  if (then.judge && now.judge && *then.judge != *now.judge)
    judges_.add(test_id, metric, there_and_here(then.judge->in_words(), now.judge->in_words()));
  if (then.samples && now.samples && *then.samples != *now.samples)
    samples_.add(test_id, metric,
                 there_and_here(std::to_string(*then.samples), std::to_string(*now.samples)));
}

std::vector<GateNotice> JudgeDifferences::finish(const GatedRun& run) const {
  std::vector<GateNotice> notices;
  if (run.is_rerun && !run.strict) return notices;
  const auto add = [&](const Changed& changed, const char* code, const char* what) {
    if (changed.scores.count() == 0) return;
    notices.push_back({warning_of(run), code,
                       base_in_words(run) + " has " + changed.scores.counted("score", "scores") + " by " +
                           what + " than " + current_in_words(run) + "'s (" + changed.scores.names() + "; " +
                           changed.first + ")" + advice_on_base(run, "once you accept what that changes")});
  };
  add(rubrics_, "rubric_mismatch", "another rubric");
  add(judges_, "judge_mismatch", "another judge");
  add(samples_, "judge_samples_mismatch", "another number of votes");
  return notices;
}

void JudgeChanges::visit(std::string_view test_id, std::span<const AssessedMetric> metrics) {
  std::optional<Baseline::Range> entries;
  for (const AssessedMetric& metric : metrics) {
    if (!metric.votes || metric.asked_otherwise) continue;
    if (!entries) entries = baseline_->of_test(test_id);
    for (std::size_t i = entries->first; i < entries->last; ++i) {
      const BaselineEntry entry = baseline_->entry(i);
      if (is_text_of_score(entry.metric, metric.id, metric.name)) compare(entry, *metric.votes);
    }
  }
}

void JudgeChanges::compare(const BaselineEntry& entry, const VoteTally& votes) {
  if (entry.meta.empty()) return;
  if (entry.meta != meta_) {
    meta_ = entry.meta;
    pinned_ = parse_judge_pin(entry.meta);
  }
  differences_.add(entry.test_id, entry.metric, pinned_, judge_->pin_of(votes));
}

}  // namespace sluice
