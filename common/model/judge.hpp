#pragma once

#include "common/hash.hpp"
#include "common/model/metrics.hpp"
#include "common/model/request.hpp"
#include "common/model/votes.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What a judge metric asks of a model (docs/judges.md), as its file has it. `user` has the placeholders
/// {{prompt}}, {{answer}}, {{context}}, {{reference}} and {{criteria}}.
struct Rubric {
  std::string id;       ///< "faithfulness"
  std::string version;  ///< "v1"
  std::string system;
  std::string user;
  friend bool operator==(const Rubric&, const Rubric&) = default;
};

/// What a score is called, and by which rubric it is judged: `faithfulness v1`, `rubric:kind (tone v1)` where
/// the rubric has another name than the metric.
std::string score_with_rubric(std::string score, MetricId metric, std::string_view rubric,
                              std::string_view version);

/// Of all that the rubric says: part of a vote's key, of fingerprints and of baselines.
Digest rubric_hash(const Rubric& rubric);

/// Who judges. `none`: votes come from caches alone. `fake` judges without a model, by shared words.
enum class Judge : std::uint8_t { none = 0, fake = 1, model = 2 };

std::string_view to_string(Judge judge);

/// The judge of a run, as every worker receives it in WELCOME.
struct JudgeSettings {
  Judge judge = Judge::none;
  /// Name of a ProviderSettings of the run, and its model, also where votes come from caches alone; empty:
  /// nobody was named.
  std::string provider;
  std::string model;
  double temperature = 0.0;
  std::uint32_t max_tokens = 0;           ///< Upper bound of a vote; 0 lets the provider decide.
  bool refresh = false;                   ///< Votes are not read from caches.
  std::vector<Rubric> rubrics;            ///< Those that the run's cases use.
  std::optional<std::int64_t> seed = {};  ///< Sent with each call if it is set; comparisons of answers alone.
  /// A case of the run has a JudgeExpectation::context. Not on the wire: who may take part depends on it.
  bool gives_context = false;
  friend bool operator==(const JudgeSettings&, const JudgeSettings&) = default;
};

/// What a judge metric of a case asks.
struct JudgeExpectation {
  MetricId metric = MetricId::faithfulness;
  std::uint32_t rubric = 0;   ///< Position in JudgeSettings::rubrics.
  std::uint32_t samples = 3;  ///< Votes, 1 to defaults::max_judge_samples.
  double min_score = 0.5;     ///< A vote passes at or above it.
  std::string reference;      ///< Empty if the rubric does not show it.
  std::string criteria;       ///< Empty if the rubric does not show it.
  /// How a recorded answer was judged already: nobody is asked for votes.
  std::optional<JudgeScore> recorded = {};
  std::string context = {};  ///< In the place of JudgedQuestion::context; empty: that one is shown.
  friend bool operator==(const JudgeExpectation&, const JudgeExpectation&) = default;
};

/// What a judge is shown of a case beside the answer.
struct JudgedQuestion {
  std::string prompt;
  std::string context;  ///< Empty if the case has none.
  friend bool operator==(const JudgedQuestion&, const JudgedQuestion&) = default;
};

/// What stands for each placeholder.
struct RubricTexts {
  std::string_view prompt;
  std::string_view answer;
  std::string_view context;
  std::string_view reference;
  std::string_view criteria;
};

/// What the judge is shown for this metric. The answer alone is not known to every caller. The texts are
/// those of the arguments.
RubricTexts texts_for_judge(const JudgeExpectation& expectation, const JudgedQuestion& question,
                            std::string_view answer = {});

/// The user message with each placeholder replaced once: what stands in the texts is never taken for one.
std::string render_rubric(const Rubric& rubric, const RubricTexts& texts);

/// The names of the placeholders that the rubric has; unknown ones too.
std::vector<std::string> placeholders_of(const Rubric& rubric);

/// Every name that a placeholder may have.
std::vector<std::string_view> known_placeholders();

}  // namespace sluice
