#pragma once

#include "common/error.hpp"
#include "common/model/completion.hpp"
#include "common/model/request.hpp"
#include "common/model/run_settings.hpp"
#include "worker/providers/credentials.hpp"
#include "worker/providers/http_message.hpp"
#include "worker/providers/json.hpp"
#include "worker/providers/named_limits.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
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
  std::string parameter{};      ///< That every call carries and the model refuses; empty: none.
  bool is_declined = false;     ///< A filter refused what was asked: the answer is that it declined.
  std::optional<Reason> fatal;  ///< The body names a cause that no retry mends, whatever the status.
  /// It is a day's limit, by its words: nothing fatal where a short wait is named, for it refills all day.
  bool is_of_the_day = false;
  std::optional<int> status;  ///< A status inside the body, for errors that come with 200.
  std::optional<std::chrono::milliseconds> retry_after;
  std::optional<NamedLimit> limit{};  ///< The one that is used up.
};

/// Embeddings as a body has them: arrays that nobody looked into.
struct RawEmbeddings {
  std::vector<JsonView> vectors;
  Usage usage;
};

/// One provider's format: one file each.
struct Format {
  std::string_view answer_name;  ///< "an OpenAI chat completion"
  HttpRequest (*build)(const ProviderSettings&, const Credentials& credentials, const ModelRequest&);
  /// The completion without its time and its usage, also one without any text; nothing if the body lacks what
  /// an answer must have.
  std::optional<Completion> (*read_answer)(const JsonView& body, const Credentials& credentials);
  /// What the call took, as the body says it, be there an answer or not; zeros: it does not say.
  Usage (*read_usage)(const JsonView& body, const Credentials& credentials);
  ErrorFacts (*read_error)(const JsonView& body, const Credentials& credentials);
  /// Null where the provider has no embeddings.
  HttpRequest (*build_embeddings)(const ProviderSettings&, const Credentials& credentials,
                                  std::string_view model, std::span<const std::string_view> texts);
  /// The vectors by the position of their text, as they stand in the body: not `count` of them if the body
  /// has another number. Nothing if it is none of this format, or an index is missing, double, or beyond
  /// `count`.
  std::optional<RawEmbeddings> (*read_embeddings)(const JsonView& body, std::size_t count);
};

const Format& format_of(ProviderKind kind);

extern const Format openai_format;
extern const Format openai_responses_format;
extern const Format anthropic_format;
extern const Format gemini_format;
extern const Format http_format;
extern const Format exec_format;

// --- Pieces that the formats share

/// A request to that path below the provider's base URL with its query, the content type, its headers, and
/// the key (if there is one) in a header: `prefix` precedes it.
HttpRequest json_post(const ProviderSettings& provider, std::string_view path, std::string_view key_header,
                      std::string_view prefix, const Credentials& credentials);
/// Appends the text as a part of a URL; what stands in `plain` is left beside letters, digits and "-._~".
void append_percent_encoded(std::string& url, std::string_view text, std::string_view plain = "");

/// A parameter's name in a format, where it differs from the common one.
struct ParamName {
  std::string_view common;
  std::string_view in_format;
  bool is_list = false;  ///< A text alone becomes a list of one.
};
/// The request's parameters as the format calls them, without those that are null: not sent. One under the
/// format's own name stands for that under the common one.
RequestParams params_in_format(const RequestParams& params, std::span<const ParamName> names);
/// Appends `,"name":value` for each.
void append_params(std::string& body, const RequestParams& params);
/// Appends the request's messages as OpenAI's chat completions have them, without the system prompt.
void append_chat_messages(std::string& body, const ModelRequest& request);
/// Ends a list that is open, each element of which ends in a comma; there may be none.
void close_list(std::string& body);

/// The messages of a request: its conversation, or its user message alone.
std::span<const ChatMessage> messages_of(const ModelRequest& request);
/// The same, with the results of several calls of tools together: some formats have one message for them, as
/// the calls had.
std::vector<std::span<const ChatMessage>> turns_of(const ModelRequest& request);
inline const std::string& text_of(const MessagePart& part, const ModelRequest& request) {
  return part.kind == PartKind::asked ? request.user : part.text;
}
/// The message's texts, joined.
std::string joined_texts(const ChatMessage& message, const ModelRequest& request);
/// The message's only part, if it has one and that is a text; else null.
const std::string* only_text(const ChatMessage& message, const ModelRequest& request);

/// Appends a call of a tool to an answer: to what checks of calls see, and as a line to its text
/// (docs/suites.md#tools). `arguments` is JSON, as the model wrote it; blank text is `{}`. Nothing is added
/// without a name, since that is no call, nor to an answer that is too large already.
void add_call(Completion& completion, std::string_view name, std::string_view arguments);
/// Whether an answer cannot be stored so that it can be read, exported and lent: its texts and calls are
/// longer than defaults::max_answer_bytes, or its calls are more than a list may have
/// (defaults::max_wire_items).
bool is_too_large(const Completion& completion);
/// Room for the body of a request without the shared prompt, so that it is allocated once.
std::size_t body_size_hint(const ModelRequest& request);
/// True for a text that is there and not empty.
inline bool has_text(const SharedText& text) {
  return text != nullptr && !text->empty();
}

/// append_json_string for the one text that a run's requests share: each thread escapes it once, and it is
/// copied where the request is sent.
void append_shared_json_string(HttpRequest& http, const SharedText& text);

/// The usage of a call, if both are known: half of it would be charged as all of it.
Usage whole_usage(std::optional<std::uint64_t> input, std::optional<std::uint64_t> output);
/// What is certain of a usage that comes with a total, which may count what the output leaves out: some
/// servers count only there what was thought. Nothing is certain without the input.
Usage usage_with_total(std::optional<std::uint64_t> input, std::optional<std::uint64_t> output,
                       std::optional<std::uint64_t> total);

/// The usage, or none where it is beyond what a call can take: then it is not known.
Usage believable(const Usage& usage);

/// Non-answers (Completion::non_answer).
Error declined(std::string_view finish_reason, std::string_view words = {});
Error cut_off(std::string_view finish_reason);
Error without_text(std::string_view finish_reason);
/// What a finish reason says in the words that most servers have, whatever their case: that the answer was
/// cut off, or that the model declined. Nothing for any other.
std::optional<Error> non_answer_of(std::string_view finish_reason);

/// Foreign text for a message: one line of valid UTF-8 without control characters, at most 300 bytes, with
/// the key and whatever looks like one replaced by "[key]".
std::string quotable(std::string_view text, const Credentials& credentials = {});

/// Whether a body names an error here, be it beside an answer: words, or an object that says something. null
/// is none, nor is an object of which each member is empty: some servers send one with every answer.
bool names_error(const JsonView& error);

/// The words of `{"error":{"message":...}}` and of the forms that compatible servers and proxies use.
std::string error_message(const JsonView& body);

}  // namespace sluice
