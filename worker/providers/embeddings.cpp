#include "worker/providers/embeddings.hpp"

#include "worker/defaults.hpp"
#include "worker/providers/failure.hpp"
#include "worker/providers/formats.hpp"

#include <cmath>
#include <utility>

namespace sluice {

namespace {

/// Of a vector: an entry of a cache has room for no more (defaults::max_entry_bytes).
constexpr std::size_t max_numbers = defaults::max_answer_bytes / sizeof(float);

/// The array as numbers; nothing if it is no array of numbers that a float holds, or has no direction.
std::optional<std::vector<float>> vector_of(const JsonView& array) {
  const auto numbers = array.numbers();
  if (!numbers || numbers->empty()) return std::nullopt;
  std::vector<float> vector;
  vector.reserve(numbers->size());
  bool all_zero = true;
  for (const double number : *numbers) {
    vector.push_back(static_cast<float>(number));
    if (!std::isfinite(vector.back())) return std::nullopt;
    all_zero = all_zero && vector.back() == 0.0f;
  }
  if (all_zero) return std::nullopt;
  return vector;
}

/// Why there are no embeddings, and what they took all the same.
struct NoEmbeddings {
  Reason reason = Reason::provider_failed;
  Usage usage{};
};

std::variant<Embedded, NoEmbeddings> embedded_in(const Format& format, const JsonView& body,
                                                 std::size_t count) {
  const auto raw = format.read_embeddings(body, count);
  if (!raw) return NoEmbeddings{};
  Embedded embedded;
  embedded.usage = believable(raw->usage);
  const auto failed = [&](Reason reason) { return NoEmbeddings{reason, embedded.usage}; };
  if (raw->vectors.size() != count) return failed(Reason::embedding_count_wrong);
  for (const JsonView& array : raw->vectors) {
    auto vector = vector_of(array);
    if (!vector) return failed(Reason::provider_failed);
    if (vector->size() > max_numbers) return failed(Reason::answer_too_large);
    if (!embedded.vectors.empty() && vector->size() != embedded.vectors.front().size())
      return failed(Reason::embedding_count_wrong);
    embedded.vectors.push_back(std::move(*vector));
  }
  return embedded;
}

Failed not_embeddings(const ProviderSettings& provider, const HttpResponse& response, std::size_t count,
                      const Credentials& credentials, const NoEmbeddings& why) {
  Failed failed;
  failed.reason = why.reason;
  failed.usage = why.usage;
  failed.retryable = why.reason != Reason::answer_too_large;
  failed.message = "provider \"" + provider.name + "\" answered " + std::to_string(response.status) +
                   " with something that is not " + std::to_string(count) + " embeddings of one dimension";
  if (!failed.retryable) failed.message += ", of at most " + std::to_string(max_numbers) + " numbers each";
  const std::string words = quotable(response.body, credentials);
  failed.message += words.empty() ? " (the body is empty)" : ": " + words;
  return failed;
}

}  // namespace

Result<void> can_embed(const ProviderSettings& provider) {
  if (format_of(provider.kind).build_embeddings != nullptr) return {};
  return fail(Reason::settings_invalid, "provider \"" + provider.name + "\" (" +
                                            std::string(to_string(provider.kind)) +
                                            ") has no embeddings; openai and gemini do, and so does the "
                                            "built-in model " +
                                            std::string(lexical_embedding_model));
}

HttpRequest build_embedding_request(const ProviderSettings& provider, const Credentials& credentials,
                                    std::string_view model, std::span<const std::string_view> texts) {
  return format_of(provider.kind).build_embeddings(provider, credentials, model, texts);
}

std::variant<Embedded, Failed> read_embedding_response(const ProviderSettings& provider,
                                                       const HttpResponse& response, std::size_t count,
                                                       std::chrono::system_clock::time_point now,
                                                       const Credentials& credentials) {
  const Format& format = format_of(provider.kind);
  const std::optional<JsonDocument> body = JsonDocument::parse(response.body);
  const bool success = response.status >= 200 && response.status < 300;
  NoEmbeddings why;
  if (success && body) {
    auto read = embedded_in(format, body->root(), count);
    if (auto* embedded = std::get_if<Embedded>(&read)) return std::move(*embedded);
    why = std::get<NoEmbeddings>(read);
  }
  const ErrorFacts facts = body ? format.read_error(body->root(), credentials) : ErrorFacts{};
  if (success && !facts.status && !facts.fatal)
    return not_embeddings(provider, response, count, credentials, why);
  Failed failed = classify_failure(provider, response, facts, now, credentials, CallKind::embedding);
  // A model without the batch: its texts are asked for again one by one, and an unknown model then.
  const bool lacks_batch = provider.kind == ProviderKind::gemini && response.status == 404 && count > 1;
  if (lacks_batch) failed.reason = Reason::request_refused;
  return failed;
}

}  // namespace sluice
