#include "coordinator/report/wording/pass_rate_wording.hpp"

#include "common/text/joined.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/report/wording/assessment_wording.hpp"

#include <algorithm>

namespace sluice::wording {
namespace {

/// ` 0.93 of the category safety under the arm m2`
std::string rate_words(const PassGroup& group) {
  const auto rate = pass_rate(group);
  const int decimals = decimals_for({rate, group.min_pass_rate});
  std::string text = " " + (rate ? fixed(*rate, decimals) : std::string(dash));
  const StatusCounts& statuses = group.counts.statuses;
  if (rate && statuses.errors > 0)
    text += " (of " + counted(statuses.total() - statuses.errors, "case") + ")";
  if (group.category)
    text += " of the category " + excerpt(one_line(*group.category), defaults::quoted_bytes);
  if (group.is_rest) text += " of the other categories";
  if (group.arm_name.empty()) return text;
  return text + (group.category || group.is_rest ? " under the arm " : " of the arm ") + group.arm_name;
}

/// Failed cases of the group that did not regress fail no run.
bool is_spared(const PassGroup& group) {
  return group.min_pass_rate && !misses_pass_rate(group);
}

/// The first few, and how many there are besides.
std::vector<std::string> first_few(std::vector<std::string> all) {
  const std::size_t most = defaults::max_named_pass_rates;
  if (all.size() <= most + 1) return all;
  const std::string rest = "and " + counted(all.size() - most, "more pass rate");
  all.resize(most);
  all.push_back(rest);
  return all;
}

}  // namespace

std::string rate_of(const Totals& totals) {
  const auto rate = pass_rate(totals);
  if (!rate) return dash;
  const std::string text = fixed(*rate, decimals_for({rate, 1.0}));
  // Errors are no part of it: what mostly ended in errors would look best.
  const std::uint64_t errors = totals.statuses.errors;
  return errors > 0 ? text + " of " + grouped(totals.statuses.total() - errors) : text;
}

std::vector<std::string> pass_rates(const ReportInput& input) {
  std::vector<std::string> missed;
  std::vector<std::string> reached;
  const bool is_alone = input.pass_groups.size() == 1;
  for (const PassGroup& group : input.pass_groups) {
    if (!group.min_pass_rate || !(is_alone || pass_rate(group))) continue;
    (misses_pass_rate(group) ? missed : reached)
        .push_back("Pass rate" + rate_words(group) + ", at least " + shortest(*group.min_pass_rate) +
                   " is asked for");
  }
  missed.insert(missed.end(), reached.begin(), reached.end());
  return first_few(std::move(missed));
}

std::string missed_pass_rates(std::span<const PassGroup> groups) {
  std::vector<std::string> missed;
  for (const PassGroup& group : groups) {
    if (misses_pass_rate(group)) {
      missed.push_back("pass rate" + rate_words(group) + ", below the " + shortest(*group.min_pass_rate) +
                       " of min_pass_rate");
    }
  }
  return joined(first_few(std::move(missed)), "; ");
}

std::string missed_pass_rates(const ReportInput& input) {
  // Of a run that ended early chance decides who had a turn.
  return input.verdict == RunVerdict::fail ? missed_pass_rates(input.pass_groups) : "";
}

bool is_within_pass_rate(const ReportInput& input, const CaseResult& result) {
  if (input.facts.cut_short || result.status != CaseStatus::fail || result.assessment.regressed) return false;
  const PassGroup* const group =
      find_pass_group(input.pass_groups, result.fixture.arm, result.fixture.category);
  return group != nullptr && is_spared(*group);
}

std::uint64_t failures_beyond_pass_rate(const ReportInput& input) {
  const Totals& all = input.aggregates.all;
  std::uint64_t failures = all.statuses.failed;
  if (input.facts.cut_short) return failures;
  for (const PassGroup& group : input.pass_groups) {
    if (is_spared(group)) failures -= group.counts.statuses.failed - group.counts.regressed;
  }
  return failures;
}

}  // namespace sluice::wording
