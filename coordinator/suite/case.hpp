#pragma once

#include "common/hash.hpp"
#include "common/model/claim.hpp"
#include "common/model/expectation.hpp"
#include "common/model/request_extras.hpp"
#include "common/text/template.hpp"
#include "coordinator/suite/thresholding.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

struct AnsweredTest;

/// How a case's request is made: `claims` puts the content into the claims prompt and asks for the claims
/// schema, `text` sends the content as it is and takes any text for an answer.
enum class CaseKind : std::uint8_t { claims, text };

/// What a judge metric of a test asks (docs/judges.md).
struct JudgeQuestion {
  std::uint32_t rubric = 0;                ///< Position in Suite::rubrics.
  Digest rubric_hash{};                    ///< Its hash, for fingerprints: positions change with the suite.
  std::optional<std::uint32_t> samples{};  ///< Votes, over the run's settings.
  std::string reference{};                 ///< Empty if the rubric does not show it.
  std::string criteria{};                  ///< Empty if the rubric does not show it.
  std::string context{};                   ///< In the place of the case's; empty: that one is shown.
  friend bool operator==(const JudgeQuestion&, const JudgeQuestion&) = default;
};

/// A metric that a YAML test names, and what it must reach.
struct Expectation {
  /// Its `texts` are empty for a claims metric, which assesses by the case's claims, and for a judge metric.
  TextExpectation what;
  Thresholding thresholding;  ///< Over the suite's; only for scored metrics.
  /// `expected.min_score`: holds beside any thresholding. Of a judge metric: what each vote must reach.
  std::optional<double> min_score;
  std::optional<JudgeQuestion> judge{};  ///< Of a judge metric alone.
  /// Tells its score from others that the metric gives the test (ScoreId); empty: it has none.
  std::string name{};
  friend bool operator==(const Expectation&, const Expectation&) = default;
};

/// A test's messages under one of the suite's prompts (Suite::prompts), rendered.
struct RenderedPrompt {
  std::string system;
  std::string prompt;
  friend bool operator==(const RenderedPrompt&, const RenderedPrompt&) = default;
};

/// What a test takes of the suite's solved examples (docs/retrieval.md).
struct CaseExamples {
  bool are_wanted = false;
  std::string task_class;  ///< With the case's language and the build system: what floors differ by.
  std::string build_system;
  friend bool operator==(const CaseExamples&, const CaseExamples&) = default;
};

/// One input and what is expected of the answer: a TOML fixture or a test of a YAML
/// suite (docs/suites.md).
struct Case {
  std::string id;  ///< Where a run has several arms: `TEST@ARM`.
  std::string name;
  std::string category;
  std::vector<std::string> tags;  ///< For `--filter tag=...`; say nothing about the answer.
  std::string language;
  std::string created;  ///< Date as written in the file; may be empty.
  CaseKind kind = CaseKind::claims;
  std::string content;       ///< The code to analyse, or the prompt.
  std::string content_file;  ///< The file that `content` was read from, as the test names it; else empty.
  std::string context;       ///< `text` only: stands before the prompt, with a blank line between.
  std::string system;        ///< `text` only: the system prompt.
  std::vector<ExpectedClaim> must_contain;
  std::vector<ExpectedClaim> must_not_contain;
  /// What assesses the answer. Empty for a fixture: all claims metrics do. Each score stands in it once.
  std::vector<Expectation> expectations;
  double weight = 1.0;          ///< > 0
  double min_confidence = 0.0;  ///< 0..1
  std::string source;           ///< File, relative to the suite's folder, with '/'.
  std::uint32_t line = 0;       ///< Of its id there; 0: not known.
  /// By prompt of the suite, for a test without a prompt of its own; else empty.
  std::vector<RenderedPrompt> prompts;
  CaseExamples examples{};
  std::shared_ptr<const AnsweredTest> recorded{};  ///< The answer that is assessed; null: one is asked for.
  /// Why it is known to fail, which may be left open; nothing: it is to pass. Says nothing of what is asked
  /// or how it is scored, and is in no fingerprint.
  std::optional<std::string> known_failure{};
  std::uint32_t arm = 0;  ///< Position in the run's arms; 0 without any.
  /// `text` only: what its request has beside prompt and system prompt. One part of its messages is `asked`:
  /// context and content.
  RequestExtras extras{};
  /// `text` only: that its answer is asked to fit, with keys as written, in whose order models answer; empty:
  /// none.
  std::string response_schema{};
  std::string command_vars{};   ///< With a command alone, which reads them: as a JSON object; empty: none.
  bool brings_command = false;  ///< From a file that the suite names, which nobody may have looked at.
  /// `default_test` asks something by this metric that the test does not: a score of its own without a name
  /// stands in for it.
  std::optional<MetricId> replaced_default{};
  std::uint32_t test = 0;  ///< With arms: the same number for the same test under each of them.
  /// What filled in its texts, for people: they decide nothing. Null without any.
  std::shared_ptr<const Variables> vars{};
  std::uint32_t first_line = 1;  ///< Of a fixture's content in the file that it is a part of, for people.
};

/// The n-th expectation of the metric, from 0: what the n-th outcome of it answers. Null where there are not
/// so many.
inline const Expectation* find_expectation(const Case& of, MetricId metric, std::size_t n) {
  for (const Expectation& one : of.expectations) {
    if (one.what.metric == metric && n-- == 0) return &one;
  }
  return nullptr;
}

/// The [baseline] table of manifest.toml: known-good aggregates.
struct AggregateBaseline {
  std::optional<double> precision;
  std::optional<double> recall;
  std::optional<double> f1;
  std::string prompt_version;
  std::string model;
  std::string measured_at;
};

/// manifest.toml.
struct Manifest {
  std::string corpus_version;
  std::optional<std::uint64_t> total_fixtures;
  std::optional<AggregateBaseline> baseline;
};

}  // namespace sluice
