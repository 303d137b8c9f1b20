#include "coordinator/gate/pinned_case.hpp"

#include "coordinator/gate/repeated_assessment.hpp"
#include "coordinator/suite/canonical_case.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// REQUIRES: checks, and passed(place).
PinnedScore pinned_at(const BaselineEntry& entry, std::size_t place) {
  PinnedScore pinned{PinnedScore::State::pinned, *entry.passed(place) ? 1.0 : 0.0};
  const std::string_view repeats = entry.repeats_of(place);
  if (!repeats.empty()) pinned.best = passed_ever(repeats) ? 1.0 : 0.0;
  return pinned;
}

}  // namespace

PinnedCase::PinnedCase(const Baseline* baseline, std::string_view test_id) : baseline_(baseline) {
  if (baseline_ != nullptr) range_ = baseline_->of_test(test_id);
}

PinnedScore PinnedCase::of_forbidden() const {
  if (baseline_ == nullptr) return {PinnedScore::State::no_baseline};
  if (range_.first == range_.last) return {PinnedScore::State::absent};
  if (const auto entry = entry_of_forbidden()) return pinned_at(*entry, 0);
  return {PinnedScore::State::pinned, 1.0};
}

PinnedScore PinnedCase::of_check(const Expectation& expectation, bool is_only) {
  if (baseline_ == nullptr) return {PinnedScore::State::no_baseline};
  const MetricId metric = expectation.what.metric;
  const CheckDigest check = digest_of(expectation);
  const std::size_t nth = asked_[check]++;
  for (std::size_t i = range_.first; i < range_.last; ++i) {
    const BaselineEntry entry = baseline_->entry(i);
    if (entry.kind != PinKind::checks || entry.metric != info(metric).name) continue;
    const auto place = entry.find(check, nth, is_only);
    if (place && entry.passed(*place)) return pinned_at(entry, *place);
  }
  return {PinnedScore::State::absent};
}

PinnedScore PinnedCase::of(MetricId metric, std::string_view name, const Expectation* expectation) const {
  if (baseline_ == nullptr) return {PinnedScore::State::no_baseline};
  if (const auto entry = find(metric, name)) {
    if (entry->asks != 0 && expectation != nullptr && !entry->is_of(score_digest(*expectation)))
      return {.state = PinnedScore::State::absent, .asked_otherwise = true};
    PinnedScore pinned{PinnedScore::State::pinned, entry->score};
    if (!entry->scores.empty()) pinned.best = std::ranges::max(entry->scores);
    if (is_judge_metric(metric)) pinned.samples = entry->judge_samples;
    return pinned;
  }
  return {was_undefined(metric) ? PinnedScore::State::undefined : PinnedScore::State::absent};
}

bool PinnedCase::was_mostly_undefined(MetricId metric, std::string_view name) const {
  if (baseline_ == nullptr) return false;
  std::size_t defined = 0;
  std::size_t repeats = 0;
  for (std::size_t i = range_.first; i < range_.last; ++i) {
    const BaselineEntry entry = baseline_->entry(i);
    if (entry.kind != PinKind::score) {
      repeats = std::max(repeats, entry.repeats_of(0).size());
      continue;
    }
    const std::size_t of_entry = std::max<std::size_t>(entry.scores.size(), 1);
    repeats = std::max(repeats, of_entry);
    if (is_text_of_score(entry.metric, metric, name)) defined = of_entry;
  }
  return 2 * defined < repeats;
}

std::optional<double> PinnedCase::passes() const {
  if (baseline_ == nullptr) return std::nullopt;
  MeanScore share;
  for (const double one : baseline_->passes(range_, passed_mostly).of_repeats) share.add(one);
  if (const auto forbidden = entry_of_forbidden(); forbidden && !share.mean()) {
    for (const char repeat : forbidden->repeats_of(0)) share.add(repeat == '1' ? 1.0 : 0.0);
  }
  return share.mean();
}

std::optional<BaselineEntry> PinnedCase::entry_of_forbidden() const {
  for (std::size_t i = range_.first; i < range_.last; ++i) {
    const BaselineEntry entry = baseline_->entry(i);
    if (entry.kind == PinKind::checks && entry.metric == info(MetricId::claims_forbidden).name) return entry;
  }
  return std::nullopt;
}

CheckDigest PinnedCase::digest_of(const Expectation& expectation) {
  const auto [found, is_new] = digests_.try_emplace(&expectation);
  if (is_new) found->second = check_digest(expectation);
  return found->second;
}

std::optional<BaselineEntry> PinnedCase::find(MetricId metric, std::string_view name) const {
  for (std::size_t i = range_.first; i < range_.last; ++i) {
    const BaselineEntry entry = baseline_->entry(i);
    if (entry.kind == PinKind::score && is_text_of_score(entry.metric, metric, name)) return entry;
  }
  return std::nullopt;
}

std::optional<double> PinnedCase::score_of(MetricId metric) const {
  const auto entry = find(metric, {});
  return entry ? std::optional(entry->score) : std::nullopt;
}

bool PinnedCase::was_undefined(MetricId metric) const {
  return metric == MetricId::claims_precision &&
         nothing_was_extracted(score_of(MetricId::claims_recall), score_of(MetricId::claims_f1));
}

}  // namespace sluice
