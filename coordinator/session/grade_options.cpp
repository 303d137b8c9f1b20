#include "coordinator/session/grade_options.hpp"

#include "common/defaults.hpp"
#include "common/documents/table_reader.hpp"
#include "common/model/cache_key.hpp"
#include "common/text/text.hpp"
#include "coordinator/session/arm_options.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/session/trial_design.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

constexpr std::array judges{GradeJudge::exact, GradeJudge::embedding, GradeJudge::llm};

Result<GradeJudge> judge_of(const GradeFlags& flags) {
  if (!flags.judge) return usage_error("--judge must say who compares: exact, embedding or llm");
  const auto judge = grade_judge_from(*flags.judge);
  if (!judge) {
    std::vector<std::string_view> names;
    for (const GradeJudge one : judges) names.push_back(to_string(one));
    return usage_error(
        "--judge must be exact, embedding or llm, not \"" + excerpt(*flags.judge, defaults::quoted_bytes) +
        "\"; the model that compares under llm is named by --judge-provider and --judge-model" +
        did_you_mean(*flags.judge, names));
  }
  return *judge;
}

Result<std::optional<std::int64_t>> seed_of(const GradeFlags& flags, GradeJudge judge) {
  if (!flags.judge_seed) return std::nullopt;
  if (judge != GradeJudge::llm)
    return usage_error("--judge-seed is about --judge llm, and the judge is " +
                       std::string(to_string(judge)));
  const std::string& text = *flags.judge_seed;
  std::int64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return usage_error("--judge-seed must be a whole number, not \"" + excerpt(text, defaults::quoted_bytes) +
                       "\"");
  }
  return seed;
}

Result<Arm> arm_of(std::string_view flag, const std::optional<std::string>& wanted,
                   const std::vector<Arm>& arms) {
  if (arms.size() < 2) {
    return usage_error(
        "a grade is of two arms: name them with --arm NAME=PROVIDER:MODEL, twice, or with \"arms\" in the "
        "suite");
  }
  std::vector<std::string> names;
  for (const Arm& arm : arms) {
    if (arm.name == wanted) return arm;
    names.push_back(arm.name);
  }
  if (!wanted) return usage_error(std::string(flag) + " must name an arm; there are " + quoted_list(names));
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  return usage_error(std::string(flag) + " names \"" + excerpt(*wanted, defaults::quoted_bytes) +
                     "\", which is no arm; there are " + quoted_list(names) +
                     did_you_mean(*wanted, candidates));
}

/// Where two arms differ beside their model: then a grade would be of that as well.
std::optional<std::string_view> difference(const Arm& a, const Arm& b) {
  if (a.prompt != b.prompt) return "prompt";
  if (a.temperature != b.temperature) return "temperature";
  if (a.max_tokens != b.max_tokens) return "max_output_tokens";
  if (a.seed != b.seed) return "seed";
  return std::nullopt;
}

/// One model, under one cache key: the baseline's answers would be found where the candidate's are stored.
bool is_one_model(const ResolvedProvider& a, const ResolvedProvider& b) {
  const auto key_of = [](const ResolvedProvider& one) {
    ModelRequest request;
    request.model = one.model;
    return cache_key(one.provider, request, 0);
  };
  return key_of(a) == key_of(b);
}

std::optional<std::string> not_gradable(const RunOptions& options) {
  const auto is_other = [](const ReportTarget& target) {
    return target.format != ReportFormat::table && target.format != ReportFormat::json;
  };
  if (std::ranges::any_of(options.reports, is_other))
    return "grades are written as table or json: --format, --report and the ending of --output name one of "
           "them";
  if (!options.perturbations.empty() || !options.perturb_commands.empty())
    return "grades are of the tests as they are: " +
           how_to_try_as_is(options.settings, !options.perturb_commands.empty(), false);
  return std::nullopt;
}

}  // namespace

Result<RunOptions> make_grade_options(const RunFlags& flags, const GradeFlags& grade, Settings settings,
                                      const std::vector<Arm>& arms) {
  const auto judge = judge_of(grade);
  if (!judge) return fail(judge.error());
  const auto seed = seed_of(grade, *judge);
  if (!seed) return fail(seed.error());
  const auto baseline = arm_of("--baseline", grade.baseline, arms);
  if (!baseline) return fail(baseline.error());
  const auto candidate = arm_of("--candidate", grade.candidate, arms);
  if (!candidate) return fail(candidate.error());
  if (baseline->name == candidate->name)
    return usage_error("--baseline and --candidate both name \"" + baseline->name + "\": name two arms");
  if (const auto other = difference(*baseline, *candidate)) {
    return usage_error("the arms \"" + baseline->name + "\" and \"" + candidate->name + "\" differ in " +
                       std::string(*other) +
                       ", so that a grade would not be of their models alone: give both the same");
  }
  if (auto fitting = fit_to_arms(settings, {*baseline, *candidate}); !fitting)
    return fail(std::move(fitting.error()));
  auto both = resolve_arms(settings, {*baseline, *candidate});
  if (!both) return fail(std::move(both.error()));
  const ResolvedProvider& first = both->front().provider;
  const ResolvedProvider& second = both->back().provider;
  if (is_one_model(first, second)) {
    const bool is_one_provider = first.provider.name == second.provider.name;
    return usage_error("the arms \"" + baseline->name + "\" and \"" + candidate->name +
                       "\" are the same model, whose answers would be compared with themselves" +
                       (is_one_provider
                            ? ""
                            : "; if it is not, give the providers \"" + first.provider.name + "\" and \"" +
                                  second.provider.name + "\" a cache_identity each"));
  }
  auto options = make_run_options(flags, std::move(settings), {*candidate});
  if (!options) return options;
  if (auto problem = not_gradable(*options)) return usage_error(std::move(*problem));
  options->grading = RunGrading{*judge, std::move(both->front()), *seed};
  return options;
}

}  // namespace sluice
