#pragma once

#include "common/error.hpp"
#include "common/model/completion.hpp"
#include "common/model/run_settings.hpp"
#include "worker/providers/http_message.hpp"
#include "worker/providers/provider.hpp"

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Embeddings in the providers' formats: `{base_url}/embeddings` of OpenAI and the servers compatible with
/// it, and Gemini's batchEmbedContents, or embedContent for one text. Pure and thread-safe.
namespace sluice {

/// Whether the provider has an end point for embeddings. Error: settings_invalid, naming those that do.
Result<void> can_embed(const ProviderSettings& provider);

/// The HTTP request for the embeddings of texts; the key as in build_request. REQUIRES: can_embed; 1 to 100
/// texts, none empty.
HttpRequest build_embedding_request(const ProviderSettings& provider, const Credentials& credentials,
                                    std::string_view model, std::span<const std::string_view> texts);

/// One vector for each text, in the order of the request: all of one dimension, all values finite, none all
/// zero. Gemini does not say what it charges.
struct Embedded {
  std::vector<std::vector<float>> vectors;
  Usage usage;
};

/// What a response to a request for `count` embeddings means. Vectors that are not as Embedded has them are
/// a failure: embedding_count_wrong for another number or dimension, answer_too_large for more numbers than a
/// cache's entry has room for, else provider_failed. `now` and
/// `credentials` as in read_response.
std::variant<Embedded, Failed> read_embedding_response(const ProviderSettings& provider,
                                                       const HttpResponse& response, std::size_t count,
                                                       std::chrono::system_clock::time_point now,
                                                       const Credentials& credentials = {});

}  // namespace sluice
