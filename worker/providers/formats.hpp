#pragma once

#include "common/error.hpp"
#include "common/model/completion.hpp"
#include "common/model/request.hpp"
#include "common/model/run_settings.hpp"
#include "worker/providers/http_message.hpp"
#include "worker/providers/json.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What one provider's format consists of: inside worker/providers only; everybody else uses provider.hpp.
namespace sluice {

/// What an error body says beyond the HTTP status.
struct ErrorFacts {
  std::string message;          ///< The provider's own words; may be empty.
  std::optional<Reason> fatal;  ///< The body names a cause that no retry mends, whatever the status.
  std::optional<int> status;    ///< A status inside the body, for errors that come with 200.
  std::optional<std::chrono::milliseconds> retry_after;
};

/// Embeddings as a body has them: arrays that nobody looked into.
struct RawEmbeddings {
  std::vector<JsonView> vectors;
  Usage usage;
};

/// One provider's format: one file each.
struct Format {
  std::string_view answer_name;  ///< "an OpenAI chat completion"
  HttpRequest (*build)(const ProviderSettings&, std::string_view api_key, const ModelRequest&);
  /// The completion without its time; nothing if the body lacks what an answer must have.
  std::optional<Completion> (*read_answer)(const JsonView& body);
  ErrorFacts (*read_error)(const JsonView& body);
  /// Null where the provider has no embeddings.
  HttpRequest (*build_embeddings)(const ProviderSettings&, std::string_view api_key, std::string_view model,
                                  std::span<const std::string_view> texts);
  /// The vectors by the position of their text, as they stand in the body: not `count` of them if the body
  /// has another number. Nothing if it is none of this format, or an index is missing, double, or beyond
  /// `count`.
  std::optional<RawEmbeddings> (*read_embeddings)(const JsonView& body, std::size_t count);
};

const Format& format_of(ProviderKind kind);

extern const Format openai_format;
extern const Format anthropic_format;
extern const Format gemini_format;

// --- Pieces that the formats share
// ---------------------------------------------------------------------------

/// A request to that URL with the content type, and the key (if there is one) in a header: `prefix` precedes
/// it.
HttpRequest json_post(std::string url, std::string_view key_header, std::string_view prefix,
                      std::string_view api_key);
/// Room for the body of a request without the shared prompt, so that it is allocated once.
std::size_t body_size_hint(const ModelRequest& request);
/// True for a text that is there and not empty.
inline bool has_text(const SharedText& text) {
  return text != nullptr && !text->empty();
}

/// append_json_string for the one text that a run's requests share: each thread escapes it once, and it is
/// copied where the request is sent.
void append_shared_json_string(HttpRequest& http, const SharedText& text);

/// The usage, or none where it is beyond what a call can take: then it is not known.
Usage believable(const Usage& usage);

/// Non-answers (Completion::non_answer).
Error declined(std::string_view finish_reason, std::string_view words = {});
Error cut_off(std::string_view finish_reason);
Error without_text(std::string_view finish_reason);

/// Foreign text for a message: one line of valid UTF-8 without control characters, at most 300 bytes, with
/// the key and whatever looks like one replaced by "[key]".
std::string quotable(std::string_view text, std::string_view api_key = {});

/// Appends to an answer that comes in parts.
inline void join(std::optional<std::string>& joined, std::string_view part) {
  if (!joined) joined.emplace();
  joined->append(part);
}

/// The words of `{"error":{"message":...}}` and of the forms that compatible servers and proxies use.
std::string error_message(const JsonView& body);

}  // namespace sluice
