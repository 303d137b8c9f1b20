// Why a call has no whole response, in words.
#include "common/text/text.hpp"
#include "worker/defaults.hpp"
#include "worker/http/transfer.hpp"

#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

/// curl's own bound for one header.
constexpr std::size_t max_one_header_bytes = 100u << 10;

std::string seconds(std::chrono::milliseconds time) {
  return shortest(static_cast<double>(time.count()) / 1000.0) + " s";
}

bool is_tls_problem(CURLcode code) {
  switch (code) {
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      return true;
    default:
      return false;
  }
}

/// OpenSSL's words for a record that is none.
bool is_answered_in_the_clear(std::string_view tls_problem) {
  return tls_problem.find("wrong version number") != std::string_view::npos;
}

}  // namespace

std::string Transfer::peer() const {
  const std::unique_ptr<CURLU, decltype(CurlLibrary::url_cleanup)> url(curl().url(), curl().url_cleanup);
  const auto part = [&url](CURLUPart which) {
    char* text = nullptr;
    std::string result;
    if (curl().url_get(url.get(), which, &text, CURLU_DEFAULT_PORT) == CURLUE_OK) result = text;
    curl().free(text);
    return result;
  };
  // Not the URL as it was written: it may hold a password.
  if (!url || curl().url_set(url.get(), CURLUPART_URL, url_.c_str(), 0) != CURLUE_OK) return "the given URL";
  return to_valid_utf8(part(CURLUPART_HOST) + ":" + part(CURLUPART_PORT));
}

std::string Transfer::tls_problem() const {
  return to_valid_utf8(excerpt(tls_problem_, sizeof tls_problem_));
}

HttpFailure Transfer::failure_of(CURLcode code) const {
  const auto host = peer();
  if (auto refused = refusal_of_ours(code, host)) return std::move(*refused);
  if (auto unconnected = failed_connection(code, host)) return std::move(*unconnected);
  return broken_exchange(code, host);
}

/// What came is not taken.
std::optional<HttpFailure> Transfer::refusal_of_ours(CURLcode code, const std::string& host) const {
  using Kind = HttpFailure::Kind;
  // curl has a bound of its own for one header, and no better word for it.
  const bool one_too_large = code == CURLE_OUT_OF_MEMORY && sends_ > 0 && response_.body.empty();
  if (headers_too_large_ || one_too_large)
    return HttpFailure{Kind::too_large, host + " sent a flood of response headers: more than " +
                                            std::to_string(defaults::max_header_bytes) +
                                            " bytes, or one of more than " +
                                            std::to_string(max_one_header_bytes)};
  if (too_large_)
    return HttpFailure{Kind::too_large,
                       host + " sent an answer of more than " + std::to_string(call_.max_body) + " bytes"};
  const auto encoded = [&](const std::string& name, const std::string& value) {
    return HttpFailure{.kind = Kind::unasked_encoding,
                       .message = host +
                                  " sent an encoding that nobody asked for; let the server, or the proxy "
                                  "before it, leave that header out",
                       .header = name + ": " + value};
  };
  if (encoded_) return encoded(response_.headers.back().first, response_.headers.back().second);
  const std::string* const taken_for_packed = find_header(response_.headers, "content-encoding");
  if (code == CURLE_BAD_CONTENT_ENCODING && !unpacks_ && taken_for_packed)
    return encoded("content-encoding", *taken_for_packed);
  return std::nullopt;
}

/// Nothing was sent.
std::optional<HttpFailure> Transfer::failed_connection(CURLcode code, const std::string& host) const {
  using Kind = HttpFailure::Kind;
  // What a proxy says is no word of the provider's, which would have its key in the clear.
  if (is_tls_problem(code) && !may_use_proxy() && is_answered_in_the_clear(tls_problem()))
    return HttpFailure{Kind::no_tls, host +
                                         " does not speak TLS; if it serves plain HTTP, give its URL with "
                                         "http:// in place of https://"};
  if (is_tls_problem(code)) {
    const char* const advice = code == CURLE_SSL_CACERT_BADFILE ? "; check SSL_CERT_FILE and SSL_CERT_DIR"
                               : may_use_proxy()                ? "; check HTTPS_PROXY and NO_PROXY"
                                                                : "";
    return HttpFailure{Kind::could_not_connect,
                       "no TLS connection to " + host + ": " + tls_problem() + advice};
  }
  long by_proxy = 0;
  if (sends_ == 0) curl().easy_getinfo(easy_.get(), CURLINFO_HTTP_CONNECTCODE, &by_proxy);
  if (by_proxy >= 300)
    return HttpFailure{Kind::could_not_connect, "the proxy refuses a connection to " + host +
                                                    " with status " + std::to_string(by_proxy) +
                                                    "; check HTTPS_PROXY and NO_PROXY"};
  if (code == CURLE_COULDNT_RESOLVE_HOST)
    return HttpFailure{Kind::could_not_resolve, "the name of " + host + " has no address"};
  if (code == CURLE_COULDNT_RESOLVE_PROXY)
    return HttpFailure{Kind::could_not_resolve, "the name of the proxy for " + host + " has no address"};
  if (code == CURLE_COULDNT_CONNECT) {
    long number = 0;
    curl().easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &number);
    const std::string why = number != 0 ? std::string(": ") + std::strerror(static_cast<int>(number)) : "";
    return HttpFailure{Kind::could_not_connect, "could not connect to " + host + why};
  }
  const bool connecting_ends_first =
      connect_timeout_.count() > 0 && (total_timeout_.count() == 0 || connect_timeout_ < total_timeout_);
  if (code == CURLE_OPERATION_TIMEDOUT && sends_ == 0 && connecting_ends_first) {
    long own_port = 0;  // Of the connection; curl does not know it of each that stands.
    curl().easy_getinfo(easy_.get(), CURLINFO_LOCAL_PORT, &own_port);
    const bool tls_is_silent = own_port > 0 && !may_use_proxy() && url_.starts_with("https:");
    return HttpFailure{Kind::could_not_connect,
                       host +
                           (tls_is_silent ? " accepted a connection, and answered no TLS within "
                                          : " did not accept a connection within ") +
                           seconds(connect_timeout_) +
                           (tls_is_silent ? "; if it serves plain HTTP, give its URL with http://" : "")};
  }
  return std::nullopt;
}

HttpFailure Transfer::broken_exchange(CURLcode code, const std::string& host) const {
  using Kind = HttpFailure::Kind;
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return {Kind::timed_out, host + " did not answer within " + seconds(total_timeout_)};
    case CURLE_ABORTED_BY_CALLBACK:
      if (missed_window_)
        return {Kind::permit_expired, "the call to " + host + " came too late for its permit"};
      // curl was about to send the request for a second time.
      return {Kind::went_stale, host + " closed a kept connection without an answer"};
    case CURLE_GOT_NOTHING:
      return {Kind::connection_lost, host + " closed the connection without an answer"};
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2_STREAM:
      return {Kind::connection_lost, host + " closed the connection in the middle of its answer"};
    case CURLE_BAD_CONTENT_ENCODING:
      return {Kind::connection_lost, host + " sent a packed answer that cannot be unpacked"};
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
      return {Kind::connection_lost, "the connection to " + host + " broke"};
    default:
      return {Kind::other, "the call to " + host + " failed: " + curl().easy_strerror(code)};
  }
}

}  // namespace sluice
