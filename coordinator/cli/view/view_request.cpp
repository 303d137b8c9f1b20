#include "coordinator/cli/view/view_request.hpp"

#include "coordinator/cli/defaults.hpp"

#include <algorithm>
#include <charconv>

namespace sluice {
namespace {

constexpr std::size_t default_limit = 100;
constexpr std::size_t longest_run_name = 40;  ///< A UUID has 36.

bool is_run_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_run_name && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '~';
  });
}

ServedAnswer not_there() {
  return refusal(404, "there is no such page; / lists the runs");
}

/// In a time that does not tell how much of it is right.
bool is_secret(std::string_view given, std::string_view secret) {
  unsigned char differing = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size() && i < secret.size(); ++i)
    differing |= static_cast<unsigned char>(given[i] ^ secret[i]);
  return differing == 0;
}

std::string cookie_of(const ViewAccess& access) {
  return "sluice_view_" + access.authority.substr(access.authority.rfind(':') + 1) + "=" + access.token;
}

bool has_token_in_query(const ServedRequest& request, const ViewAccess& access) {
  return std::ranges::any_of(query_parameters(request.query), [&](const auto& parameter) {
    return parameter.first == "token" && is_secret(parameter.second, access.token);
  });
}

bool has_token_in_cookie(std::string_view cookies, const ViewAccess& access) {
  const std::string wanted = cookie_of(access);
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    if (is_secret(cookies.substr(0, end), wanted)) return true;
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    while (cookies.starts_with(' ')) cookies.remove_prefix(1);
  }
  return false;
}

tl::expected<ViewRequest, ServedAnswer> read_query(ViewRequest read, const std::string& query) {
  for (const auto& [name, value] : query_parameters(query)) {
    if (name == "limit") {
      const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), read.limit);
      if (wrong != std::errc() || end != value.data() + value.size() || read.limit == 0 ||
          read.limit > defaults::max_runs_named)
        return tl::unexpected(
            refusal(400, "limit must be from 1 to " + std::to_string(defaults::max_runs_named)));
    } else if (name == "base" || name == "current") {
      if (!is_run_name(value)) return tl::unexpected(refusal(400, name + " must be the id of a run"));
      (name == "base" ? read.base : read.current) = value;
    }
  }
  return read;
}

}  // namespace

ServedAnswer refusal(int status, const std::string& words) {
  return {status, "text/plain; charset=utf-8", words + "\n", {}};
}

std::string ViewAccess::address() const {
  return "http://" + authority + "/?token=" + token;
}

std::string ViewAccess::set_cookie() const {
  return cookie_of(*this) + "; Path=/; SameSite=Strict; HttpOnly";
}

tl::expected<ViewRequest, ServedAnswer> read_view_request(const ServedRequest& request,
                                                          const ViewAccess& access) {
  if (!names_loopback(request.host, access.authority))
    return tl::unexpected(
        refusal(403, "this server is asked by its own address alone, http://" + access.authority + "/"));
  if (request.fetch_site == "cross-site" || request.fetch_site == "same-site")
    return tl::unexpected(refusal(
        403, "a page of another site leads here: open the address that `sluice view` printed itself"));
  const bool brings_token = has_token_in_query(request, access);
  if (!brings_token && !has_token_in_cookie(request.cookies, access))
    return tl::unexpected(
        refusal(403,
                "pages are shown to who started `sluice view` alone: open the whole address "
                "that it printed, which ends in a token, in a browser that keeps cookies"));
  if (request.method != "GET" && request.method != "HEAD") {
    ServedAnswer refused = refusal(405, "pages are only looked at: GET is all that is answered");
    refused.headers.emplace_back("Allow", "GET, HEAD");
    return tl::unexpected(std::move(refused));
  }
  ViewRequest read;
  read.brings_token = brings_token;
  read.limit = default_limit;
  if (request.path == "/") return read_query(read, request.query);
  if (request.path == "/compare") {
    read.page = ViewRequest::Page::compare;
    return read_query(read, request.query);
  }
  constexpr std::string_view runs = "/runs/";
  constexpr std::string_view progress = "/progress";
  if (!request.path.starts_with(runs)) return tl::unexpected(not_there());
  std::string_view rest = std::string_view(request.path).substr(runs.size());
  read.page = ViewRequest::Page::run;
  if (rest.ends_with(progress)) {
    read.page = ViewRequest::Page::progress;
    rest.remove_suffix(progress.size());
  }
  if (!is_run_name(rest)) return tl::unexpected(not_there());
  read.run = rest;
  return read;
}

}  // namespace sluice
