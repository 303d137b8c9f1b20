#include "coordinator/report/wording/judge_wording.hpp"

#include "common/text/joined.hpp"
#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/gate/quoted.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace sluice::wording {
namespace {

std::string share_of_hundred(double share) {
  return fixed(100.0 * share, 1) + " %";
}

/// A trait of answers as sentences need it.
struct TraitWords {
  const char* more;      ///< "longer answers"
  const char* examples;  ///< What to read.
};

constexpr TraitWords length_words{"longer answers",
                                  "long answers with high scores and short ones with low scores"};
constexpr TraitWords format_words{"answers with more Markdown",
                                  "formatted answers with high scores and plain ones with low scores"};

/// `rank correlation of score and length in bytes 0.41 (95 %: 0.25 to 0.55) over 200 cases`
std::string strength(const RankCorrelation& found, const std::string& trait, double confidence) {
  return "rank correlation of score and " + trait + ' ' + fixed(*found.rho, 2, true) + " (" +
         in_percent(confidence) + ": " + fixed(found.interval.low, 2, true) + " to " +
         fixed(found.interval.high, 2, true) + ") over " + counted(found.cases, "case");
}

std::string trait_bias(const TraitBias& trait, const TraitWords& of, const std::string& name,
                       double confidence) {
  const RankCorrelation& found = trait.correlation;
  const std::string measured = strength(found, name, confidence);
  if (!trait.decision.beyond_chance)
    return measured + ": not beyond chance; the interval says how much may have gone unseen";
  // The scores rise with the trait where rho is above 0.
  return measured + ": " + of.more + (*found.rho > 0 ? " score higher" : " score lower") +
         ", beyond chance. Either they are " + (*found.rho > 0 ? "better" : "worse") +
         ", or the judge is biased: read some " + (*found.rho > 0 ? of.examples : "of those at both ends") +
         ", and let the rubric say what does not count, or another model judge";
}

/// Why a trait was not measured, or from where on it is.
std::string gap_of(const JudgedMetricBias& metric, const RankCorrelation& found) {
  if (judges_context(metric.score.metric)) return "the judge sees no answer";
  if (found.cases >= fewest_ranked_cases) return "all answers or all scores are alike";
  const bool lacks_values = found.cases < metric.format.correlation.cases;  // Which each answer has.
  return "from " + std::to_string(fewest_ranked_cases) + " cases" + (lacks_values ? " of known length" : "") +
         " on";
}

/// What was not measured, by why it was not.
std::map<std::string, std::string> gaps_of(const JudgedMetricBias& metric) {
  std::map<std::string, std::string> gaps;
  const auto add = [&](const char* measure, const std::string& why) {
    std::string& measures = gaps[why];
    measures.append(measures.empty() ? "" : " and ").append(measure);
  };
  if (!metric.length.correlation.rho) add("length", gap_of(metric, metric.length.correlation));
  if (!metric.format.correlation.rho) add("format", gap_of(metric, metric.format.correlation));
  if (!metric.noise) {
    add("noise of votes",
        metric.votes < 2 ? "from 2 votes an answer on: `--judge-samples 3`" : "from 2 answers on");
  }
  return gaps;
}

/// `` `faithfulness v1` with 3 votes: kappa 0.72 (95 %: 0.48 to 0.90) by 40 answers beside labels ``.
std::string calibrated_in_words(const CheckedCalibration& one) {
  std::string text = backquoted(rubric_in_words(one.score, one.rubric, one.rubric_version)) + " with " +
                     counted(one.samples, "vote");
  if (one.check.found == nullptr) return text;
  const JudgeCalibration& found = *one.check.found;
  return text + ": " + kappa(found) + " by " + counted(found.answers, "answer") + " beside " +
         printable(found.against);
}

/// The first few of those that came to this.
std::string calibrated_list(const RunCalibrations& run, CalibrationStanding standing) {
  std::string text;
  std::uint64_t count = 0;
  for (const CheckedCalibration& one : run.metrics) {
    if (one.check.standing != standing || ++count > defaults::named_entries) continue;
    text += (text.empty() ? "" : ", ") + calibrated_in_words(one);
  }
  if (count > defaults::named_entries) text += ", and " + grouped(count - defaults::named_entries) + " more";
  return text;
}

GateNotice warning(std::string code, std::string message) {
  return {GateNotice::Severity::warning, std::move(code), std::move(message), false, "Judge"};
}

}  // namespace

std::string rubric_in_words(const ScoreId& score, const std::string& rubric, const std::string& version) {
  return score_with_rubric(to_string(score), score.metric, rubric, version);
}

std::string judged_by(const JudgedMetricBias& metric) {
  return rubric_in_words(metric.score, metric.rubric, metric.rubric_version);
}

std::string kappa(const JudgeCalibration& calibration) {
  if (!calibration.kappa) return "no kappa, since both always say the same,";
  return "kappa " + fixed(*calibration.kappa, 2) + " (" + in_percent(defaults::statistics::confidence) +
         ": " + fixed(calibration.kappa_low, 2) + " to " + fixed(calibration.kappa_high, 2) + ")";
}

std::string length_bias(const JudgedMetricBias& metric, double confidence) {
  return trait_bias(metric.length, length_words, "length in " + std::string(to_string(metric.length_unit)),
                    confidence);
}

std::string format_bias(const JudgedMetricBias& metric, double confidence) {
  return trait_bias(metric.format, format_words, "share of Markdown", confidence);
}

bool is_noisy(const JudgedMetricBias& metric) {
  return metric.noise && metric.noise->flip_rate > defaults::statistics::vote_noise_limit;
}

std::string vote_noise(const JudgedMetricBias& metric) {
  const VoteNoise& noise = *metric.noise;
  std::string text = counted(metric.votes, "vote") + " on an answer would come out otherwise " + "for some " +
                     share_of_hundred(noise.flip_rate) + " of " + counted(noise.answers, "answer") +
                     " (at most " + share_of_hundred(noise.flip_rate_upper) + ")";
  const std::string limit = share_of_hundred(defaults::statistics::vote_noise_limit);
  if (!is_noisy(metric) && noise.flip_rate_upper > defaults::statistics::vote_noise_limit)
    return text + ": too few answers to tell whether it is below the limit of " + limit;
  if (!is_noisy(metric)) return text + ": below the limit of " + limit;
  if (!noise.enough_votes) {
    return text + ": above " + limit + ", and not even " + std::to_string(defaults::statistics::most_votes) +
           " votes would bring it below; write a rubric that leaves less open, or let another model judge";
  }
  return text + ": above " + limit + "; `--judge-samples " + std::to_string(*noise.enough_votes) +
         "` would bring it below";
}

std::string not_measured(const JudgeBias& bias) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> scores;  // By measures and why.
  for (const JudgedMetricBias& metric : bias.metrics) {
    for (const auto& [why, measures] : gaps_of(metric))
      scores[{measures, why}].push_back(backquoted(judged_by(metric)));
  }
  std::string text;
  for (auto& [gap, of] : scores) {
    text += (text.empty() ? "" : "; ") + gap.first;
    if (of.size() < bias.metrics.size()) {
      const std::size_t more = of.size() - std::min(of.size(), defaults::named_entries);
      of.resize(of.size() - more);
      text += " of " + joined(of) + (more > 0 ? " and " + grouped(more) + " more" : "");
    }
    text += " (" + gap.second + ")";
  }
  return text;
}

std::vector<GateNotice> judge_bias_notices(const JudgeBias& bias) {
  std::vector<GateNotice> notices;
  for (const JudgedMetricBias& metric : bias.metrics) {
    const std::string of = "`" + judged_by(metric) + "`: ";
    if (metric.length.decision.beyond_chance)
      notices.push_back(warning("judge_length_bias", of + length_bias(metric, bias.confidence) + "."));
    if (metric.format.decision.beyond_chance)
      notices.push_back(warning("judge_format_bias", of + format_bias(metric, bias.confidence) + "."));
  }
  return notices;
}

std::vector<GateNotice> calibration_notices(const RunCalibrations& run, const std::string& suite_path,
                                            bool strict) {
  const std::string judge = run.required->judge().in_words();
  const std::string limit = "a kappa of at least " + shortest(run.required->min_kappa());
  const std::string command = "`sluice calibrate-judge " + shell_word(suite_path) +
                              " --labels labels.jsonl` with this run's settings";
  const std::string so = strict ? "" : "what it would fail only warns; ";
  const auto severity = warning_under(strict);
  std::vector<GateNotice> notices;
  const auto add = [&](GateNotice::Severity how, std::string code, std::string message) {
    notices.push_back({how, std::move(code), std::move(message), true, "Judge"});
  };
  if (const auto of = calibrated_list(run, CalibrationStanding::missing); !of.empty()) {
    add(severity, "judge_uncalibrated",
        "the gate asks for " + limit + ", and the ledger has no calibration of " + judge + " for " + of +
            ": " + so + "make one by " + command + ".");
  }
  if (const auto of = calibrated_list(run, CalibrationStanding::other_criteria); !of.empty()) {
    add(severity, "judge_uncalibrated",
        "the gate asks for " + limit + ", and the ledger's calibration of " + judge +
            " is of other criteria, "
            "or another `min_score`, than tests of this run have (" +
            of + "): " + so + "make one anew by " + command + ".");
  }
  if (const auto of = calibrated_list(run, CalibrationStanding::fake); !of.empty()) {
    add(severity, "judge_uncalibrated",
        "the gate asks for " + limit +
            ", and the fake judge, which every mock run has, is never calibrated (" + of + "): " + so +
            "name a model with `--judge PROVIDER --judge-model MODEL`, and calibrate it by " + command + ".");
  }
  if (const auto of = calibrated_list(run, CalibrationStanding::kappa_low); !of.empty()) {
    add(severity, "judge_kappa_low",
        "the gate asks for " + limit + " at the lower end of its interval, which the judge " + judge +
            " does not reach (" + of + "): " + so +
            "where only the lower end is below, label more answers, else mend the rubric or let another "
            "model "
            "judge; then again " +
            command + ".");
  }
  if (const auto of = calibrated_list(run, CalibrationStanding::calibrated); !of.empty()) {
    add(GateNotice::Severity::info, "judge_calibrated",
        "the judge " + judge + " has " + limit + ", as the gate asks for (" + of + ").");
  }
  return notices;
}

}  // namespace sluice::wording
