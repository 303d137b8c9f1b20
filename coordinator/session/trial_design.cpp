#include "coordinator/session/trial_design.hpp"

#include "common/command/bounded_command.hpp"
#include "common/defaults.hpp"
#include "common/hash.hpp"
#include "common/settings/setting_definitions.hpp"
#include "common/text/joined.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/perturb/perturbation.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

PerturbedText planned(Perturbed perturbed) {
  switch (perturbed.outcome) {
    case PerturbationOutcome::changed:
      return {PerturbedText::Kind::changed, std::move(perturbed.text), {}};
    case PerturbationOutcome::unchanged:
      break;
    case PerturbationOutcome::skipped:
      return {PerturbedText::Kind::skipped, {}, std::move(perturbed.reason)};
  }
  return {};
}

RunPerturbation perturbation_of(const Perturbation& perturbation) {
  RunPerturbation result;
  result.name = perturbation.name;
  result.version = std::to_string(perturbation.version);
  result.apply = [&perturbation](std::string_view text, std::string_view language) {
    return planned(perturb(perturbation, language, text));
  };
  return result;
}

/// A command mostly quotes the text that it cannot take.
PerturbedText run(const BoundedCommand& command, const Redactor& redactor, std::string_view text) {
  CommandEnd end = run_to_its_end(command, text);
  if (end.kind != CommandEnd::Kind::done) {
    redactor.apply(end.errors);
    return {PerturbedText::Kind::failed,
            {},
            with_errors(std::move(end.message), end.errors, defaults::quoted_command_error_bytes)};
  }
  if (invalid_utf8_at(end.output)) {
    return {PerturbedText::Kind::failed,
            {},
            "what the perturbation command \"" + excerpt(command.shown, defaults::quoted_bytes) +
                "\" wrote is not valid UTF-8"};
  }
  return {PerturbedText::Kind::changed, std::move(end.output), {}};
}

/// Its version is a hash of the command: another command under the same name is another perturbation.
RunPerturbation perturbation_of(const PerturbCommand& given, const Settings& settings,
                                const Redactor& redactor) {
  BoundedCommand command{
      {"/bin/sh", "-c", given.command}, settings.perturb_timeout.value, settings.perturb_max_bytes.value};
  command.shown = given.command;
  command.kind = "perturbation command";
  command.for_more_time = "perturb_timeout_seconds would give it more";
  command.for_more_output = "perturb_max_bytes would allow more";
  command.hidden_variables = secret_variables(settings);
  RunPerturbation perturbation;
  perturbation.name = given.name;
  perturbation.version = to_hex(sha256(given.command)).substr(0, 12);
  perturbation.apply = [command, redactor](std::string_view text, std::string_view) {
    return run(command, redactor, text);
  };
  perturbation.apply_once = true;
  return perturbation;
}

/// The perturbations of these names; an unknown one is an error at the place where the settings name it.
Result<std::vector<const Perturbation*>> catalogued(const std::vector<std::string>& names,
                                                    const Settings& settings) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  if (list.empty()) return std::vector<const Perturbation*>();
  auto named = perturbations_named(list);
  if (named) return named;
  const auto& where = settings.perturb.where;
  return fail(named.error().reason, (where.empty() ? "--perturb" : where) + ": " + named.error().message);
}

/// Nobody has typed the flag of a setting that the suite or a file sets.
std::string how_to_do_without(const Stamp& set, const std::string& overrule) {
  return set.origin == Origin::flag ? "leave out " + set.where
                                    : "say " + overrule + ", which goes before " + set.where;
}

}  // namespace

std::string how_to_try_as_is(const Settings& settings, bool has_commands, bool once) {
  std::vector<std::string> ways;
  const auto& [repeats, by, place] = settings.repeat;
  const auto& [names, origin, where] = settings.perturb;
  if (once && repeats > 1) ways.push_back(how_to_do_without({by, place}, "--repeat 1"));
  if (has_commands) ways.emplace_back("leave out --perturb-command");
  if (settings.robust)
    ways.push_back(how_to_do_without({settings.mode.origin, settings.mode.where}, "--mode live"));
  if (!names.empty() && names.front() != "none")
    ways.push_back(how_to_do_without({origin, where}, "--perturb none"));
  return joined(ways, "; ");
}

Result<TrialDesign> make_trial_design(const RunOptions& options, const Redactor& redactor,
                                      OnCommands on_commands) {
  TrialDesign design;
  design.repeats = options.settings.repeat.value;
  const auto named = catalogued(options.perturbations, options.settings);
  if (!named) return fail(named.error());
  for (const Perturbation* perturbation : *named) {
    design.perturbations.push_back(perturbation_of(*perturbation));
  }
  for (const PerturbCommand& command : options.perturb_commands) {
    if (perturbation_named(command.name)) {
      return fail(Reason::usage_invalid,
                  "--perturb-command names \"" + command.name +
                      "\", which is a perturbation of sluice's own: choose another name");
    }
    design.perturbations.push_back(perturbation_of(command, options.settings, redactor));
  }
  if (!options.perturb_commands.empty()) design.on_progress = std::move(on_commands);
  if (design.perturbations.size() > TrialTable::max_perturbations) {
    return fail(Reason::usage_invalid, "there are " + std::to_string(design.perturbations.size()) +
                                           " perturbations, and a run takes at most " +
                                           std::to_string(TrialTable::max_perturbations) +
                                           ": leave out some of --perturb or --perturb-command");
  }
  return design;
}

Result<void> check_perturbations(const Settings& settings) {
  const auto names = perturbations_wanted(settings);
  if (!names) return fail(names.error());
  const auto named = catalogued(*names, settings);
  if (!named) return fail(named.error());
  return {};
}

Result<void> check_perturb_commands(const RunOptions& options, const Plan& plan) {
  for (const PerturbCommand& command : options.perturb_commands) {
    const auto facts = std::ranges::find(plan.perturbations(), command.name, &PerturbationFacts::name);
    if (facts == plan.perturbations().end()) continue;
    if (facts->changed > 0 || facts->unchanged > 0 || facts->failed == 0) continue;
    const std::string which = facts->given_up
                                  ? "the first " + std::to_string(defaults::max_first_failures) + " texts"
                                  : "every text";
    return fail(Reason::usage_invalid,
                "--perturb-command " + command.name + " failed on " + which + ": " + facts->first_failure);
  }
  return {};
}

}  // namespace sluice
