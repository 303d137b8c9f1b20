#include "common/settings/setting_values.hpp"

#include "common/documents/table_reader.hpp"
#include "common/model/redaction.hpp"
#include "common/settings/base_url.hpp"
#include "common/text/number.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace sluice {
namespace {

using std::chrono::milliseconds;

/// What the wire takes as a name (docs/protocol.md).
constexpr std::size_t max_word_bytes = 1024;

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
           (std::isfinite(*number) ? shortest(*number) : std::string("an infinite or undefined number"));
  }
  const auto* array = std::get_if<TomlNode::Array>(&node.value);
  if (array != nullptr && array->empty()) return ", not an empty array";
  return ", not " + std::string(type_name(node));
}

std::optional<std::string> text_in(const RawValue& raw) {
  if (const auto* text = std::get_if<std::string_view>(&raw)) return std::string(*text);
  const auto* text = std::get_if<std::string>(&std::get<const TomlNode*>(raw)->value);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

std::optional<std::int64_t> integer_in(const RawValue& raw) {
  if (const auto* text = std::get_if<std::string_view>(&raw)) return number_from<std::int64_t>(*text);
  const auto* number = std::get_if<std::int64_t>(&std::get<const TomlNode*>(raw)->value);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::optional<double> number_in(const RawValue& raw) {
  if (const auto* text = std::get_if<std::string_view>(&raw)) return number_from<double>(*text);
  const TomlNode& node = *std::get<const TomlNode*>(raw);
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) return static_cast<double>(*integer);
  const auto* number = std::get_if<double>(&node.value);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

template <class Number, class Value>
Parser<Value> bounded_whole(std::int64_t low, std::int64_t high) {
  return [=](const RawValue& raw) -> Parsed<Value> {
    const auto number = integer_in(raw);
    if (number && *number >= low && *number <= high) return static_cast<Number>(*number);
    return wrong("must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
                 but_is(raw));
  };
}

template <class Value>
Parser<Value> bounded_real(double low, double high) {
  return [=](const RawValue& raw) -> Parsed<Value> {
    const auto number = number_in(raw);
    if (number && *number >= low && *number <= high) return *number;
    return wrong("must be a number from " + shortest(low) + " to " + shortest(high) + but_is(raw));
  };
}

Parser<milliseconds> bounded_seconds(double low, double high) {
  return [=](const RawValue& raw) -> Parsed<milliseconds> {
    const auto number = number_in(raw);
    if (number && *number >= low && *number <= high) return milliseconds(std::llround(*number * 1000.0));
    return wrong("must be a number of seconds from " + shortest(low) + " to " + shortest(high) + but_is(raw));
  };
}

/// The seconds of "90s", "10m" or "1.5h".
std::optional<double> seconds_with_unit(std::string_view text) {
  constexpr std::array<std::pair<char, double>, 3> units{{{'s', 1.0}, {'m', 60.0}, {'h', 3600.0}}};
  const auto unit =
      std::ranges::find_if(units, [&](const auto& one) { return !text.empty() && text.back() == one.first; });
  if (unit == units.end()) return std::nullopt;
  const auto number = number_from<double>(text.substr(0, text.size() - 1));
  return number ? std::optional(*number * unit->second) : std::nullopt;
}

/// The strings of a list, or the parts of a text with commas between them.
std::optional<std::vector<std::string>> list_in(const RawValue& raw) {
  const auto* node = std::get_if<const TomlNode*>(&raw);
  const auto* array = node != nullptr ? std::get_if<TomlNode::Array>(&(*node)->value) : nullptr;
  if (array == nullptr) {
    const auto text = text_in(raw);
    return text ? std::optional(comma_parts(*text)) : std::nullopt;
  }
  std::vector<std::string> names;
  for (const TomlNode& element : *array) {
    const auto* text = std::get_if<std::string>(&element.value);
    if (text == nullptr) return std::nullopt;
    names.push_back(*text);
  }
  return names;
}

/// Of a list, the part that it is wrong for; of a text, all of it.
std::string but_holds(const RawValue& raw, const std::string& part) {
  return text_in(raw) ? but_is(raw) : ", not \"" + excerpt(part, 80) + "\"";
}

template <class Number>
std::string show_number(const std::optional<Number>& value) {
  return value ? std::to_string(*value) : "(none)";
}

}  // namespace

Parser<std::uint32_t> whole(std::int64_t low, std::int64_t high) {
  return bounded_whole<std::uint32_t, std::uint32_t>(low, high);
}
Parser<std::optional<std::uint32_t>> optional_whole(std::int64_t low, std::int64_t high) {
  return bounded_whole<std::uint32_t, std::optional<std::uint32_t>>(low, high);
}
Parser<std::optional<std::uint64_t>> optional_large_whole(std::int64_t low, std::int64_t high) {
  return bounded_whole<std::uint64_t, std::optional<std::uint64_t>>(low, high);
}

Parser<std::optional<std::int64_t>> any_integer() {
  return [](const RawValue& raw) -> Parsed<std::optional<std::int64_t>> {
    if (const auto number = integer_in(raw)) return std::optional(*number);
    return wrong("must be a whole number" + but_is(raw));
  };
}

Parser<std::optional<double>> real_or_default(double low, double high) {
  return [=](const RawValue& raw) -> Parsed<std::optional<double>> {
    if (text_in(raw) == "default") return std::optional<double>();
    const auto number = number_in(raw);
    if (number && *number >= low && *number <= high) return number;
    return wrong("must be a number from " + shortest(low) + " to " + shortest(high) +
                 ", or \"default\" to send none" + but_is(raw));
  };
}

Parser<double> real(double low, double high) {
  return bounded_real<double>(low, high);
}
Parser<std::optional<double>> optional_real(double low, double high) {
  return bounded_real<std::optional<double>>(low, high);
}

Parser<milliseconds> seconds(double high) {
  return bounded_seconds(0.001, high);
}
Parser<milliseconds> seconds_or_none(double high) {
  return bounded_seconds(0.0, high);
}

Parser<std::optional<milliseconds>> time_span(double high) {
  return [=](const RawValue& raw) -> Parsed<std::optional<milliseconds>> {
    auto number = number_in(raw);
    if (const auto text = text_in(raw); text && !number) number = seconds_with_unit(*text);
    if (number && *number >= 0.001 && *number <= high) return milliseconds(std::llround(*number * 1000.0));
    return wrong("must be a time of more than 0 and at most " + shortest(high / 3600.0) +
                 " hours: a number of seconds, or one with a unit such as \"90s\", \"10m\" or \"2h\"" +
                 but_is(raw));
  };
}

Parser<milliseconds> whole_milliseconds(std::int64_t low, std::int64_t high) {
  return [=](const RawValue& raw) -> Parsed<milliseconds> {
    auto number = whole(low, high)(raw);
    if (!number) return wrong(std::move(number.error()));
    return milliseconds(*number);
  };
}

Parser<std::string> word() {
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

Parser<std::string> one_of(std::vector<std::string> names) {
  return [names = std::move(names)](const RawValue& raw) -> Parsed<std::string> {
    auto text = text_in(raw);
    if (text && std::find(names.begin(), names.end(), *text) != names.end()) return std::move(*text);
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    return wrong("must be " + quoted_list(names, "or") + but_is(raw) +
                 (text ? did_you_mean(*text, candidates) : std::string()));
  };
}

Parsed<NamedMode> parse_mode(const RawValue& raw) {
  const auto name = one_of({"live", "cached", "mock", "robust"})(raw);
  if (!name) return wrong(name.error());
  if (*name == "robust") return NamedMode{Mode::live, true};
  for (const Mode mode : {Mode::live, Mode::mock}) {
    if (*name == to_string(mode)) return NamedMode{mode, false};
  }
  return NamedMode{};
}

Parsed<std::vector<std::string>> parse_perturbations(const RawValue& raw) {
  const auto malformed = [](const std::string& but) {
    return wrong("must be names of perturbations with commas between them, \"all\" or \"none\"" + but);
  };
  auto listed = list_in(raw);
  if (!listed || listed->empty()) return malformed(but_is(raw));
  auto& names = *listed;
  const auto is_name = [](const std::string& name) {
    return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
  };
  const auto other = std::ranges::find_if_not(names, is_name);
  if (other != names.end()) return malformed(but_holds(raw, *other));
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

Parser<bool> yes_or_no() {
  return [](const RawValue& raw) -> Parsed<bool> {
    if (const auto* text = std::get_if<std::string_view>(&raw)) {
      if (*text == "true") return true;
      if (*text == "false") return false;
    } else if (const auto* flag = std::get_if<bool>(&std::get<const TomlNode*>(raw)->value)) {
      return *flag;
    }
    return wrong("must be true or false" + but_is(raw));
  };
}

Parsed<std::vector<std::string>> parse_redactions(const RawValue& raw) {
  std::vector<std::string> known;
  for (const ShippedRedaction& one : shipped_redactions()) known.emplace_back(one.name);
  const auto malformed = [&](const std::string& but) {
    return wrong("must be names of shipped patterns (" + quoted_list(known) +
                 ") with commas between them, \"all\" or \"none\"" + but);
  };
  auto names = list_in(raw);
  if (!names || names->empty()) return malformed(but_is(raw));
  if (*names == std::vector<std::string>{"all"} || *names == std::vector<std::string>{"none"}) return *names;
  for (const std::string& name : *names) {
    if (std::ranges::find(known, name) == known.end()) return malformed(but_holds(raw, name));
  }
  std::ranges::sort(*names);
  names->erase(std::unique(names->begin(), names->end()), names->end());
  return *names;
}

Parsed<ProviderKind> parse_kind(const RawValue& raw) {
  const auto name = one_of(provider_kind_names())(raw);
  if (!name) return wrong(name.error());
  return *provider_kind_from(*name);
}

Parsed<LogFormat> parse_log_format(const RawValue& raw) {
  const auto name = one_of({"text", "json"})(raw);
  if (!name) return wrong(name.error());
  return *name == to_string(LogFormat::json) ? LogFormat::json : LogFormat::text;
}

Parsed<std::string> parse_any_url(const RawValue& raw) {
  const auto text = text_in(raw);
  if (!text) return wrong("must be a string");
  const auto url = parse_base_url(*text);
  if (!url) return wrong(url.error().message);
  return url->text;
}

std::string problem_with_endpoint(std::string_view url, std::optional<ProviderKind> kind) {
  const auto path = kind ? endpoint_path_of(url, *kind) : endpoint_path_of(url);
  if (path.empty()) return "";
  return "ends in \"" + std::string(path) + "\", which each call adds itself: leave it out, as in " +
         std::string(url.substr(0, url.rfind(path)));
}

Parsed<std::string> parse_url(const RawValue& raw) {
  auto url = parse_any_url(raw);
  if (!url) return url;
  if (auto problem = problem_with_endpoint(*url); !problem.empty()) return wrong(std::move(problem));
  return url;
}

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

std::string show_value(const std::string& value) {
  return value.empty() ? "(none)" : json_string(value);
}
std::string show_value(const std::optional<double>& value) {
  return value ? shortest(*value) : "(none)";
}
std::string show_value(bool value) {
  return value ? "true" : "false";
}
std::string show_value(double value) {
  return shortest(value);
}
std::string show_value(std::uint32_t value) {
  return std::to_string(value);
}
std::string show_value(ProviderKind value) {
  return json_string(std::string(to_string(value)));
}
std::string show_value(const std::optional<std::uint32_t>& value) {
  return show_number(value);
}
std::string show_value(const std::optional<std::uint64_t>& value) {
  return show_number(value);
}
std::string show_value(const std::optional<std::int64_t>& value) {
  return show_number(value);
}
std::string show_value(const std::vector<std::string>& value) {
  std::string text = "[";
  for (const std::string& element : value) text += (text.size() > 1 ? ", " : "") + json_string(element);
  return text + "]";
}
std::string show_seconds(milliseconds value) {
  return shortest(static_cast<double>(value.count()) / 1000.0);
}

}  // namespace sluice
