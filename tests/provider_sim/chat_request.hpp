#pragma once

#include "tests/provider_sim/json_text.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::sim {

/// The request formats that the simulator knows: chat completions (OpenAI-compatible servers), Anthropic,
/// Gemini, and OpenAI's responses.
enum class Provider : std::uint8_t { openai, anthropic, gemini, openai_responses };

std::string_view to_string(Provider provider);

/// What the simulator needs of a request. The views lie in the request's body.
struct ChatRequest {
  JsonString model;              ///< Empty for Gemini: its model stands in the path.
  std::vector<JsonString> user;  ///< The texts of all user messages, in order.
  std::size_t prompt_bytes = 0;  ///< All texts of all roles, unescaped.
  std::optional<std::uint64_t> max_tokens;
  bool streams = false;
  bool vote = false;        ///< Its response schema has the properties of a vote or of a comparison.
  bool comparison = false;  ///< Those of a comparison, quality_score and notes.

  void clear();
};

/// Reads the body into `out`; the reason, as a provider would word it, if the body is not such a request.
std::optional<std::string> read_chat_request(Provider provider, std::string_view body, ChatRequest& out);

/// What an embeddings request asks for.
struct EmbeddingsRequest {
  JsonString model;
  std::vector<JsonString> inputs;
  std::uint64_t dimensions = 0;  ///< 0: the model's own number.
  bool is_alone = false;         ///< Of Gemini's embedContent, which takes one text.
};

/// The request of `POST /v1/embeddings` (OpenAI) and `:batchEmbedContents` (Gemini, whose model stands in the
/// path and in each of its requests), or `:embedContent` where `out.is_alone`.
std::optional<std::string> read_embeddings_request(Provider provider, std::string_view body,
                                                   EmbeddingsRequest& out);

}  // namespace sluice::sim
