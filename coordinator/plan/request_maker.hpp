#pragma once

#include "common/defaults.hpp"
#include "common/model/ontology.hpp"
#include "common/model/request.hpp"
#include "common/model/run_settings.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/prompts/prompt.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// What every request of an arm has in common; a run without arms has one.
struct RequestSettings {
  ProviderSettings provider;
  std::string model;
  std::optional<double> temperature;
  std::uint32_t max_tokens = 0;
  std::optional<std::int64_t> seed;  ///< Of the first repeat; the n-th gets n more (docs/delivery.md).
  SharedText response_schema;
  RequestParams params{};                 ///< Tests may have more.
  std::vector<std::string> own_params{};  ///< Names of those that the arm itself says, and not the run.
  /// Dollars for a million tokens of input and of output; nothing: not known.
  std::optional<std::pair<double, double>> price{};
  std::uint32_t judge_samples = defaults::judge_samples;  ///< Votes where a test says nothing else.
};

/// Makes the requests of cases: prompt, settings of the arm, and what a case says itself, which goes before
/// them. Pure; immutable, and so thread-safe.
class RequestMaker {
 public:
  /// `settings` are by arm (Case::arm), one at least.
  RequestMaker(PromptTemplate prompt, const Ontology& ontology, std::vector<RequestSettings> settings);

  /// By arm.
  const std::vector<RequestSettings>& settings() const { return settings_; }
  /// What the requests of an arm's claims cases have in common in one repeat: all but the user message.
  ModelRequest of_claims(std::size_t arm, std::uint32_t repeat) const;
  /// The user message of a claims case, behind the example that is shown with it, if any.
  std::string user_of_claims(const Case& test_case, const SharedText& few_shot) const;
  /// The whole request. `few_shot`: the example that is shown with the case; null for none.
  ModelRequest of(const Case& test_case, const SharedText& few_shot, std::uint32_t repeat) const;

 private:
  PromptTemplate prompt_;
  SharedText system_;
  std::vector<RequestSettings> settings_;
};

/// Why no request can be made of the case; empty if one can. A body of one's own has no place for everything.
std::string problem_with_request(const Case& one, ProviderKind kind);

}  // namespace sluice
