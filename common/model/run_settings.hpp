#pragma once

#include "common/model/grading.hpp"
#include "common/model/judge.hpp"
#include "common/model/redaction.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Where answers come from. `robust` is `live` with perturbations and is resolved by the CLI.
enum class Mode : std::uint8_t { live = 1, cached = 2, mock = 3 };

std::string_view to_string(Mode mode);

/// The request formats of worker/providers. `http` and `exec` are made by what a worker's own settings say: a
/// body and where the answer stands in it, and a program.
enum class ProviderKind : std::uint8_t {
  openai = 1,  ///< Chat completions.
  anthropic = 2,
  gemini = 3,
  http = 4,
  exec = 5,
  openai_responses = 6,
};

std::string_view to_string(ProviderKind kind);
std::optional<ProviderKind> provider_kind_from(std::string_view name);
/// All of them, for messages.
std::vector<std::string> provider_kind_names();

/// A header of each request to a provider. With a variable it is a secret: only workers know its value.
struct ProviderHeader {
  std::string name;
  std::string value;     ///< With a variable: what stands before the variable's value ("Bearer ").
  std::string variable;  ///< The environment variable that holds the secret; empty: there is none.
  friend bool operator==(const ProviderHeader&, const ProviderHeader&) = default;
};

/// True for a name that HTTP knows as a header's, and that is not the client's own business (Host,
/// Content-Length and the like).
bool is_header_name(std::string_view name);
/// True for a text without control characters.
bool is_header_value(std::string_view value);

/// A field of the query of each request to a provider, not percent-encoded.
struct QueryField {
  std::string name;
  std::string value;
  friend bool operator==(const QueryField&, const QueryField&) = default;
};

/// A provider as a run uses it ([providers.NAME] in sluice.toml). Holds no key: only the name of its
/// variable.
struct ProviderSettings {
  std::string name;  ///< The section's name.
  ProviderKind kind = ProviderKind::openai;
  /// `openai`: with its `/v1`; `http`: the whole URL; `exec`: none, but `exec:NAME`; the others: the bare
  /// host. No trailing slash.
  std::string base_url;
  std::string cache_identity;    ///< Part of the cache key; by default default_cache_identity.
  std::string api_key_env;       ///< Empty: the provider is called without a key.
  std::string max_tokens_field;  ///< `openai` only: "max_completion_tokens" or "max_tokens".
  std::vector<ProviderHeader> headers = {};
  std::vector<QueryField> query = {};
  friend bool operator==(const ProviderSettings&, const ProviderSettings&) = default;
};

/// The built-in embedder over hashed character n-grams: no model, and used only when it is named.
inline constexpr std::string_view lexical_embedding_model = "lexical-ngrams-v1";

/// Who embeds texts for semantic_similarity_to.
struct EmbeddingSettings {
  std::string provider;  ///< Name of a ProviderSettings of the run; empty for the built-in embedder.
  std::string model;     ///< Empty: nothing in the run is embedded.
  friend bool operator==(const EmbeddingSettings&, const EmbeddingSettings&) = default;
};

/// What every worker of a run receives in WELCOME.
struct RunSettings {
  std::string run_id;  ///< A UUID.
  Mode mode = Mode::cached;
  bool read_cache = true;   ///< False under --refresh and --no-cache.
  bool write_cache = true;  ///< False under --no-cache.
  std::vector<ProviderSettings> providers;
  std::chrono::milliseconds connect_timeout{};
  std::chrono::milliseconds request_timeout{};
  std::chrono::milliseconds case_timeout{};     ///< Wall time for a trial with all its retries.
  std::chrono::milliseconds backoff_initial{};  ///< Upper bound of the first retry's delay.
  std::uint32_t max_retries = 0;                ///< Retries after the first call.
  std::chrono::milliseconds heartbeat_interval{};
  std::string ontology;  ///< The ontology file's text (config/ontology.toml).
  EmbeddingSettings embedding;
  JudgeSettings judge;
  std::optional<GradingSettings> grading = {};  ///< Nothing: answers are not compared with a baseline's.
  bool observe = false;                         ///< Results have the whole answer with them.
  std::vector<RedactionPattern> redaction = {};
  bool returns_embeddings = false;  ///< Results have the embedding of their answer with them.
  bool durable = false;             ///< Answers are on the disk before anybody learns of them.
  friend bool operator==(const RunSettings&, const RunSettings&) = default;
};

/// The base URL with lower-case scheme and host, without user info, default port and trailing slashes, so
/// that a key in a URL never gets into a cache key or a file.
std::string normalised_base_url(std::string_view base_url);

/// What the field for the bound of an answer is called in OpenAI's chats, unless the settings say otherwise.
inline constexpr std::string_view default_max_tokens_field = "max_completion_tokens";

/// What a provider is known by in cache keys unless its settings name something else: the normalised base
/// URL, with the query, the headers and a max_tokens_field that is not the default, where there are any.
/// Secret headers are no part of it: like keys, they say who asks and not what.
std::string default_cache_identity(const ProviderSettings& provider);
/// What a max_tokens_field that is not the default adds to such an identity, with a blank before it; empty
/// for the default, and for kinds that have no such field.
std::string field_identity(const ProviderSettings& provider);

}  // namespace sluice
