#include "coordinator/gate/fixture_changes.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/gate/billionths.hpp"
#include "coordinator/gate/quoted.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {
namespace {

/// `0.90 -> 0.10`, with as many decimals as tell the two apart.
std::string f1_in_words(const FixtureScores& one) {
  const int decimals = wording::decimals_for({one.before, one.after});
  const auto words = [&](const std::optional<double>& f1) {
    return f1 ? wording::fixed(*f1, decimals) : std::string("none");
  };
  return words(one.before) + " -> " + words(one.after);
}

std::int64_t f1_change(const FixtureScores& one) {
  return billionths(one.after.value_or(1.0)) - billionths(one.before.value_or(1.0));
}

/// ` (`id` 0.90 -> 0.10, ...)`; empty for none.
std::string changes_in_words(std::span<const FixtureScores> changed) {
  if (changed.empty()) return "";
  std::string text;
  for (const FixtureScores& one : changed.first(std::min(changed.size(), defaults::named_fixtures))) {
    text += (text.empty() ? " (" : ", ") + backquoted(one.id) + " " + f1_in_words(one);
  }
  if (changed.size() > defaults::named_fixtures) {
    text += ", and " + std::to_string(changed.size() - defaults::named_fixtures) + " more";
  }
  return text + ")";
}

}  // namespace

std::optional<GateNotice> fixtures_changed_notice(std::vector<FixtureScores> compared, const std::string& run,
                                                  const std::string& manifest) {
  if (compared.empty()) return std::nullopt;
  const std::size_t count = compared.size();
  std::ranges::stable_sort(compared, {}, f1_change);
  const auto first_unchanged = std::ranges::lower_bound(compared, 0, {}, f1_change);
  const auto first_better = std::ranges::upper_bound(compared, 0, {}, f1_change);
  const std::span<const FixtureScores> worse(compared.begin(), first_unchanged);
  std::reverse(first_better, compared.end());
  const std::span<const FixtureScores> better(first_better, compared.end());
  if (worse.empty() && better.empty()) return std::nullopt;
  return GateNotice{GateNotice::Severity::info, "fixtures_changed",
                    "since run " + run + ", which the [baseline] table of `" + manifest + "` was made of, " +
                        wording::counted_of(worse.size(), count, "fixture") + " got worse in F1" +
                        changes_in_words(worse) + ", and " + std::to_string(better.size()) + " better" +
                        changes_in_words(better) + "."};
}

}  // namespace sluice
