#include "common/checks/outcome.hpp"

#include "common/checks/detail.hpp"
#include "common/defaults.hpp"
#include "common/text/text.hpp"

#include <cmath>
#include <cstddef>

namespace sluice {
namespace {

std::string cut_detail(const std::string& detail) {
  return excerpt(detail, defaults::max_detail_bytes - 3);
}

/// Whether a part of a group passes: a scored one by the score that it must reach.
bool is_passed(const MetricOutcome& outcome, const TextExpectation& part) {
  if (outcome.passed) return *outcome.passed;
  return outcome.score && part.numbers.size() > 1 && *outcome.score >= part.numbers[1];
}

std::string detail_of_part(const MetricOutcome& outcome) {
  const std::string name(info(outcome.id).name);
  if (!outcome.detail.empty()) return name + ": " + outcome.detail;
  return outcome.score ? name + " has the score " + shortest(*outcome.score) : name;
}

void append(std::string& list, const std::string& words) {
  if (!list.empty()) list += clause_separator(list);
  list += words;
}

/// What the parts of a group reach together.
struct Reached {
  double passed = 0.0;  ///< By weight, as all of these.
  double undecided = 0.0;
  double all = 0.0;
  std::string problems{};  ///< Of parts that do not pass.
  std::string open{};      ///< Of undecided parts.
};

Reached reached_by(const TextExpectation& group, std::span<const MetricOutcome> parts) {
  Reached reached;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TextExpectation& part = group.parts[i];
    reached.all += part.weight;
    if (!parts[i].passed && !parts[i].score) {
      reached.undecided += part.weight;
      append(reached.open, parts[i].detail.empty() ? std::string(info(part.metric).name) +
                                                         " is undefined: none of its texts has n words"
                                                   : detail_of_part(parts[i]));
    } else if (is_passed(parts[i], part)) {
      reached.passed += part.weight;
    } else {
      append(reached.problems, detail_of_part(parts[i]));
    }
  }
  return reached;
}

MetricOutcome any_of(MetricId id, const Reached& reached) {
  if (reached.passed > 0.0) return passed_outcome(id);
  if (reached.undecided > 0.0) return undecided_outcome(id, reached.open);
  return failed_outcome(id, "none passes: " + reached.problems);
}

MetricOutcome all_of(MetricId id, const Reached& reached, double mark) {
  // A mark of 1 asks for all; sums of weights have last bits of their own.
  constexpr double last_bits = 1e-9;
  const auto share = [&](double weight) { return reached.all > 0.0 ? weight / reached.all : 0.0; };
  const std::string what_failed = "reaches " + shortest(std::round(share(reached.passed) * 1000.0) / 1000.0) +
                                  " of " + shortest(mark) + ": " + reached.problems;
  if (share(reached.passed) + last_bits >= mark) {
    MetricOutcome passed = passed_outcome(id);
    // Nothing else shows that a part did not.
    if (!reached.problems.empty()) passed.detail = cut_detail(what_failed);
    return passed;
  }
  if (share(reached.passed + reached.undecided) + last_bits >= mark)
    return undecided_outcome(id, reached.open);
  return failed_outcome(id, what_failed);
}

}  // namespace

MetricOutcome passed_outcome(MetricId id) {
  return {id, std::nullopt, true, ""};
}

MetricOutcome failed_outcome(MetricId id, const std::string& detail) {
  return {id, std::nullopt, false, cut_detail(detail)};
}

MetricOutcome undecided_outcome(MetricId id, const std::string& why) {
  return {id, std::nullopt, std::nullopt, cut_detail(why)};
}

MetricOutcome outcome_of(MetricId id, const std::string& problem) {
  return problem.empty() ? passed_outcome(id) : failed_outcome(id, problem);
}

MetricOutcome negation_of(MetricId id, const MetricOutcome& plain, const std::vector<std::string>& texts) {
  // 1 - 0.9 is a last bit less than 0.1, which a score exactly at its limit must not fail by.
  if (plain.score) return {id, std::round((1.0 - *plain.score) * 1e9) / 1e9, std::nullopt, ""};
  if (!plain.passed) return {id, std::nullopt, std::nullopt, plain.detail};
  if (!*plain.passed) return passed_outcome(id);
  std::string what;
  for (const auto& text : texts) what += (what.empty() ? " " : ", ") + quoted_for_detail(text);
  return failed_outcome(id, "it must not pass " + std::string(info(positive(id)).name) + what);
}

MetricOutcome outcome_of_group(const TextExpectation& group, std::span<const MetricOutcome> parts) {
  const MetricId plain = positive(group.metric);
  const Reached reached = reached_by(group, parts);
  const MetricOutcome outcome =
      plain == MetricId::any_of ? any_of(plain, reached) : all_of(plain, reached, group.numbers.front());
  return is_negated(group.metric) ? negation_of(group.metric, outcome, {}) : outcome;
}

}  // namespace sluice
