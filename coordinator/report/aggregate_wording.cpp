// How aggregates read beside those of a manifest.
#include "common/text/text.hpp"
#include "coordinator/report/assessment_wording.hpp"
#include "coordinator/report/wording.hpp"

#include <cmath>

namespace sluice::wording {

std::string points(double difference) {
  const double number = static_cast<double>(std::abs(billionths(difference))) / 1e7;
  if (number > 0.0 && number < 0.01) return "under 0.01 points";
  const std::string text = shortest(std::round(number * 100) / 100);
  return text + (text == "1" ? " point" : " points");
}

std::string aggregate_title(const AggregateComparison& comparison) {
  std::string title(comparison.name);
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z')
    title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

std::string dropped(const AggregateComparison& comparison) {
  const ScoreWords words = words_for(comparison);
  const std::string title = aggregate_title(comparison);
  const auto delta = comparison.delta();
  if (!delta) return title + " is undefined now (was " + words.baseline + ")";
  return title + " dropped by " + points(*delta) + " (" + words.baseline + " to " + words.score + ")";
}

std::string aggregate_status(AggregateOutcome outcome) {
  switch (outcome) {
    case AggregateOutcome::not_compared:
      return "– not compared";
    case AggregateOutcome::no_drop:
      return "✓ no drop";
    case AggregateOutcome::within_limit:
      return "⚠ within limit";
    case AggregateOutcome::beyond_limit:
      return "✗ beyond limit";
  }
  return "";
}

}  // namespace sluice::wording
