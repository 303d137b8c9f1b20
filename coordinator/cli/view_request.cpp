#include "coordinator/cli/view_request.hpp"

#include "coordinator/defaults.hpp"

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

tl::expected<ViewRequest, ServedAnswer> read_view_request(const ServedRequest& request,
                                                          std::string_view authority) {
  if (!names_loopback(request.host, authority))
    return tl::unexpected(refusal(
        403, "this server is asked by its own address alone, http://" + std::string(authority) + "/"));
  if (request.fetch_site == "cross-site" || request.fetch_site == "same-site")
    return tl::unexpected(refusal(
        403, "a page of another site leads here: open http://" + std::string(authority) + "/ itself"));
  if (request.method != "GET" && request.method != "HEAD") {
    ServedAnswer refused = refusal(405, "pages are only looked at: GET is all that is answered");
    refused.headers.emplace_back("Allow", "GET, HEAD");
    return tl::unexpected(std::move(refused));
  }
  ViewRequest read;
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
