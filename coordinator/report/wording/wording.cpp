#include "coordinator/report/wording/wording.hpp"

#include "common/text/joined.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/budget_wording.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/report/wording/assessment_wording.hpp"
#include "coordinator/report/wording/pass_rate_wording.hpp"
#include "coordinator/suite/prompts/arm.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

namespace sluice::wording {
namespace {

// Which aggregates dropped, and how that stands to the limit; empty where none is compared.
std::string aggregates_reason(const BaselineComparison& gate) {
  if (!gate.aggregates) return "";
  const AggregateAssessment& assessment = *gate.aggregates;
  const bool beyond = assessment.outcome == AggregateOutcome::beyond_limit;
  if (assessment.outcome == AggregateOutcome::no_drop) return "no drop against the baseline";
  if (!beyond && assessment.outcome != AggregateOutcome::within_limit) return "";
  std::string text;
  for (const AggregateComparison& comparison : assessment.metrics) {
    if (comparison.outcome == assessment.outcome) text += (text.empty() ? "" : ", ") + dropped(comparison);
  }
  return text + (beyond ? ", beyond the limit of " : ", within the limit of ") + points(assessment.threshold);
}

constexpr std::string_view about_arms = "the arms";

std::string underpowered_reason(const StatisticalAssessment& statistics) {
  const bool unchanged = std::ranges::all_of(statistics.metrics, [](const StatisticalMetric& one) {
    return one.comparison.pairs > 0 && one.comparison.changed_units == 0 && one.became_undefined.count() == 0;
  });
  return unchanged ? "no score changed, but so few cases cannot exclude a drop (underpowered)"
                   : "the statistical gate is underpowered";
}

/// What fell, or could not be decided, of the run as a whole.
std::string whole_run_reason(const BaselineComparison& gate) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  if (gate.statistics) {
    for (const StatisticalMetric& one : gate.statistics->metrics) {
      if (one.decision.decision == ChangeDecision::regression) {
        const std::string what = one.mean ? name_of(one.mean) + " regressed" : "fewer answers passed";
        const std::string arm = one.arm.empty() ? "" : " with arm " + one.arm;
        add(what + " beyond chance" + arm + (one.fails_nothing ? " by a judge that is not calibrated" : ""));
      }
    }
    if (gate.statistics->decision == ChangeDecision::underpowered) add(underpowered_reason(*gate.statistics));
  }
  if (!gate.stability) return text;
  if (gate.stability->status == MetricStatus::fail) {
    add(gate.stability->cause == MetricCause::dropped ? "stability dropped"
                                                      : "stability is below the least that is asked for");
  }
  if (gate.stability->status == MetricStatus::warn) add("stability has no entry in the baseline");
  return text;
}

void add_to(ErrorGroup& group, std::uint64_t count, const std::vector<std::string>& ids) {
  group.count += count;
  for (const std::string& id : ids) {
    if (group.ids.size() < defaults::max_ids_per_group) group.ids.push_back(id);
  }
}

}  // namespace

std::string_view topic_of(const GateNotice& notice) {
  if (notice.subject == "Judge") return "the judge";
  if (notice.subject == "Scores") return "the scores";
  if (notice.subject == "Repeats") return "the repeats";
  return notice.subject == "Arms" ? about_arms : "the comparison";
}

std::string notices_reason(const BaselineComparison& gate, GateNotice::Severity severity) {
  std::map<std::string_view, std::uint64_t> topics;
  for (const GateNotice& notice : gate.notices) {
    if (notice.severity == severity) ++topics[topic_of(notice)];
  }
  std::string text;
  for (const auto& [topic, count] : topics) {
    if (!text.empty()) text += ", ";
    if (severity == GateNotice::Severity::warning) {
      text += counted(count, "warning") + " about " + std::string(topic);
      continue;
    }
    text += counted(count, "failure") + " of " + std::string(topic);
    // An arm that is worse fails by itself.
    if (topic != about_arms) text += gate.strict ? " under --strict" : " under --fail-on-mismatch";
  }
  return text;
}

std::string headline(RunVerdict verdict) {
  std::string word(to_string(verdict));
  for (char& c : word) c = static_cast<char>(c - 'a' + 'A');
  return word;
}

std::string verdict_word(RunVerdict verdict) {
  const std::string sign = verdict == RunVerdict::pass ? "✓ " : verdict == RunVerdict::review ? "⚠ " : "✗ ";
  return sign + headline(verdict);
}

bool has_claims_cases(const ReportInput& input) {
  return input.aggregates.all.claims_cases > 0;
}

std::string_view case_noun(const ReportInput& input) {
  const Totals& all = input.aggregates.all;
  return all.claims_cases == all.statuses.total() ? "fixture" : "case";
}

std::string tally(const Totals& all) {
  const StatusCounts& statuses = all.statuses;
  std::string text = grouped(statuses.passed) + " passed";
  if (all.known_failures > 0) text += ", " + counted(all.known_failures, "known failure");
  if (all.warned() > 0) text += ", " + grouped(all.warned()) + " warned";
  if (statuses.flaky > 0) text += ", " + grouped(statuses.flaky) + " flaky";
  text += ", " + grouped(statuses.failed) + " failed";
  if (all.regressed > 0) text += " (" + grouped(all.regressed) + " regressed)";
  text += ", " + counted(all.errors(), "error");
  if (all.not_started > 0) text += ", " + grouped(all.not_started) + " not started";
  if (all.improved > 0) text += "; " + grouped(all.improved) + " improved";
  return text;
}

std::string changes(const ReportInput& input) {
  const Totals& all = input.aggregates.all;
  std::string text;
  for (const auto& [count, word] :
       {std::pair(all.broke, " broke"), std::pair(all.dropped, " dropped"), std::pair(all.fixed, " fixed"),
        std::pair(all.still_failing, " still failing")}) {
    if (count > 0) text += (text.empty() ? "" : ", ") + grouped(count) + word;
  }
  return text;
}

int exit_code_of(const ReportInput& input, bool strict) {
  VerdictInput run;
  if (input.gate.aggregates) run.aggregates = input.gate.aggregates->outcome;
  return exit_code(input.verdict, run, {strict, input.gate.fail_on_regression});
}

std::string by_strict(const ReportInput& input) {
  const bool decides = input.gate.strict && exit_code_of(input, true) != 0 && exit_code_of(input, false) == 0;
  return decides ? because_of_strict : "";
}

std::string reason_for(const ReportInput& input) {
  if (input.facts.cut_short) {
    const auto& error = *input.facts.cut_short;
    return "the run ended early (" + std::string(to_string(error.reason)) + "): " + error.message;
  }
  const Totals& all = input.aggregates.all;
  const StatusCounts& statuses = all.statuses;
  if (statuses.total() == 0) return "there was nothing to run";
  // What decided comes first.
  const bool errors_decided = input.verdict == RunVerdict::error && statuses.errors > 0;
  std::string text;
  const auto add_words = [&](const std::string& words) {
    if (!words.empty()) text += (text.empty() ? "" : ", ") + words;
  };
  if (!errors_decided) add_words(aggregates_reason(input.gate));
  add_words(whole_run_reason(input.gate));
  bool is_first_count = true;
  // The first count says of how many.
  const auto add = [&](std::uint64_t number, std::string_view word) {
    if (number == 0) return;
    text += text.empty() ? "" : ", ";
    text += is_first_count ? counted_of(number, statuses.total(), case_noun(input)) : grouped(number);
    text.append(" ").append(word);
    is_first_count = false;
  };
  const auto add_errors = [&] {
    if (statuses.errors == 0) return;
    add_words(counted(statuses.errors, "error"));
    if (is_first_count) text += " in " + counted(statuses.total(), case_noun(input));
    is_first_count = false;
  };
  if (errors_decided) {
    add_errors();
    add_words(aggregates_reason(input.gate));
  }
  add(all.regressed, "regressed");
  add(statuses.failed - std::min(statuses.failed, all.regressed), "failed");
  if (!errors_decided) add_errors();
  add_words(notices_reason(input.gate, GateNotice::Severity::failure));
  if (text.empty() && missed_pass_rates(input).empty()) {
    text = statuses.passed == statuses.total() ? counted(statuses.total(), case_noun(input)) + " passed" : "";
    is_first_count = text.empty();
  }
  add(all.warned(), "warned");
  add(statuses.flaky, "flaky");
  add_words(notices_reason(input.gate, GateNotice::Severity::warning));
  // Last: they decide nothing.
  add(all.known_failures, "known to fail");
  if (all.improved > 0) text += ", " + grouped(all.improved) + " improved";
  // Missed rates hold commas.
  std::string reason = missed_pass_rates(input);
  for (const std::string& words : {text, by_strict(input)}) {
    if (!words.empty()) reason += (reason.empty() ? "" : "; ") + words;
  }
  return reason;
}

std::string baseline_origin(const ReportInput& input) {
  if (!input.gate.aggregates) return "";
  const AggregateBaseline& baseline = input.gate.aggregates->baseline;
  std::string origin;
  const auto add = [&](std::string_view label, const std::string& words) {
    if (!words.empty()) origin += (origin.empty() ? "" : ", ") + std::string(label) + words;
  };
  add("measured ", baseline.measured_at);
  add("prompt v", baseline.prompt_version);
  add("", baseline.model);
  return origin;
}

namespace {

/// Models are asked, or were: a run out of a cache alone pins nothing where the cache lacks an answer.
bool asks_models(const ReportInput& input) {
  if (input.mode != to_string(Mode::cached)) return input.mode == to_string(Mode::live);
  const CaseList& cases = input.results.suite.cases;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases.has_answer(i)) return false;
  }
  return true;
}

}  // namespace

std::string how_to_pin(const ReportInput& input) {
  const std::string& file = input.gate.baseline_file;
  const std::string_view mode = asks_models(input) ? " --mode live" : "";
  return "sluice run ... --export-baseline " + (file.empty() ? "FILE" : shell_word(file)).append(mode);
}

std::string_view severity_word(GateNotice::Severity severity) {
  switch (severity) {
    case GateNotice::Severity::info:
      return "info";
    case GateNotice::Severity::warning:
      return "warning";
    case GateNotice::Severity::failure:
      return "failure";
  }
  return "warning";
}

std::string extracted(const FinalClaim& claim) {
  std::string text =
      excerpt(to_text(claim.concept_path, claim.predicate, claim.value), defaults::max_claim_bytes);
  text += " (confidence " + shortest(claim.confidence);
  if (claim.line) text += ", line " + std::to_string(*claim.line);
  return text + ")";
}

bool is_shown_as_got(const CaseDetails& details, const FinalClaim& claim) {
  return std::ranges::any_of(details.missing,
                             [&](const MissedClaim& missed) { return missed.got == &claim; });
}

bool has_name_of_its_own(const Case& fixture) {
  const std::string_view id = fixture.id;
  // Under arms the id goes on with the arm's name, and the name that a test has by default does not.
  const bool is_id = id.starts_with(fixture.name) &&
                     (id.size() == fixture.name.size() || id[fixture.name.size()] == arm_separator);
  return !fixture.name.empty() && !is_id;
}

std::string title(const Case& fixture) {
  return has_name_of_its_own(fixture) ? fixture.id + ": " + fixture.name : fixture.id;
}

std::string file_of(const Case& fixture, const ReportInput& input) {
  if (fixture.source.empty()) return "";
  namespace fs = std::filesystem;
  const fs::path file = (fs::path(input.source_folder) / fixture.source).lexically_normal();
  return file.is_absolute() && input.name_of_file ? input.name_of_file(file) : file.generic_string();
}

std::string got(const MissedClaim& missed, const Case& fixture) {
  if (missed.got == nullptr) return "Not extracted";
  std::string text = extracted(*missed.got);
  if (missed.below_min_confidence) text += ", below the " + shortest(fixture.min_confidence) + " asked for";
  return text;
}

std::string cost(const ReportInput& input) {
  const auto priced = [](std::uint64_t tokens, const std::optional<double>& amount) {
    return counted(tokens, "token") + (amount ? " (" + dollars(*amount) + ")" : "");
  };
  const std::uint64_t tokens = input.aggregates.usage.total();
  const std::uint64_t paid = input.facts.paid.total();
  const std::uint64_t unknown = input.aggregates.unknown_usages;
  std::string text = priced(tokens, input.aggregates.estimated_cost);
  if (unknown > 0 && tokens == 0) {
    text = "tokens of " + counted(unknown, "answer") + " unknown";
  } else if (unknown > 0) {
    text += ", and those of " + counted(unknown, "answer") + " unknown";
  } else if (tokens > 0 && !input.aggregates.estimated_cost) {
    text += ", price unknown";
  }
  const std::uint64_t judged = input.facts.paid.of(CallKind::judge).total();
  if (paid != tokens || judged > 0) text += "; paid in this run: " + priced(paid, input.paid_cost);
  if (judged > 0) text += ", of that for the judge: " + priced(judged, input.paid_judge_cost);
  // The model's own price is known, or the sentence has said that it is not.
  if (paid > 0 && !input.paid_cost && input.aggregates.estimated_cost) {
    const bool of_judge = judged > 0 && !input.paid_judge_cost;
    text += input.facts.is_unmetered(CallKind::embedding) ? ", and those of embeddings unknown"
            : input.facts.is_unmetered(CallKind::judge)   ? ", and those of votes unknown"
            : of_judge                                    ? ", price of the judge unknown"
                                                          : ", price of embeddings unknown";
  }
  return text;
}

std::string run_facts(const ReportInput& input) {
  const RunFacts& facts = input.facts;
  const auto plural = [](std::uint64_t number, std::string_view one, std::string_view many) {
    return grouped(number) + ' ' + std::string(number == 1 ? one : many);
  };
  std::string text =
      duration(facts.duration_seconds) + (facts.is_resumed ? " in all its parts, " : ", ") +
      counted(facts.requests, "request") + (facts.cut_off_calls ? " and those cut off at its end, " : ", ") +
      plural(facts.retries, "retry", "retries") + ", " + counted(facts.cache_hits, "cache hit");
  // The ledger keeps no workers: of a past run it is not known how many there were.
  if (!facts.workers.empty()) text += ", " + counted(facts.workers.size(), "worker");
  std::uint64_t lost = 0;
  for (const auto& worker : facts.workers) lost += worker.lost ? 1 : 0;
  if (lost > 0) text += " (" + grouped(lost) + " lost)";
  if (facts.rate_limited > 0) text += ", rate limited " + plural(facts.rate_limited, "time", "times");
  std::uint64_t timed_out = 0;
  for (const BudgetFacts& budget : facts.budgets) timed_out += budget.timed_out;
  if (timed_out > 0)
    text += ", " + counted(timed_out, "call") + " timed out" + (facts.is_resumed ? " in its last part" : "");
  return text;
}

namespace {

/// `limited by openai for 3:05 of 3:19`: by the clock, and not the sum over calls that wait side by side.
std::string held_up(const ReportInput& input) {
  std::string text;
  for (const BudgetFacts& budget : input.facts.budgets) {
    if (budget.held_up_time < std::chrono::seconds(1)) continue;
    const auto whole = [](auto time) { return std::chrono::round<std::chrono::seconds>(time); };
    const auto run = whole(input.facts.part_time);  // Of earlier parts nobody knows.
    text += (text.empty() ? "" : ", ") + ("limited by " + budget.provider + " for ") +
            clock(std::min(whole(budget.held_up_time), run)) + " of " + clock(run);
  }
  return text;
}

}  // namespace

std::string waits(const ReportInput& input) {
  const std::string by_clock = held_up(input);
  std::string sums;
  const auto add = [&](std::chrono::milliseconds time, std::string_view why) {
    if (time < std::chrono::milliseconds(50)) return;  // Shown to a tenth of a second.
    sums += (sums.empty() ? "" : ", ") + duration(std::chrono::duration<double>(time).count());
    sums.append(" ").append(why);
  };
  // Of waits for a place alone (max_in_flight) and of a past run the sums are all that is known.
  if (by_clock.empty()) add(input.facts.waited_permit, "for permits");
  add(input.facts.waited_pause, "for pauses");
  add(input.facts.waited_retry, "before retries");
  if (sums.empty()) return by_clock;
  // They may be more than the run took, which looks wrong where nothing says why.
  return by_clock + (by_clock.empty() ? "" : "; ") + sums + ", over all calls";
}

std::string non_answer_word(Reason non_answer) {
  switch (non_answer) {
    case Reason::refusal:
      return "refused";
    case Reason::truncated:
      return "cut off";
    case Reason::unparsable_answer:
      return "unreadable";
    default:
      return std::string(to_string(non_answer));
  }
}

std::string rejected_answer(const CaseResult& result) {
  if (result.error == nullptr || result.unit == nullptr) return "";
  return excerpt(result.unit->shown_text, defaults::max_claim_bytes);
}

void ErrorGroups::add(const CaseResult& result) {
  if (result.error == nullptr || result.not_started) return;
  auto& groups = groups_[result.error->reason];
  const std::string message = excerpt(result.error->message, defaults::max_message_bytes);
  auto group = std::ranges::find(groups, message, &ErrorGroup::message);
  if (group == groups.end() && groups.size() <= defaults::messages_counted_per_reason) {
    const bool is_further = groups.size() == defaults::messages_counted_per_reason;
    groups.push_back({.message = message, .is_further = is_further, .first_answer = rejected_answer(result)});
    group = groups.end();
  }
  // Of a message without a group of its own: that of all further ones.
  if (group == groups.end()) --group;
  add_to(*group, 1, {result.fixture.id});
}

std::map<Reason, std::vector<ErrorGroup>> ErrorGroups::by_reason() const {
  auto shown = groups_;
  for (auto& [reason, groups] : shown) {
    if (groups.size() <= defaults::max_messages_per_reason) continue;
    std::ranges::stable_sort(groups, [](const ErrorGroup& a, const ErrorGroup& b) {
      return a.is_further == b.is_further ? a.count > b.count : b.is_further;
    });
    ErrorGroup& rest = groups[defaults::max_messages_per_reason];
    rest.is_further = true;
    for (std::size_t i = defaults::max_messages_per_reason + 1; i < groups.size(); ++i)
      add_to(rest, groups[i].count, groups[i].ids);
    groups.resize(defaults::max_messages_per_reason + 1);
  }
  return shown;
}

std::string ids(const ErrorGroup& group) {
  std::string text = joined(group.ids);
  if (group.count > group.ids.size()) text += " and " + grouped(group.count - group.ids.size()) + " more";
  return text;
}

}  // namespace sluice::wording
