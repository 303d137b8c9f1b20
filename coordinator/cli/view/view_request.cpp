#include "coordinator/cli/view/view_request.hpp"

#include "coordinator/cli/defaults.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t default_limit = 100;
constexpr std::size_t longest_run_name = 40;  ///< A UUID has 36.

std::optional<ViewRequest::Page> page_named(std::string_view name) {
  using Page = ViewRequest::Page;
  if (name.empty()) return Page::runs;
  if (name == "run") return Page::run;
  if (name == "progress") return Page::progress;
  return name == "compare" ? std::optional(Page::compare) : std::nullopt;
}

bool is_run_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_run_name && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '~';
  });
}

/// In a time that does not tell how much of it is right.
bool is_secret(std::string_view given, std::string_view secret) {
  unsigned char differing = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size() && i < secret.size(); ++i)
    differing |= static_cast<unsigned char>(given[i] ^ secret[i]);
  return differing == 0;
}

/// What a path names in the folder that is called like the token; nothing if it leads elsewhere.
std::optional<std::string_view> name_in_folder(std::string_view path, std::string_view token) {
  const std::size_t end = path.find('/', 1);
  if (end == std::string_view::npos || !is_secret(path.substr(1, end - 1), token)) return std::nullopt;
  return path.substr(end + 1);
}

tl::expected<ViewRequest, ServedAnswer> read_query(ViewRequest read, const std::string& query) {
  for (const auto& [name, value] : query_parameters(query)) {
    if (name == "limit") {
      const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), read.limit);
      if (wrong != std::errc() || end != value.data() + value.size() || read.limit == 0 ||
          read.limit > defaults::max_runs_named)
        return tl::unexpected(
            refusal(400, "limit must be from 1 to " + std::to_string(defaults::max_runs_named)));
    } else if (name == "id" || name == "base" || name == "current") {
      if (!is_run_name(value)) return tl::unexpected(refusal(400, name + " must be the id of a run"));
      (name == "id" ? read.run : name == "base" ? read.base : read.current) = value;
    }
  }
  const bool needs_run = read.page == ViewRequest::Page::run || read.page == ViewRequest::Page::progress;
  if (needs_run && read.run.empty()) return tl::unexpected(refusal(400, "id must be the id of a run"));
  return read;
}

}  // namespace

ServedAnswer refusal(int status, const std::string& words) {
  return {status, "text/plain; charset=utf-8", words + "\n", {}};
}

std::string ViewAccess::address() const {
  return "http://" + authority + "/" + token + "/";
}

tl::expected<ViewRequest, ServedAnswer> read_view_request(const ServedRequest& request,
                                                          const ViewAccess& access) {
  if (!names_loopback(request.host, access.authority))
    return tl::unexpected(
        refusal(403, "this server is asked by its own address alone, http://" + access.authority + "/"));
  if (request.fetch_site == "cross-site" || request.fetch_site == "same-site")
    return tl::unexpected(refusal(
        403, "a page of another site leads here: open the address that `sluice view` printed itself"));
  const auto name = name_in_folder(request.path, access.token);
  if (!name)
    return tl::unexpected(refusal(
        403, "pages are shown to who started `sluice view` alone: open the whole address that it printed"));
  if (request.method != "GET" && request.method != "HEAD") {
    ServedAnswer refused = refusal(405, "pages are only looked at: GET is all that is answered");
    refused.headers.emplace_back("Allow", "GET, HEAD");
    return tl::unexpected(std::move(refused));
  }
  const auto page = page_named(*name);
  if (!page)
    return tl::unexpected(
        refusal(404, "there is no such page; the address that `sluice view` printed lists the runs"));
  ViewRequest read;
  read.page = *page;
  read.limit = default_limit;
  return read_query(std::move(read), request.query);
}

}  // namespace sluice
