#pragma once

#include "common/error.hpp"
#include "common/http_server/http_server.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice {

/// What a browser asks `sluice view` for.
struct ViewRequest {
  enum class Page : std::uint8_t {
    runs,      ///< The list of runs.
    run,       ///< One run.
    progress,  ///< How far one has come: the part of its page that changes.
    compare    ///< Two runs.
  };
  Page page = Page::runs;
  std::string run{};      ///< Of `run` and `progress`, as Ledger::find_run takes it.
  std::string base{};     ///< Of `compare`; empty: none was chosen.
  std::string current{};  ///< Of `compare`; empty: none was chosen.
  std::size_t limit = 0;  ///< Of `runs`: at most so many, from 1.
};

/// Whom `sluice view` answers: who asks by its own address, and knows its token.
struct ViewAccess {
  std::string authority;  ///< The server's own, HOST:PORT.
  std::string token;      ///< Secret to who started the server; hexadecimal digits.

  /// The folder that all pages lie in, and the list of runs. It has the token, where a cookie would have it
  /// too: browsers send the cookies of a host to the servers at all of its ports.
  std::string address() const;
};

/// An answer for what is no page: in plain text, which runs nothing.
ServedAnswer refusal(int status, const std::string& words);

/// Reads a request. Whatever is none of ours is answered by a refusal: another Host than this server's (a
/// page of the web whose name was made to lead here), what a page of another site makes a browser ask for, a
/// path without the token, another method than GET and HEAD, a page that is not there. Nothing of a request
/// names a file.
tl::expected<ViewRequest, ServedAnswer> read_view_request(const ServedRequest& request,
                                                          const ViewAccess& access);

}  // namespace sluice
