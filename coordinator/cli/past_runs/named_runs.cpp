#include "coordinator/cli/past_runs/named_runs.hpp"

#include "common/text/text.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
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
    if (past.run.suite != asked.name || command_of(past.run) != run_command) continue;
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

std::string why_incomplete(const PastRun& past) {
  if (past.under_way) return "which is still going on";
  if (!past.summary) return "which has no end";
  const std::string& reason = past.summary->reason_code;
  return reason.empty() ? "" : "which was cut short (" + reason + ")";
}

std::string passed_over_words(const PastRun& newest, const std::string& why, std::size_t count) {
  return "passed over: run " + short_id(newest.run.run_id) + ", " + why +
         (count == 1 ? "" : ", and " + wording::grouped(count - 1) + " more");
}

}  // namespace sluice
