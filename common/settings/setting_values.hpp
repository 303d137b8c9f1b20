#pragma once

#include "common/documents/toml_document.hpp"
#include "common/model/request_extras.hpp"
#include "common/model/run_settings.hpp"
#include "common/text/stderr_line.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

/// How the values of settings are read and shown.
namespace sluice {

/// A value as its source has it: typed in a file, a text in a flag or a variable.
using RawValue = std::variant<const TomlNode*, std::string_view>;

/// A typed value, or what is wrong with the raw one ("must be ...").
template <class T>
using Parsed = tl::expected<T, std::string>;
template <class T>
using Parser = std::function<Parsed<T>(const RawValue&)>;

Parser<std::uint32_t> whole(std::int64_t low, std::int64_t high);
Parser<std::optional<std::uint32_t>> optional_whole(std::int64_t low, std::int64_t high);
Parser<std::optional<std::uint64_t>> optional_large_whole(std::int64_t low, std::int64_t high);
Parser<std::optional<std::int64_t>> any_integer();
Parser<double> real(double low, double high);
Parser<std::optional<double>> optional_real(double low, double high);
/// A number, or "default" for the model's own: nothing is sent then.
Parser<std::optional<double>> real_or_default(double low, double high);
/// A time in seconds, fractions allowed; at least a millisecond.
Parser<std::chrono::milliseconds> seconds(double high);
/// The same, or 0.
Parser<std::chrono::milliseconds> seconds_or_none(double high);
/// The same, or with a unit: "90s", "10m", "1.5h".
Parser<std::optional<std::chrono::milliseconds>> time_span(double high);
Parser<std::chrono::milliseconds> whole_milliseconds(std::int64_t low, std::int64_t high);
/// A text that is not empty and has no control characters.
Parser<std::string> word();
Parser<std::string> one_of(std::vector<std::string> names);
/// What --mode may be: a Mode, or one with perturbations.
struct NamedMode {
  Mode mode = Mode::cached;
  bool robust = false;
};
Parsed<NamedMode> parse_mode(const RawValue& raw);
/// Names in a list, or in one text with commas between them; "all" and "none" stand alone.
Parsed<std::vector<std::string>> parse_perturbations(const RawValue& raw);
Parser<bool> yes_or_no();
/// Names of shipped_redactions in a list, or in one text with commas between them; "all" and "none" stand
/// alone.
Parsed<std::vector<std::string>> parse_redactions(const RawValue& raw);
Parsed<ProviderKind> parse_kind(const RawValue& raw);
Parsed<LogFormat> parse_log_format(const RawValue& raw);
/// Never quotes the value: it may hold a secret.
Parsed<std::string> parse_url(const RawValue& raw);
/// The same with any path.
Parsed<std::string> parse_any_url(const RawValue& raw);
/// What is wrong with a base URL that ends in an endpoint's path, of this kind of provider where it is known;
/// empty if it does not.
std::string problem_with_endpoint(std::string_view url, std::optional<ProviderKind> kind = std::nullopt);
/// Never quotes the value: a key that was put here by mistake must not be printed. Lower-case letters are
/// refused for the same reason; no variable of this kind has them, and most keys do.
Parsed<std::string> parse_variable_name(const RawValue& raw);
Parsed<std::vector<std::string>> parse_hosts(const RawValue& raw);
/// Fields of a request's body (docs/suites.md#params); a text is TOML's inline table. `temperature`, `seed`
/// and `max_output_tokens`, under any of the providers' names for it, are checked as the settings are.
Parsed<RequestParams> parse_params(const RawValue& raw);
/// The same of another notation, whose table the message shows.
Parsed<RequestParams> parse_params_in(const RawValue& raw, Notation notation);
/// A value in the clear that is most likely a secret, by the name it stands under or by how it begins.
bool is_likely_secret(std::string_view name, std::string_view value);
/// Whether a value is a text of which this is true, or has one in its tables and lists; in their order, up to
/// the first.
bool has_text(const DocumentNode& node, const std::function<bool(const std::string&)>& is_it);
/// A text that is most likely a key, whatever it stands under; in a table or list: one of its texts.
bool holds_key(std::string_view text);
bool holds_key(const DocumentNode& node);
/// Why such a text is refused in what requests and programs are made of.
inline constexpr const char* begins_as_keys_do =
    "begins as keys do: name its variable with \"api_key_env\", or in \"headers\" as { env = \"NAME\" }";
/// Never quotes a value: it may be a secret.
Parsed<std::vector<ProviderHeader>> parse_headers(const RawValue& raw);
Parsed<std::vector<QueryField>> parse_query(const RawValue& raw);

/// A value as it would stand in the file; `(none)` if there is none.
std::string show_value(const std::string& value);
std::string show_value(double value);
std::string show_value(bool value);
std::string show_value(std::uint32_t value);
std::string show_value(ProviderKind value);
std::string show_value(const std::optional<std::uint32_t>& value);
std::string show_value(const std::optional<std::uint64_t>& value);
std::string show_value(const std::optional<std::int64_t>& value);
std::string show_value(const std::optional<double>& value);
std::string show_value(const std::vector<std::string>& value);
std::string show_value(const RequestParams& value);
std::string show_value(const std::vector<ProviderHeader>& value);
std::string show_value(const std::vector<QueryField>& value);
std::string show_seconds(std::chrono::milliseconds value);

}  // namespace sluice
