#include "coordinator/cli/past_runs/named_runs.hpp"

#include "common/model/run_settings.hpp"
#include "common/text/text.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/session/run_record.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

/// `capitals~2`, taken apart.
struct RunWords {
  std::string name;
  std::size_t before = 0;
};

RunWords parse_run_words(const std::string& words) {
  const auto tilde = words.rfind('~');
  RunWords asked{words};
  if (tilde == std::string::npos || tilde == 0) return asked;
  const char* end = words.data() + words.size();
  const auto [stop, problem] = std::from_chars(words.data() + tilde + 1, end, asked.before);
  if (problem != std::errc() || stop != end) return {words};
  asked.name.resize(tilde);
  return asked;
}

bool is_run_of(const PastRun& past, const std::string& suite) {
  return past.run.suite == suite && command_of(past.run) == run_command;
}

/// `which was cut short (interrupted)`, or that it has no end yet; empty of a complete run.
std::string why_incomplete(const PastRun& past) {
  if (past.under_way) return "which is still going on";
  if (!past.summary) return "which has no end";
  const std::string& reason = past.summary->reason_code;
  return reason.empty() ? "" : "which was cut short (" + reason + ")";
}

bool is_mock(const PastRun& one) {
  return one.run.mode == to_string(Mode::mock);
}

/// Parts of a suite with as many cases may have none in common.
bool selects_alike(const RunRecord& one, const RunRecord& other) {
  if (one.selection != other.selection) return false;
  return !one.selection ||
         (one.trials == other.trials && selection_of(one.flags) == selection_of(other.flags));
}

std::string why_not_fitting(const PastRun& one, const PastRun& run) {
  if (std::string incomplete = why_incomplete(one); !incomplete.empty()) return incomplete;
  if (is_mock(one) != is_mock(run)) return is_mock(one) ? "a mock run" : "no mock run";
  return one.run.trials == run.run.trials ? "of other cases"
                                          : "of " + wording::counted(one.run.trials, "trial");
}

}  // namespace

Result<std::optional<PastRun>> find_past_run(const Settings& settings, const std::string& words) {
  const auto ledger = open_past_runs(settings);
  if (!ledger) return fail(ledger.error());
  if (!*ledger) return std::nullopt;
  auto found = find_run_by_any_name(**ledger, words);
  if (!found) return fail(std::move(found.error()));
  return std::move(*found);
}

Result<PastRun> find_run_by_any_name(const Ledger& ledger, const std::string& words) {
  auto found = ledger.find_run(words);
  if (found) return found;
  const auto is_suite = is_suite_that_ran(ledger, words);
  return is_suite && *is_suite ? find_run_or_suite(ledger, words) : found;
}

Result<PastRun> find_run_or_suite(const Ledger& ledger, const std::string& words,
                                  std::vector<PastRun>* passed_over) {
  const RunWords asked = parse_run_words(words);
  if (asked.name == "last") return ledger.find_run(words);
  auto runs = ledger.list_runs(defaults::max_runs_named);
  if (!runs) return fail(runs.error());
  std::size_t of_suite = 0;
  for (PastRun& past : *runs) {
    if (!is_run_of(past, asked.name)) continue;
    const bool counts = passed_over != nullptr ? why_incomplete(past).empty() : past.summary.has_value();
    if (counts && of_suite++ == asked.before) return std::move(past);
    if (!counts && passed_over != nullptr) passed_over->push_back(past);
  }
  if (of_suite > 0 || (passed_over != nullptr && !passed_over->empty())) {
    const std::string count = passed_over != nullptr ? wording::counted(of_suite, "complete run")
                                                     : wording::counted(of_suite, "run") + " that ended";
    return fail(Reason::usage_invalid, "the suite \"" + asked.name + "\" has " + count + ", and so no \"" +
                                           words + "\"; `sluice runs list` shows them");
  }
  const auto begins_so = [&](const PastRun& past) { return past.run.run_id.starts_with(asked.name); };
  if (std::ranges::any_of(*runs, begins_so)) {
    if (asked.before == 0) return ledger.find_run(words);
    return fail(Reason::usage_invalid,
                "\"" + asked.name +
                    "\" is one run, and only \"last\" and suites have runs before: name "
                    "what it is compared with as well");
  }
  std::vector<std::string_view> names;
  for (const PastRun& past : *runs) names.push_back(past.run.suite);
  return fail(Reason::usage_invalid, "the run ledger has no run \"" + asked.name +
                                         "\", and no run of a suite of that name that ended; "
                                         "`sluice runs list` shows the runs" +
                                         did_you_mean(asked.name, names));
}

Result<bool> is_suite_that_ran(const Ledger& ledger, const std::string& words) {
  const auto runs = ledger.list_runs(defaults::max_runs_named);
  if (!runs) return fail(runs.error());
  const std::string name = parse_run_words(words).name;
  return std::ranges::any_of(*runs, [&](const PastRun& past) { return past.run.suite == name; });
}

const PastRun& fitting_run(const PastRun& run, const std::vector<const PastRun*>& earlier) {
  const auto has_mode = [&](const PastRun* one) { return is_mock(*one) == is_mock(run); };
  const auto is_alike = [&](const PastRun* one) { return has_mode(one) && selects_alike(one->run, run.run); };
  const auto is_complete = [](const PastRun* one) { return why_incomplete(*one).empty(); };
  auto chosen =
      std::ranges::find_if(earlier, [&](const PastRun* one) { return is_alike(one) && is_complete(one); });
  if (chosen == earlier.end()) {
    chosen = std::ranges::find_if(earlier, [&](const PastRun* one) {
      return has_mode(one) && is_complete(one) && !one->run.selection;
    });
  }
  if (chosen == earlier.end()) chosen = std::ranges::find_if(earlier, is_alike);
  if (chosen == earlier.end()) chosen = std::ranges::find_if(earlier, has_mode);
  return **(chosen == earlier.end() ? earlier.begin() : chosen);
}

std::string passed_over_words(const PastRun& newest, const PastRun& run, std::size_t count) {
  return "passed over: run " + short_id(newest.run.run_id) + ", " + why_not_fitting(newest, run) +
         (count == 1 ? "" : ", and " + wording::grouped(count - 1) + " more") +
         "; to compare with it, name it";
}

Result<BaseOfSuite> base_of_suite(const Ledger& ledger, const std::string& suite) {
  const auto runs = ledger.list_runs(defaults::max_runs_named);
  if (!runs) return fail(runs.error());
  std::vector<const PastRun*> earlier;
  const PastRun* current = nullptr;
  for (const PastRun& past : *runs) {
    if (!is_run_of(past, suite) || !why_incomplete(past).empty()) continue;
    current == nullptr ? void(current = &past) : earlier.push_back(&past);
  }
  if (earlier.empty()) return BaseOfSuite{suite + "~1"};
  const PastRun* fitting = &fitting_run(*current, earlier);
  const auto before = std::ranges::find(earlier, fitting) - earlier.begin() + 1;
  BaseOfSuite base{suite + "~" + std::to_string(before)};
  std::vector<const PastRun*> passed_over;
  for (const PastRun* one = runs->data(); one != fitting; ++one) {
    if (one != current && is_run_of(*one, suite)) passed_over.push_back(one);
  }
  if (!passed_over.empty())
    base.passed_over = passed_over_words(*passed_over.front(), *current, passed_over.size());
  return base;
}

}  // namespace sluice
