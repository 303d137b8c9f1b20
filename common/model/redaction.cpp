#include "common/model/redaction.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

/// By what their makers begin them with; what merely looks random may be an answer. The parts of a private
/// key hold its line ends as they are, or as JSON escapes them.
constexpr std::string_view keys =
    R"(\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,})"                              // OpenAI, Anthropic, Stripe
    R"(|\bAIza[A-Za-z0-9_-]{30,})"                                         // Google
    R"(|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b)"                                    // AWS
    R"(|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{20,})"                // GitHub
    R"(|\bglpat-[A-Za-z0-9_-]{20,})"                                       // GitLab
    R"(|\bxox[abeprs]-[A-Za-z0-9-]{10,})"                                  // Slack
    R"(|\bhf_[A-Za-z0-9]{30,})"                                            // Hugging Face
    R"(|\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})"  // JSON Web Tokens
    R"(|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?)";

constexpr std::string_view mail = R"([A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})";

constexpr std::array<ShippedRedaction, 2> shipped{{{"keys", keys}, {"mail", mail}}};

}  // namespace

std::span<const ShippedRedaction> shipped_redactions() {
  return shipped;
}

const ShippedRedaction* find_shipped_redaction(std::string_view name) {
  const auto found = std::ranges::find(shipped, name, &ShippedRedaction::name);
  return found != shipped.end() ? &*found : nullptr;
}

}  // namespace sluice
