#pragma once

#include "common/model/claim.hpp"
#include "common/model/ontology.hpp"
#include "coordinator/suite/case.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The rationale of a generated expectation that nobody has looked at yet.
inline constexpr std::string_view asks_for_review = "Auto-generated - requires human review";

/// What became of the claims that the model made.
struct ClaimCounts {
  std::uint64_t claims = 0;
  std::uint64_t unsure = 0;            ///< Below the confidence that is asked for.
  std::uint64_t outside_ontology = 0;  ///< Or with a value of another type: no answer would match it.
  std::uint64_t unsupported = 0;       ///< At a line that the file does not have, or that is blank.
  std::uint64_t secret = 0;            ///< With a number of which something had to be replaced.
  std::uint64_t too_long = 0;          ///< With a text beyond max_claim_text_bytes.
  std::uint64_t beyond_file = 0;       ///< Facts beyond max_findings_per_file.
  std::uint64_t repeated = 0;          ///< The same fact again: of the file, or of the same code elsewhere.
  std::uint64_t findings = 0;          ///< All others.
  std::uint64_t masked = 0;            ///< Findings whose code holds a secret that was replaced.
};

/// Replaces what must not be written. Returns whether there was anything.
using MaskText = std::function<bool(std::string&)>;

/// Makes fixtures of claims: one for each finding, that is for each fact that a file shows. Not thread-safe.
class Findings {
 public:
  struct Config {
    double min_confidence = 0.0;
    std::string created;  ///< The date of new fixtures.
    MaskText mask;        ///< Empty: nothing is replaced.
  };
  /// The ontology must outlive it.
  Findings(const Ontology& ontology, Config config) : ontology_(ontology), config_(std::move(config)) {}

  /// The claims of an answer about a file: `asked` as suite_of makes it.
  void add(const Case& asked, std::span<const FinalClaim> claims);

  const ClaimCounts& counts() const { return counts_; }
  /// A fixture for each finding, by id. The id is made of language, code and claim, so that the same finding
  /// has the same in each generation; the category is the first part of the claim's subject.
  std::vector<Case> take();

 private:
  bool is_secret(const ClaimValue& value) const;
  bool is_kept(const FinalClaim& claim, std::span<const std::string_view> lines);
  std::vector<FinalClaim> kept_of(std::span<const FinalClaim> claims,
                                  std::span<const std::string_view> lines);
  std::vector<ExpectedClaim> expected(std::span<const FinalClaim* const> facts) const;
  std::string name_of(const FinalClaim& fact, const Case& asked) const;

  const Ontology& ontology_;
  Config config_;
  ClaimCounts counts_;
  std::map<std::string, Case> fixtures_;
};

/// The lines of a text, without their ends; an empty line after the last end is none.
std::vector<std::string_view> lines_of(std::string_view text);

/// Lines `first` to `last` of a text, counted from 1.
struct LineRange {
  std::size_t first = 1;
  std::size_t last = 0;
  bool holds(std::size_t line) const { return first <= line && line <= last; }
  friend bool operator==(const LineRange&, const LineRange&) = default;
};

/// What a fixture shows for a claim at a line: the whole of a short text, and of any where the line is not
/// known; else the lines around it, within max_excerpt_bytes if the line itself is.
LineRange excerpt_around(std::span<const std::string_view> lines, std::optional<std::size_t> line);

/// Where the lines of `range` stand after a text was changed in places; nothing if the change reaches over
/// one of its ends and took lines away or added some.
std::optional<LineRange> range_after_change(std::span<const std::string_view> before,
                                            std::span<const std::string_view> after, LineRange range);

}  // namespace sluice
