#include "common/model/run_settings.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <array>

namespace sluice {

std::string_view to_string(Mode mode) {
  switch (mode) {
    case Mode::live:
      return "live";
    case Mode::cached:
      return "cached";
    case Mode::mock:
      return "mock";
  }
  return "cached";
}

std::string_view to_string(ProviderKind kind) {
  switch (kind) {
    case ProviderKind::openai:
      return "openai";
    case ProviderKind::anthropic:
      return "anthropic";
    case ProviderKind::gemini:
      return "gemini";
    case ProviderKind::http:
      return "http";
    case ProviderKind::exec:
      return "exec";
    case ProviderKind::openai_responses:
      return "openai-responses";
  }
  return "openai";
}

namespace {

/// As messages list them.
constexpr std::array provider_kinds{ProviderKind::openai,    ProviderKind::openai_responses,
                                    ProviderKind::anthropic, ProviderKind::gemini,
                                    ProviderKind::http,      ProviderKind::exec};

}  // namespace

std::optional<ProviderKind> provider_kind_from(std::string_view name) {
  for (const ProviderKind kind : provider_kinds) {
    if (name == to_string(kind)) return kind;
  }
  return std::nullopt;
}

std::vector<std::string> provider_kind_names() {
  std::vector<std::string> names;
  for (const ProviderKind kind : provider_kinds) names.emplace_back(to_string(kind));
  return names;
}

namespace {

bool drop_suffix(std::string& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.resize(text.size() - suffix.size());
  return true;
}

}  // namespace

std::string normalised_base_url(std::string_view base_url) {
  const auto scheme_end = base_url.find("://");
  if (scheme_end == std::string_view::npos) return std::string(base_url);
  const auto scheme = to_lower(base_url.substr(0, scheme_end));
  auto rest = base_url.substr(scheme_end + 3);
  const auto path_start = std::min(rest.find('/'), rest.size());
  auto authority = rest.substr(0, path_start);
  std::string path(rest.substr(path_start));
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) authority.remove_prefix(at + 1);
  auto host = to_lower(authority);
  if (scheme == "https") drop_suffix(host, ":443");
  if (scheme == "http") drop_suffix(host, ":80");
  while (drop_suffix(path, "/")) {
  }
  return scheme + "://" + host + path;
}

bool is_header_name(std::string_view name) {
  // What the client itself says of a request.
  constexpr std::array<std::string_view, 7> reserved = {
      "host",       "content-length", "content-type",   "transfer-encoding",
      "connection", "expect",         "accept-encoding"};
  const auto is_token = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  };
  return !name.empty() && std::ranges::all_of(name, is_token) &&
         std::ranges::find(reserved, to_lower(name)) == reserved.end();
}

bool is_header_value(std::string_view value) {
  return std::ranges::none_of(value, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

std::string default_cache_identity(const ProviderSettings& provider) {
  std::string identity = normalised_base_url(provider.base_url);
  const auto add = [&](std::string_view what, std::string_view name, std::string_view value) {
    // No URL holds a blank, and texts stand in quotes: nothing else reads the same.
    identity += " ";
    identity += what;
    append_json_string(identity, name);
    identity += ":";
    append_json_string(identity, value);
  };
  for (const QueryField& one : provider.query) add("query", one.name, one.value);
  for (const ProviderHeader& one : provider.headers) {
    if (one.variable.empty()) add("header", to_lower(one.name), one.value);
  }
  return identity + field_identity(provider);
}

std::string field_identity(const ProviderSettings& provider) {
  const bool sends_it = provider.kind == ProviderKind::openai || provider.kind == ProviderKind::exec;
  const bool is_default =
      provider.max_tokens_field.empty() || provider.max_tokens_field == default_max_tokens_field;
  // A server that ignores a field that it does not know cuts nothing off. The default adds nothing, so that
  // keys of before are found.
  if (!sends_it || is_default) return "";
  std::string identity = R"( field"max_tokens":)";
  append_json_string(identity, provider.max_tokens_field);
  return identity;
}

}  // namespace sluice
