#include "coordinator/run/run_errors.hpp"

#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool needs_more_than_its_answer(const Plan& plan, UnitId unit) {
  const auto needs_more = [](const Expectation& one) {
    return is_judge_metric(one.what.metric) || one.what.metric == MetricId::semantic_similarity_to;
  };
  return std::ranges::any_of(plan.trials_of(unit), [&](TrialId trial) {
    const auto test_case = plan.case_of_trial(trial);
    return test_case && std::ranges::any_of((*test_case)->expectations, needs_more);
  });
}

}  // namespace

Error missing_answers(const Plan& plan, const std::vector<UnitId>& units, const Error& why, bool grades) {
  std::vector<TrialId> trials;
  for (const auto unit : units) {
    const auto served = plan.trials_of(unit);
    trials.insert(trials.end(), served.begin(), served.end());
  }
  std::ranges::sort(trials);
  std::string names;
  for (std::size_t i = 0; i < std::min(defaults::named_trials, trials.size()); ++i) {
    names += (i > 0 ? ", " : "") + plan.trial_name(trials[i]);
  }
  const bool one_trial_a_case = plan.trial_count() == plan.trials().case_count();
  if (trials.size() > defaults::named_trials)
    names += " and " + std::to_string(trials.size() - defaults::named_trials) + " more";
  const auto which =
      wording::counted_of(trials.size(), plan.trial_count(), one_trial_a_case ? "case" : "trial");
  if (why.reason == Reason::cache_in_use) {
    return {why.reason,
            "no cache was seen to hold all that is needed for " + which + " (" + names + "): " + why.message};
  }
  const bool shows_why = !why.message.empty() && (grades || needs_more_than_its_answer(plan, units.front()));
  const std::string what = shows_why            ? "all that is needed for "
                           : trials.size() == 1 ? "answer of "
                                                : "answers of ";
  return {Reason::cache_miss, (shows_why ? "no cache holds " : "no cache holds the ") + what + which + " (" +
                                  names + ")" + (shows_why ? ": " + why.message : "") +
                                  "; the same command with `--mode live` asks for " +
                                  (trials.size() == 1 ? "it" : "them")};
}

std::string after_silence(bool others_are_there, std::chrono::milliseconds worker_timeout) {
  if (others_are_there) return "its leases go to others";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(worker_timeout).count();
  return "the run waits " + std::to_string(seconds) + " s for a worker (--worker-timeout)";
}

Error no_worker_connected(std::chrono::milliseconds waited, std::uint64_t refused,
                          const std::string& last_farewell, const std::string& how_to_start_one) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
  const std::string but = refused == 0 ? ""
                                       : "; " + wording::counted(refused, "connection") +
                                             (refused == 1 ? " was" : " were") + " refused, as the log says";
  const std::string left = last_farewell.empty() ? "" : "; " + last_farewell;
  return {Reason::no_workers, "no worker was connected for " + std::to_string(seconds) + " s" + but + left +
                                  "; " + how_to_start_one};
}

Error deadline_reached(std::chrono::milliseconds deadline) {
  const auto seconds = std::chrono::duration<double>(deadline).count();
  return {Reason::deadline_reached,
          "the run's deadline (--deadline) of " + shortest(seconds) + " s was reached"};
}

std::string stop_in_words(const Error& why, const UnderWay& under_way) {
  const auto started = under_way.started;
  const bool waits = under_way.time_to_finish > std::chrono::milliseconds(0);
  const std::string calls =
      started > 0 ? wording::counted(started, "call") + " under way" : std::string("calls under way");
  const std::string commands = "commands that check " + wording::counted(under_way.in_check, "answer");
  const std::string all = under_way.in_check == 0 ? calls
                          : started == 0          ? commands
                                                  : calls + " and " + commands;
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(under_way.time_to_finish).count();
  const std::string waiting = ": waiting up to " + std::to_string(seconds) + " s for " + all;
  if (why.reason != Reason::interrupted) {
    if (!waits || started == 0) return "";
    return "the run ends early (" + std::string(to_string(why.reason)) + ")" + waiting;
  }
  if (waits && under_way.leased + under_way.in_check > 0)
    return why.message + waiting + "; press Ctrl-C again, or send one more signal, to end at once";
  return why.message + (started > 0 ? ": " + calls + (started == 1 ? " is" : " are") + " given up" : "") +
         "; the report follows";
}

std::string utc_time(std::chrono::system_clock::time_point time) {
  // Rounded up: then it answers, not before.
  const auto rounded = std::chrono::ceil<std::chrono::seconds>(time).time_since_epoch();
  return wording::date(std::chrono::milliseconds(rounded).count());
}

Error provider_paused(const std::string& provider, const std::string& worker, std::chrono::milliseconds delay,
                      std::chrono::system_clock::time_point until, bool is_cached) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(delay).count();
  return {Reason::provider_paused,
          "provider \"" + provider + "\" asks for " + std::to_string(seconds) +
              " s of silence (says worker " + worker +
              "), longer than a case may take (--case-timeout), and answers again at " + utc_time(until) +
              "; run again then" + (is_cached ? ": what was answered is in the cache" : "") +
              ". With a --deadline beyond that time the run waits"};
}

}  // namespace sluice
