#pragma once

#include "common/claim.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// One input and what is expected of the answer. A TOML fixture becomes a case (harness spec, section 5).
struct Case {
  std::string id;
  std::string name;
  std::string category;
  std::string language;
  std::string created;  ///< Date as written in the file; may be empty.
  std::string content;  ///< The code to analyse.
  std::vector<ExpectedClaim> must_contain;
  std::vector<ExpectedClaim> must_not_contain;
  double weight = 1.0;          ///< > 0
  double min_confidence = 0.0;  ///< 0..1
  std::string source;           ///< File, relative to the fixtures' folder, with '/'.
};

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

/// A named set of cases, in id order (byte-wise).
struct Suite {
  std::string name;
  std::vector<Case> cases;
  std::optional<Manifest> manifest;
};

}  // namespace sluice
