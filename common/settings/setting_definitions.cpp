#include "common/settings/setting_definitions.hpp"

#include "common/settings/base_url.hpp"
#include "common/table_reader.hpp"
#include "common/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using std::chrono::milliseconds;

/// A parsed value, or what is wrong with it.
template <class T>
using Parsed = tl::expected<T, std::string>;

tl::unexpected<std::string> wrong(std::string what) {
  return tl::unexpected<std::string>(std::move(what));
}

/// `, not "abc"` or `, not a boolean`.
std::string but_is(const RawValue& raw) {
  if (const auto* text = std::get_if<std::string_view>(&raw)) return ", not \"" + excerpt(*text, 80) + "\"";
  const TomlNode& node = *std::get<const TomlNode*>(raw);
  if (const auto* text = std::get_if<std::string>(&node.value)) return ", not \"" + excerpt(*text, 80) + "\"";
  if (const auto* number = std::get_if<std::int64_t>(&node.value)) return ", not " + std::to_string(*number);
  if (const auto* number = std::get_if<double>(&node.value); number != nullptr) {
    return ", not " +
           (std::isfinite(*number) ? shortest(*number) : std::string("an infinite or undefined one"));
  }
  return ", not " + std::string(type_name(node));
}

std::optional<std::string> text_in(const RawValue& raw) {
  if (const auto* text = std::get_if<std::string_view>(&raw)) return std::string(*text);
  const auto* text = std::get_if<std::string>(&std::get<const TomlNode*>(raw)->value);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> integer_in(const RawValue& raw) {
  if (const auto* text = std::get_if<std::string_view>(&raw)) return number_of<std::int64_t>(*text);
  const auto* number = std::get_if<std::int64_t>(&std::get<const TomlNode*>(raw)->value);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::optional<double> number_in(const RawValue& raw) {
  if (const auto* text = std::get_if<std::string_view>(&raw)) return number_of<double>(*text);
  const TomlNode& node = *std::get<const TomlNode*>(raw);
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) return static_cast<double>(*integer);
  const auto* number = std::get_if<double>(&node.value);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

// --- Parsers: each takes a raw value and yields a typed one
// -------------------------------------------------

auto whole(std::int64_t low, std::int64_t high) {
  return [=](const RawValue& raw) -> Parsed<std::uint32_t> {
    const auto number = integer_in(raw);
    if (number && *number >= low && *number <= high) return static_cast<std::uint32_t>(*number);
    return wrong("must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
                 but_is(raw));
  };
}

auto any_integer() {
  return [](const RawValue& raw) -> Parsed<std::optional<std::int64_t>> {
    if (const auto number = integer_in(raw)) return std::optional(*number);
    return wrong("must be a whole number" + but_is(raw));
  };
}

/// A number, or "default" for the model's own: nothing is sent then.
auto real_or_default(double low, double high) {
  return [=](const RawValue& raw) -> Parsed<std::optional<double>> {
    if (text_in(raw) == "default") return std::optional<double>();
    const auto number = number_in(raw);
    if (number && *number >= low && *number <= high) return number;
    return wrong("must be a number from " + shortest(low) + " to " + shortest(high) +
                 ", or \"default\" to send none" + but_is(raw));
  };
}

auto real(double low, double high) {
  return [=](const RawValue& raw) -> Parsed<double> {
    const auto number = number_in(raw);
    if (number && *number >= low && *number <= high) return *number;
    return wrong("must be a number from " + shortest(low) + " to " + shortest(high) + but_is(raw));
  };
}

/// A time in seconds, fractions allowed; at least a millisecond.
auto seconds(double high) {
  return [=](const RawValue& raw) -> Parsed<milliseconds> {
    const auto number = number_in(raw);
    if (number && *number >= 0.001 && *number <= high) return milliseconds(std::llround(*number * 1000.0));
    return wrong("must be a number of seconds from 0.001 to " + shortest(high) + but_is(raw));
  };
}

auto whole_milliseconds(std::int64_t low, std::int64_t high) {
  return [=](const RawValue& raw) -> Parsed<milliseconds> {
    auto number = whole(low, high)(raw);
    if (!number) return wrong(std::move(number.error()));
    return milliseconds(*number);
  };
}

/// What the wire takes as a name (docs/protocol.md).
constexpr std::size_t max_word_bytes = 1024;

/// A text that is not empty and has no control characters.
auto word() {
  return [](const RawValue& raw) -> Parsed<std::string> {
    auto text = text_in(raw);
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (!text) return wrong("must be a string" + but_is(raw));
    if (text->empty()) return wrong("must not be empty");
    if (text->size() > max_word_bytes)
      return wrong("must not be longer than " + std::to_string(max_word_bytes) + " bytes");
    if (invalid_utf8_at(*text)) return wrong("must be valid UTF-8");
    if (std::any_of(text->begin(), text->end(), is_control))
      return wrong("must not contain control characters");
    return std::move(*text);
  };
}

auto one_of(std::vector<std::string> names) {
  return [names = std::move(names)](const RawValue& raw) -> Parsed<std::string> {
    auto text = text_in(raw);
    if (text && std::find(names.begin(), names.end(), *text) != names.end()) return std::move(*text);
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    return wrong("must be " + quoted_list(names, "or") + but_is(raw) +
                 (text ? did_you_mean(*text, candidates) : std::string()));
  };
}

/// What --mode may be: a Mode, or one with perturbations.
struct NamedMode {
  Mode mode = Mode::cached;
  bool robust = false;
};

Parsed<NamedMode> parse_mode(const RawValue& raw) {
  const auto name = one_of({"live", "cached", "mock", "robust"})(raw);
  if (!name) return wrong(name.error());
  if (*name == "robust") return NamedMode{Mode::live, true};
  for (const Mode mode : {Mode::live, Mode::mock}) {
    if (*name == to_string(mode)) return NamedMode{mode, false};
  }
  return NamedMode{};
}

/// Names in a list, or in one text with commas between them; "all" and "none" stand alone.
Parsed<std::vector<std::string>> parse_perturbations(const RawValue& raw) {
  const auto malformed = [&] {
    return wrong("must be names of perturbations with commas between them, \"all\" or \"none\"" +
                 but_is(raw));
  };
  std::vector<std::string> names;
  const auto* node = std::get_if<const TomlNode*>(&raw);
  const auto* array = node != nullptr ? std::get_if<TomlNode::Array>(&(*node)->value) : nullptr;
  if (array != nullptr) {
    for (const TomlNode& element : *array) {
      const auto* text = std::get_if<std::string>(&element.value);
      if (text == nullptr) return malformed();
      names.push_back(*text);
    }
  } else {
    const auto text = text_in(raw);
    if (!text) return malformed();
    for (std::size_t begin = 0; begin <= text->size();) {
      const std::size_t end = std::min(text->find(',', begin), text->size());
      names.push_back(text->substr(begin, end - begin));
      begin = end + 1;
    }
  }
  const auto is_name = [](const std::string& name) {
    return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
  };
  if (names.empty() || !std::ranges::all_of(names, is_name)) return malformed();
  for (const std::string_view alone : {"all", "none"}) {
    if (names.size() > 1 && std::ranges::find(names, alone) != names.end()) {
      return wrong("must not name \"" + std::string(alone) + "\" beside others");
    }
  }
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      return wrong("must not name \"" + names[i] + "\" twice");
    }
  }
  return names;
}

auto optional_real(double low, double high) {
  return [=](const RawValue& raw) -> Parsed<std::optional<double>> {
    auto number = real(low, high)(raw);
    if (!number) return wrong(std::move(number.error()));
    return std::optional(*number);
  };
}

Parsed<ProviderKind> parse_kind(const RawValue& raw) {
  const auto name = one_of({"openai", "anthropic", "gemini"})(raw);
  if (!name) return wrong(name.error());
  return *provider_kind_from(*name);
}

/// Never quotes the value: it may hold a secret.
Parsed<std::string> parse_url(const RawValue& raw) {
  const auto text = text_in(raw);
  if (!text) return wrong("must be a string");
  const auto url = parse_base_url(*text);
  if (!url) return wrong(url.error().message);
  return url->text;
}

/// Never quotes the value: a key that was put here by mistake must not be printed. Lower-case letters are
/// refused for the same reason; no variable of this kind has them, and most keys do.
Parsed<std::string> parse_variable_name(const RawValue& raw) {
  auto text = text_in(raw);
  const auto allowed = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  if (text && std::all_of(text->begin(), text->end(), allowed) &&
      (text->empty() || text->front() < '0' || text->front() > '9')) {
    return std::move(*text);
  }
  return wrong("must be the name of an environment variable in upper case, or \"\" to call without a key");
}

Parsed<std::vector<std::string>> parse_hosts(const RawValue& raw) {
  const std::string expected = "must be a list of hosts, each \"host\" or \"host:port\" without a scheme";
  const auto* node = std::get_if<const TomlNode*>(&raw);
  const auto* array = node != nullptr ? std::get_if<TomlNode::Array>(&(*node)->value) : nullptr;
  if (array == nullptr) return wrong(expected);
  std::vector<std::string> hosts;
  for (const TomlNode& element : *array) {
    const auto* text = std::get_if<std::string>(&element.value);
    if (text == nullptr || !is_host_entry(*text)) return wrong(expected);
    hosts.push_back(*text);
  }
  return hosts;
}

// --- How values are shown
// -----------------------------------------------------------------------------------

std::string quoted(const std::string& text) {
  std::string result;
  append_json_string(result, text);
  return result;
}

std::string show_value(const std::string& value) {
  return value.empty() ? "(none)" : quoted(value);
}
std::string show_value(const std::optional<double>& value) {
  return value ? shortest(*value) : "\"default\"";
}
std::string show_value(double value) {
  return shortest(value);
}
std::string show_value(std::uint32_t value) {
  return std::to_string(value);
}
std::string show_value(ProviderKind value) {
  return quoted(std::string(to_string(value)));
}
std::string show_value(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "(none)";
}
std::string show_value(const std::vector<std::string>& value) {
  std::string text = "[";
  for (const std::string& element : value) text += (text.size() > 1 ? ", " : "") + quoted(element);
  return text + "]";
}

struct Plain {
  template <class T>
  std::string operator()(const T& value) const {
    return show_value(value);
  }
};
struct AsMilliseconds {
  std::string operator()(milliseconds value) const { return std::to_string(value.count()); }
};
struct AsSeconds {
  std::string operator()(milliseconds value) const {
    return shortest(static_cast<double>(value.count()) / 1000.0);
  }
};
struct OrNone {
  std::string operator()(const std::optional<double>& value) const {
    return value ? shortest(*value) : "(none)";
  }
};
struct NamesOrNone {
  std::string operator()(const std::vector<std::string>& names) const {
    return names.empty() ? "(none)" : show_value(names);
  }
};

template <class Owner, class T, class Parser, class Show = Plain>
Definition<Owner> define(std::string_view key, std::string_view flag, Setting<T> Owner::*member, Parser parse,
                         std::string_view value, std::string_view doc, Show show = {}) {
  Definition<Owner> definition;
  definition.key = key;
  definition.flag = flag;
  definition.value = value;
  definition.doc = doc;
  definition.set = [member, parse](Owner& owner, const RawValue& raw,
                                   const Stamp& stamp) -> std::optional<std::string> {
    auto parsed = parse(raw);
    if (!parsed) return std::move(parsed.error());
    owner.*member = Setting<T>{std::move(*parsed), stamp.origin, stamp.where};
    return std::nullopt;
  };
  definition.show = [member, show](const Owner& owner) { return show((owner.*member).value); };
  definition.stamp = [member](const Owner& owner) {
    return Stamp{(owner.*member).origin, (owner.*member).where};
  };
  return definition;
}

SettingDefinition outside_file(SettingDefinition definition) {
  definition.in_file = false;
  return definition;
}

SettingDefinition with_bare_flag(SettingDefinition definition, std::string_view bare) {
  definition.bare = bare;
  return definition;
}

/// Two fields of Settings: what "robust" adds is nobody's business but the coordinator's.
SettingDefinition define_mode() {
  SettingDefinition definition;
  definition.key = "mode";
  definition.flag = "--mode";
  definition.value = "MODE";
  definition.doc =
      "Where answers come from: live (providers, through the cache), cached (the cache alone), mock, or "
      "robust: live with all perturbations";
  definition.set = [](Settings& settings, const RawValue& raw,
                      const Stamp& stamp) -> std::optional<std::string> {
    const auto parsed = parse_mode(raw);
    if (!parsed) return parsed.error();
    settings.mode = {parsed->mode, stamp.origin, stamp.where};
    settings.robust = parsed->robust;
    return std::nullopt;
  };
  definition.show = [](const Settings& settings) {
    return quoted(settings.robust ? "robust" : std::string(to_string(settings.mode.value)));
  };
  definition.stamp = [](const Settings& settings) {
    return Stamp{settings.mode.origin, settings.mode.where};
  };
  return definition;
}

std::vector<SettingDefinition> make_setting_definitions() {
  using S = Settings;
  constexpr double hour = 3600.0;
  constexpr double week = 7 * 24 * hour;
  return {
      define("fixtures_dir", "--fixtures", &S::fixtures_dir, word(), "DIR", "Folder of the fixtures"),
      define_mode(),
      define("provider", "--provider", &S::provider, word(), "NAME",
             "openai, anthropic, gemini or a [providers.NAME] of the settings file"),
      define("model", "--model", &S::model, word(), "MODEL", "Model to ask"),
      outside_file(define("base_url", "--base-url", &S::base_url, parse_url, "URL",
                          "Base URL of the provider's API (openai: with its /v1; others: the bare host)")),
      define("temperature", "--temperature", &S::temperature, real_or_default(0.0, 2.0), "T",
             "Sampling temperature, or \"default\" to send none"),
      define("max_tokens", "--max-tokens", &S::max_tokens, whole(1, 10'000'000), "N",
             "Upper bound of an answer in tokens"),
      define("seed", "--seed", &S::seed, any_integer(), "N", "Seed to send to the provider"),
      define("max_concurrent", "--max-concurrent", &S::max_concurrent, whole(1, 10'000), "N",
             "Calls in flight a worker"),
      define("rate_limit_initial_delay_ms", "", &S::rate_limit_initial_delay, whole_milliseconds(1, 600'000),
             "MS", "Upper bound of the first retry's delay", AsMilliseconds()),
      define("rate_limit_max_retries", "", &S::rate_limit_max_retries, whole(0, 1000), "N",
             "Retries after the first call"),
      define("connect_timeout_seconds", "--connect-timeout", &S::connect_timeout, seconds(hour), "SECONDS",
             "Longest wait for a connection to the provider", AsSeconds()),
      define("request_timeout_seconds", "--request-timeout", &S::request_timeout, seconds(24 * hour),
             "SECONDS", "Longest wait for one answer", AsSeconds()),
      define("case_timeout_seconds", "--case-timeout", &S::case_timeout, seconds(week), "SECONDS",
             "Longest time for a case with all its retries", AsSeconds()),
      define("worker_timeout_seconds", "--worker-timeout", &S::worker_timeout, seconds(week), "SECONDS",
             "How long a run goes on without any worker", AsSeconds()),
      define("regression_threshold", "--threshold", &S::regression_threshold, real(0.0, 1.0), "POINTS",
             "How far a score may drop below its baseline where no thresholding says otherwise"),
      with_bare_flag(define("perturb", "--perturb", &S::perturb, parse_perturbations, "A,B",
                            "Perturbations to try every case under as well: names, all (as without a value) "
                            "or none",
                            NamesOrNone()),
                     "all"),
      define("repeat", "--repeat", &S::repeat, whole(1, 100), "N",
             "How often each case is tried in each form (default 1)"),
      define("perturb_timeout_seconds", "", &S::perturb_timeout, seconds(hour), "SECONDS",
             "Longest time for a command of --perturb-command", AsSeconds()),
      define("perturb_max_bytes", "", &S::perturb_max_bytes, whole(1, 1'000'000'000), "BYTES",
             "Longest output of a command of --perturb-command"),
      define("min_stability", "--min-stability", &S::min_stability, optional_real(0.0, 1.0), "SHARE",
             "Lowest share of perturbed answers that must stay the same, from 0 to 1", OrNone()),
      define("embedding_provider", "--embedding-provider", &S::embedding_provider, word(), "NAME",
             "Provider that embeds texts for semantic_similarity_to (default: openai)"),
      define("embedding_model", "--embedding-model", &S::embedding_model, word(), "MODEL",
             "Embedding model, or lexical-ngrams-v1 for the built-in embedder (default: "
             "text-embedding-3-small)"),
      define("prompt_file", "--prompt", &S::prompt_file, word(), "FILE",
             "Prompt template instead of the built-in one"),
      define("ontology_file", "--ontology", &S::ontology_file, word(), "FILE",
             "Ontology instead of the built-in one"),
      define("prices_file", "--prices", &S::prices_file, word(), "FILE",
             "Price table instead of the built-in one"),
      outside_file(define("home", "--home", &S::home, word(), "DIR", "Folder of caches and ledger")),
  };
}

std::vector<ProviderDefinition> make_provider_definitions() {
  using P = ProviderConfig;
  return {
      define("kind", "", &P::kind, parse_kind, "KIND", "Request format: openai, anthropic or gemini"),
      define("base_url", "", &P::base_url, parse_url, "URL", "Base URL of the API"),
      define("api_key_env", "", &P::api_key_env, parse_variable_name, "NAME",
             "Environment variable that holds the key; \"\" to call without one"),
      define("cache_identity", "", &P::cache_identity, word(), "TEXT",
             "Stands for the provider in cache keys instead of its base URL"),
      define("model", "", &P::model, word(), "MODEL", "Model to ask if no other is named"),
      define("max_tokens_field", "", &P::max_tokens_field, one_of({"max_completion_tokens", "max_tokens"}),
             "NAME", "Which field carries max_tokens (kind openai only)"),
      define("key_hosts", "", &P::key_hosts, parse_hosts, "HOSTS",
             "Further hosts that a worker may send the key to"),
  };
}

}  // namespace

std::span<const SettingDefinition> setting_definitions() {
  static const std::vector<SettingDefinition> definitions = make_setting_definitions();
  return definitions;
}

std::span<const ProviderDefinition> provider_definitions() {
  static const std::vector<ProviderDefinition> definitions = make_provider_definitions();
  return definitions;
}

std::string variable_of(std::string_view key) {
  std::string name = "SLUICE_";
  for (const char c : key) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

std::span<const std::string_view> unsupported_eval_keys() {
  static constexpr std::array<std::string_view, 4> keys{"save_observations", "database_path",
                                                        "retention_days", "retention_max_count"};
  return keys;
}

std::span<const std::string_view> unsupported_provider_keys() {
  static constexpr std::array<std::string_view, 4> keys{"requests_per_minute", "tokens_per_minute",
                                                        "max_in_flight", "burst_seconds"};
  return keys;
}

}  // namespace sluice
