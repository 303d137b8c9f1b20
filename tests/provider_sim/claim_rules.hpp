#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sluice::sim {

/// What the text behind a trigger must look like.
enum class Guard : std::uint8_t {
  none,
  literal,      ///< A quoted text of at least six characters that is no placeholder follows at once.
  credentials,  ///< `user:password@` follows before the next quote or blank, as in a URL.
};

/// One piece of the simulated model's knowledge: where the trigger stands (ASCII case ignored), a claim is
/// made.
struct ClaimRule {
  std::string_view trigger;
  std::string_view subject;
  std::string_view predicate;
  std::string_view value;  ///< As JSON.
  double confidence = 0.9;
  std::string_view with = {};     ///< Must also stand somewhere in the message.
  std::string_view without = {};  ///< Must not.
  Guard guard = Guard::none;
};

/// The rules, in the vocabulary of config/ontology.toml. They know words, not languages: they skip lines that
/// are comments as a whole, but fall for strings, tests and harmless uses (false positives) and see nothing
/// that takes two steps to see (false negatives), as models do.
std::span<const ClaimRule> claim_rules();

/// The answer to a user message: `{"claims":[...]}` with each fact once, in the order of the text. Lines
/// count from the line behind `----- FILE -----` if there is one (config/prompts/claims.toml), else from the
/// first line behind a Markdown fence, else from the message's first. Pure; thread-safe.
std::string extract_claims(std::string_view user_message);

}  // namespace sluice::sim
