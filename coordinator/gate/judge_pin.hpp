#pragma once

#include "common/model/judge.hpp"
#include "common/model/metrics.hpp"
#include "common/model/run_settings.hpp"
#include "coordinator/gate/gate.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Who judged, as reports and baselines name it.
struct JudgeIdentity {
  std::string provider;  ///< The request format ("openai"), or "fake"; empty: nothing was judged.
  std::string model;     ///< Empty for "fake".
  std::string name{};  ///< The provider as the settings call it, for people; decides nothing, is not pinned.

  bool is_fake() const;
  /// As the settings call the provider; where that is not known, its request format.
  const std::string& shown_name() const { return name.empty() ? provider : name; }
  /// `gpt-4o (my-gateway)`, `fake`.
  std::string in_words() const;
  friend bool operator==(const JudgeIdentity& a, const JudgeIdentity& b) {
    return a.provider == b.provider && a.model == b.model;
  }
};

/// Whoever gave the votes of a run, now or when they were stored; nobody where nobody was named.
JudgeIdentity judge_identity(const RunSettings& run);

/// `fake_judge` (info): the scores of judge metrics are no model's.
std::optional<GateNotice> fake_judge_notice(const JudgeIdentity& judge);

/// What decides on a judge score beside prompt and answer, as the `meta` of a baseline's entry has it
/// (docs/baselines.md). What a file of another tool or an older one does not say is empty.
struct JudgePin {
  std::optional<JudgeIdentity> judge;
  std::optional<std::uint64_t> samples;
  std::string rubric_version;
  std::string rubric_hash;  ///< `sha256:...`
};

/// Of an entry's `meta`, a canonical JSON object or empty.
JudgePin parse_judge_pin(std::string_view meta);

/// The votes on each answer alone, where the `meta` says a number that a run can have.
std::optional<std::uint32_t> pinned_samples(std::string_view meta);

/// What the judge scores of a run are pinned with.
class RunJudge {
 public:
  RunJudge() = default;
  /// `rubrics` are Suite::rubrics.
  RunJudge(JudgeIdentity identity, std::span<const Rubric> rubrics);

  const JudgeIdentity& identity() const { return identity_; }
  JudgePin pin_of(const VoteTally& votes) const;
  /// The `meta` of an entry that pins this metric: a canonical JSON object.
  std::string meta_of(const MetricInfo& metric, const VoteTally& votes) const;

 private:
  struct RubricName {
    std::string version;
    std::string hash;
  };
  JudgeIdentity identity_;
  std::vector<RubricName> rubrics_;
};

}  // namespace sluice
