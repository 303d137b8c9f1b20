#include "coordinator/cli/observation_flags.hpp"

#include "common/text/text.hpp"
#include "common/text/timestamp.hpp"
#include "coordinator/cli/past_runs/named_runs.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/session/flag_values.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <CLI/CLI.hpp>

namespace sluice {

Result<std::string> moment_of(std::string_view flag, std::string_view text, std::int64_t now_ms) {
  constexpr std::size_t date_size = 10;  // 2026-02-05
  const std::string whole = text.size() == date_size ? std::string(text) + "T00:00:00Z" : std::string(text);
  if (const auto moment = parse_rfc3339(whole)) return wording::rfc3339(moment->time_since_epoch().count());
  if (const auto age = age_of(flag, text)) return wording::rfc3339(now_ms - age->count());
  return usage_error(std::string(flag) +
                     " must be a date (2026-02-05), a time (2026-02-05T14:30:00Z) or an "
                     "age in days or hours (7d, 12h), not \"" +
                     excerpt(text, defaults::quoted_flag_bytes) + "\"");
}

void ObservationFlags::add_to(CLI::App& command) {
  command.add_option("--run", run, "Of this run: its id, its first digits, last, or last~N")->type_name("ID");
  command.add_option("--case", case_id, "Of this case; TEST stands for TEST@ARM under every arm")
      ->type_name("ID");
  command.add_option("--status", status, "Of answers with this status")->type_name("pass|warn|fail|error");
  command.add_option("--model", model, "Of this model")->type_name("MODEL");
  command.add_option("--since", since, "From this time on: a date, a time, or an age (7d, 12h)")
      ->type_name("TIME");
  command.add_option("--before", before, "Before this time: the same forms")->type_name("TIME");
}

namespace {

/// The one run of the observations that these words name.
Result<std::string> run_id_of(const std::string& words, const Settings& settings,
                              const ObservationStore& store) {
  const auto begun = store.runs_beginning_with(words);
  if (!begun) return fail(begun.error());
  if (begun->size() == 1 || std::ranges::find(*begun, words) != begun->end()) return begun->front();
  const auto past = find_past_run(settings, words);
  if (!past) return fail(past.error());
  if (!*past) return fail(Reason::usage_invalid, no_run_yet);
  return (*past)->run.run_id;
}

}  // namespace

Result<ObservationFilter> ObservationFlags::filter(const Settings& settings,
                                                   const std::optional<ObservationStore>& store,
                                                   std::int64_t now_ms) const {
  ObservationFilter filter;
  if (run && store) {
    auto id = run_id_of(*run, settings, *store);
    if (!id) return fail(std::move(id.error()));
    filter.run = std::move(*id);
  }
  filter.case_id = case_id.value_or("");
  if (status) {
    const auto known = choice_of("--status", *status, {"pass", "warn", "fail", "error"});
    if (!known) return fail(known.error());
    filter.status = *status;
  }
  filter.model = model.value_or("");
  for (const auto& [flag, given, moment] :
       {std::tuple("--since", &since, &filter.since), std::tuple("--before", &before, &filter.before)}) {
    if (!*given) continue;
    auto made = moment_of(flag, **given, now_ms);
    if (!made) return fail(std::move(made.error()));
    *moment = std::move(*made);
  }
  return filter;
}

}  // namespace sluice
