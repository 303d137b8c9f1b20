#include "coordinator/run/verdict.hpp"

#include "common/checks/detail.hpp"
#include "common/checks/outcome.hpp"
#include "common/defaults.hpp"
#include "common/documents/json_depth.hpp"
#include "common/text/joined.hpp"
#include "common/text/text.hpp"
#include "coordinator/suite/expectations/command_reader.hpp"

#include <cerrno>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using Verdict = nlohmann::json;

/// Clean before it is cut: half of a secret fits no pattern.
std::string program_of(const TextExpectation& what, const Redactor& redactor) {
  std::string words = joined(command_check(what).arguments, " ");
  redactor.apply(words);
  return "the check \"" + excerpt(one_line(words), defaults::max_quoted_bytes) + "\"";
}

/// The reason in one line, and the score of a check that only passes or fails.
std::string reason_of(const Verdict& verdict) {
  std::string words;
  if (const auto score = verdict.find("score"); score != verdict.end() && score->is_number())
    words = "score " + shortest(score->get<double>());
  const auto reason = verdict.find("reason");
  if (reason == verdict.end() || !reason->is_string()) return words;
  const std::string said = one_line(to_valid_utf8(reason->get_ref<const std::string&>()));
  if (said.empty()) return words;
  return words.empty() ? said : words + ": " + said;
}

MetricOutcome passes(MetricId id, const Verdict& verdict, const std::string& program) {
  const auto pass = verdict.find("pass");
  if (pass == verdict.end() || !pass->is_boolean()) {
    return undecided_outcome(id,
                             "the verdict of " + program + " has no \"pass\" that is true or false" +
                                 (verdict.contains("score") ? "; command_score takes its \"score\"" : ""));
  }
  if (pass->get<bool>()) return passed_outcome(id);
  const std::string reason = reason_of(verdict);
  return failed_outcome(id, reason.empty() ? program + " says so, without a reason" : reason);
}

MetricOutcome scores(MetricId id, const Verdict& verdict, const std::string& program) {
  const auto score = verdict.find("score");
  const double value = score != verdict.end() && score->is_number() ? score->get<double>() : -1.0;
  if (!(value >= 0.0 && value <= 1.0)) {
    return undecided_outcome(id, "the verdict of " + program + " has no \"score\" from 0 to 1" +
                                     (verdict.contains("pass") ? "; command takes its \"pass\"" : ""));
  }
  const auto reason = verdict.find("reason");
  std::string said;
  if (reason != verdict.end() && reason->is_string())
    said = excerpt(one_line(to_valid_utf8(reason->get_ref<const std::string&>())),
                   defaults::max_detail_bytes - 3);
  return {id, value, std::nullopt, std::move(said)};
}

MetricOutcome plain_outcome(const TextExpectation& what, const CommandEnd& end, const Redactor& redactor) {
  const MetricId id = positive(what.metric);
  if (end.kind == CommandEnd::Kind::not_started) {
    const bool is_file = command_check(what).arguments.front().find('/') != std::string::npos;
    std::string advice;
    if (is_file) advice = "; a script must be executable, or follow its interpreter";
    if (!is_file && end.error_number == ENOENT)
      advice =
          "; it is looked for in PATH: install it there, or name a file of the suite's folder as ./check.py";
    return undecided_outcome(id, end.message + advice);
  }
  if (end.kind != CommandEnd::Kind::done) return undecided_outcome(id, end.message);
  auto verdict = parse_tree<Verdict>(end.output);
  const std::string program = program_of(what, redactor);
  if (!verdict.is_object()) {
    std::string written = to_valid_utf8(end.output);
    redactor.apply(written);
    return undecided_outcome(id, program + " wrote no verdict, a JSON object such as {\"pass\": true}, but " +
                                     quoted_for_detail(one_line(written)));
  }
  if (const auto reason = verdict.find("reason"); reason != verdict.end() && reason->is_string())
    redactor.apply(reason->get_ref<std::string&>());
  return id == MetricId::command ? passes(id, verdict, program) : scores(id, verdict, program);
}

}  // namespace

MetricOutcome outcome_of_command(const TextExpectation& what, const CommandEnd& end,
                                 const Redactor& redactor) {
  const MetricOutcome plain = plain_outcome(what, end, redactor);
  if (!is_negated(what.metric)) return plain;
  if (plain.passed == true)
    return failed_outcome(what.metric, "it must not pass " + program_of(what, redactor));
  return negation_of(what.metric, plain, {});
}

}  // namespace sluice
