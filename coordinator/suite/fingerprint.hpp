#pragma once

#include "common/defaults.hpp"
#include "common/hash.hpp"
#include "common/model/run_settings.hpp"
#include "coordinator/suite/fingerprint_parts.hpp"
#include "coordinator/suite/suite.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// Who judges, as suite, file or environment name it: the same with `--judge none`, where votes come from
/// caches alone.
struct FingerprintJudge {
  std::optional<ProviderKind> provider;  ///< Nothing for the fake judge, which has no model either.
  std::string model;
  double temperature = defaults::judge_temperature;
  std::uint32_t max_tokens = defaults::judge_max_tokens;
  std::uint32_t samples = defaults::judge_samples;  ///< Where a test says nothing.
};

/// An arm of a run.
struct FingerprintArm {
  std::string name;
  ProviderKind provider = ProviderKind::openai;
  std::string model;
  std::optional<double> temperature;
  std::uint32_t max_tokens = 0;
  std::optional<std::int64_t> seed;
  std::optional<std::uint32_t> prompt;  ///< As Arm::prompt.
  RequestParams params{};
};

/// What a run adds to its suite.
struct FingerprintSettings {
  ProviderKind provider = ProviderKind::openai;
  std::string model;
  std::optional<double> temperature;
  std::uint32_t max_tokens = 0;
  std::optional<std::int64_t> seed;
  RequestParams params{};
  std::optional<ProviderKind> embedding_provider;  ///< Nothing for the built-in embedder.
  std::string embedding_model;
  std::vector<FingerprintArm> arms;  ///< Where there are any, they stand for the model settings above.
  FingerprintJudge judge;
  Digest prompt{};    ///< PromptTemplate::hash
  Digest ontology{};  ///< SHA-256 of the ontology's text.
};

/// `config_fingerprint` of a baseline (gate ADR, section D; docs/suites.md): the suite's content, the names
/// and versions of its metrics, and the model settings. The embedder and the judge count only if a test needs
/// them, prompt and ontology only if claims are read. The same on every machine.
Digest config_fingerprint(const Suite& suite, const FingerprintSettings& settings);
FingerprintParts fingerprint_parts(const Suite& suite, const FingerprintSettings& settings);
/// The same of what judges, and of whom: prompts and what else only decides the answers are not in it.
Digest judging_fingerprint(const Suite& suite, FingerprintSettings settings);

/// The same of single cases, under their arms: what other cases of the suite are judged by is not in it.
/// Holds a reference to the suite. Not thread-safe.
class CaseJudging {
 public:
  CaseJudging(const Suite& suite, FingerprintSettings settings);
  Digest of(const Case& one);

 private:
  const Digest& by_metrics(std::uint32_t arm, const std::vector<MetricId>& metrics);

  const Suite& suite_;
  FingerprintSettings settings_;
  std::map<std::pair<std::uint32_t, std::vector<MetricId>>, Digest> known_;
};

}  // namespace sluice
