#pragma once

#include "common/documents/finding.hpp"
#include "common/hash.hpp"
#include "common/model/ontology.hpp"
#include "coordinator/suite/case.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// A versioned prompt (config/prompts/claims.toml): `{{ontology}}` may stand in `system`, `{{language}}` and
/// `{{content}}` in `user`.
struct PromptTemplate {
  std::string version;
  std::string system;
  std::string user;
  Digest hash{};  ///< Of version, system and user as written, so without the ontology.
};

/// Reads the TOML text; `origin` is the findings' file. Either the template or everything that is wrong: a
/// missing or unknown key, a placeholder that does not exist there, a user message without `{{content}}`.
tl::expected<PromptTemplate, std::vector<Finding>> parse_prompt(std::string_view toml,
                                                                const std::string& origin);

/// The system prompt with the vocabulary: a line for each subject, below it one for each predicate with its
/// type.
std::string render_system(const PromptTemplate& prompt, const Ontology& ontology);
/// The user message of a case. One pass: a placeholder that stands in the content stays as it is.
std::string render_user(const PromptTemplate& prompt, const Case& one);

}  // namespace sluice
