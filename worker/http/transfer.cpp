#include "worker/http/transfer.hpp"

#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace sluice {
namespace {

/// The user's no_proxy, and loopback: a call to this machine, with its key, goes to no other.
const std::string& no_proxy() {
  static const std::string hosts = [] {
    std::string list;
    for (const char* name : {"no_proxy", "NO_PROXY"}) {
      const char* value = std::getenv(name);
      if (value && list.empty()) list = value;
    }
    // A lone asterisk is no list: it stands for every host already.
    if (list == "*") return list;
    return list + (list.empty() ? "" : ",") + "localhost,127.0.0.1,::1";
  }();
  return hosts;
}

/// Four times the mean deviation of the round trip, as TCP itself bounds it for its time-outs.
std::chrono::microseconds way_variation(CURL* easy) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  if (may_use_proxy() || curl().easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK) return {};
  tcp_info info{};
  socklen_t size = sizeof info;
  if (socket == CURL_SOCKET_BAD || getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return std::chrono::microseconds(4 * std::uint64_t{info.tcpi_rttvar});
}

/// Where the trusted certificates are, as every program that uses OpenSSL takes it; curl's library does not
/// look.
void use_named_certificates(CURL* easy) {
  const auto use = [easy](const char* variable, CURLoption option) {
    const char* path = std::getenv(variable);
    if (path != nullptr && *path != '\0') curl().easy_setopt(easy, option, path);
  };
  use("SSL_CERT_FILE", CURLOPT_CAINFO);
  use("SSL_CERT_DIR", CURLOPT_CAPATH);
}

bool can_unpack() {
  static const bool can = (curl().version_info(CURLVERSION_NOW)->features & CURL_VERSION_LIBZ) != 0;
  return can;
}

/// What servers write into Content-Encoding that is no way to pack a body: how its text, or a mail, is coded.
bool packs_nothing(std::string_view encoding) {
  constexpr std::string_view codings[] = {"utf-8",      "utf8", "us-ascii", "ascii",
                                          "iso-8859-1", "7bit", "8bit",     "binary"};
  return std::ranges::find(codings, encoding) != std::end(codings) ||
         (encoding.find('/') != std::string_view::npos && encoding.find(',') == std::string_view::npos);
}

/// Whether the last of the headers names an encoding that nobody asked for: curl unpacks whatever it knows,
/// and until its 8.1 on its way, too. Several, one around the other, are a bomb.
bool names_unasked_encoding(const HttpHeaders& headers) {
  const auto& [name, value] = headers.back();
  const std::string encoding = to_lower(value);
  if (name == "transfer-encoding") return encoding != "chunked" && encoding != "identity";
  // Proxies say "none" so that nobody on the way holds the answer back; curl takes it as that, too.
  const bool is_plain = encoding.empty() || encoding == "identity" || encoding == "none";
  if (name != "content-encoding" || is_plain) return false;
  const auto names_one = [](const auto& header) { return header.first == "content-encoding"; };
  const bool is_asked_for = encoding == "gzip" || encoding == "x-gzip" || encoding == "deflate";
  return !(is_asked_for || packs_nothing(encoding)) || std::ranges::count_if(headers, names_one) > 1;
}

}  // namespace

bool may_use_proxy() {
  static const bool is_set = [] {
    for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
      const char* value = std::getenv(name);
      if (value != nullptr && *value != '\0') return true;
    }
    return false;
  }();
  return is_set;
}

Transfer::Transfer() : easy_(curl().easy_init()) {
  if (easy_) set_constant_options();
}

void Transfer::set_constant_options() {
  auto* easy = easy_.get();
  curl().easy_setopt(easy, CURLOPT_PRIVATE, static_cast<void*>(this));
  curl().easy_setopt(easy, CURLOPT_POST, 1L);
  curl().easy_setopt(easy, CURLOPT_NOPROXY, no_proxy().c_str());
  use_named_certificates(easy);
  curl().easy_setopt(easy, CURLOPT_SSLVERSION,
                     CURL_SSLVERSION_TLSv1_2);  // And newer, whatever the system allows.
  curl().easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl().easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // A cancelled call does not wait for a slow name server.
  curl().easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl().easy_setopt(easy, CURLOPT_HTTP_VERSION,
                     CURL_HTTP_VERSION_2TLS);            // HTTP/1.1 in the clear, ALPN over TLS.
  curl().easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);  // A redirect must not carry the key elsewhere.
  curl().easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl().easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  curl().easy_setopt(easy, CURLOPT_TCP_KEEPALIVE,
                     1L);  // Long answers cross NATs that forget quiet connections.
  // Some servers pack whatever they send. The bound of a body counts what is unpacked.
  if (can_unpack()) curl().easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
  curl().easy_setopt(easy, CURLOPT_USERAGENT, "sluice/" SLUICE_VERSION);
  curl().easy_setopt(easy, CURLOPT_ERRORBUFFER, tls_problem_);
  curl().easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  curl().easy_setopt(easy, CURLOPT_HEADERDATA, static_cast<void*>(this));
  curl().easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  curl().easy_setopt(easy, CURLOPT_WRITEDATA, static_cast<void*>(this));
  curl().easy_setopt(easy, CURLOPT_PREREQFUNCTION, &Transfer::on_send);
  curl().easy_setopt(easy, CURLOPT_PREREQDATA, static_cast<void*>(this));
}

void Transfer::set_headers(std::vector<std::string> headers) {
  if (header_list_ && headers == headers_) return;
  std::unique_ptr<curl_slist, ListDeleter> list;
  const auto append = [&list](const char* line) {
    if (auto* longer = curl().slist_append(list.get(), line)) {
      static_cast<void>(list.release());
      list.reset(longer);
    }
  };
  append("Expect:");  // Else curl asks before it sends a body of over 1 MiB, and waits a second for a yes.
  for (const auto& header : headers) append(header.c_str());
  curl().easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, list.get());
  header_list_ = std::move(list);
  headers_ = std::move(headers);
}

void Transfer::set_unpacking(bool unpacks) {
  if (unpacks == unpacks_) return;
  unpacks_ = unpacks;
  curl().easy_setopt(easy_.get(), CURLOPT_HTTP_CONTENT_DECODING, unpacks ? 1L : 0L);
}

void Transfer::begin(HttpCall call, CallLog* log) {
  auto* easy = easy_.get();
  auto request = std::exchange(call.request, {});
  call_ = std::move(call);
  response_ = {};
  header_bytes_ = 0;
  log_ = log;
  sends_ = 0;
  too_large_ = false;
  headers_too_large_ = false;
  encoded_ = false;
  missed_window_ = false;
  set_unpacking(true);
  began_ = std::chrono::steady_clock::now();

  if (request.url != url_) {
    url_ = std::move(request.url);
    curl().easy_setopt(easy, CURLOPT_URL, url_.c_str());
  }
  set_headers(std::move(request.headers));
  request.shared ? put_together(request, body_) : body_.swap(request.body);
  curl().easy_setopt(easy, CURLOPT_POSTFIELDS, body_.data());
  curl().easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body_.size()));
  if (call_.fresh_connection != fresh_connection_) {
    fresh_connection_ = call_.fresh_connection;
    curl().easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh_connection_ ? 1L : 0L);
  }
  if (call_.connect_timeout != connect_timeout_) {
    connect_timeout_ = call_.connect_timeout;
    curl().easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_timeout_.count()));
  }
  if (call_.total_timeout != total_timeout_) {
    total_timeout_ = call_.total_timeout;
    curl().easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(total_timeout_.count()));
  }
}

HttpDone Transfer::done() {
  HttpDone result;
  result.id = call_.id;
  result.started = sends_ > 0;
  result.elapsed =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began_);
  return result;
}

bool Transfer::wants_warm_up(CURLcode code) const {
  if (code != CURLE_ABORTED_BY_CALLBACK || !missed_window_ || warming_up_) return false;
  long new_connections = 0;
  curl().easy_getinfo(easy_.get(), CURLINFO_NUM_CONNECTS, &new_connections);
  return new_connections > 0;
}

void Transfer::begin_warm_up() {
  auto* easy = easy_.get();
  warming_up_ = true;
  const auto end = url_.find_first_of("/?#", url_.find("://") + 3);
  url_.resize(std::min(end, url_.size()));
  curl().easy_setopt(easy, CURLOPT_URL, url_.c_str());
  set_headers({});
  curl().easy_setopt(easy, CURLOPT_NOBODY, 1L);
  total_timeout_ = std::max(connect_timeout_, std::chrono::milliseconds(1));
  curl().easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(total_timeout_.count()));
}

/// Back to calls; what `begin` sets is set anew.
void Transfer::end_warm_up() {
  auto* easy = easy_.get();
  warming_up_ = false;
  too_large_ = false;
  headers_too_large_ = false;
  encoded_ = false;
  curl().easy_setopt(easy, CURLOPT_NOBODY, 0L);
  curl().easy_setopt(easy, CURLOPT_POST, 1L);
}

HttpDone Transfer::finish(CURLcode code) {
  if (warming_up_) {
    end_warm_up();
    code = CURLE_ABORTED_BY_CALLBACK;
  }
  auto result = done();
  if (code == CURLE_OK) {
    long status = 0;
    curl().easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    response_.status = static_cast<int>(status);
    result.response = std::move(response_);
    result.variation = way_variation(easy_.get());
  } else {
    result.failure = failure_of(code);
  }
  forget_body();
  return result;
}

HttpDone Transfer::abandon(HttpFailure failure) {
  if (warming_up_) end_warm_up();
  auto result = done();
  result.failure = std::move(failure);
  forget_body();
  return result;
}

void Transfer::forget_body() {
  if (body_.capacity() > defaults::max_kept_body_bytes) std::string().swap(body_);
}

bool Transfer::header_line(std::string_view line) {
  header_bytes_ += line.size();
  headers_too_large_ = header_bytes_ > defaults::max_header_bytes;
  if (headers_too_large_) return false;
  if (line.starts_with("HTTP/")) {  // The final answer after an interim one (1xx) starts anew.
    response_.headers.clear();
    return true;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return true;  // The empty line at the end.
  response_.headers.emplace_back(to_lower(trimmed(line.substr(0, colon))), trimmed(line.substr(colon + 1)));
  // What refuses the call counts by its status and headers, in whatever its page is packed.
  encoded_ = names_unasked_encoding(response_.headers) && succeeds();
  // Of a name that it does not know curl makes an error; an older one asks for this only when a body comes.
  const auto& [name, value] = response_.headers.back();
  if (name == "content-encoding" && packs_nothing(to_lower(value))) set_unpacking(false);
  return !encoded_;
}

/// The status of the answer whose headers are coming says so.
bool Transfer::succeeds() const {
  long status = 0;
  curl().easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  return status >= 200 && status < 300;
}

bool Transfer::body_bytes(std::string_view bytes) {
  auto& body = response_.body;
  if (body.empty()) {
    curl_off_t announced = -1;
    curl().easy_getinfo(easy_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    if (announced > 0) {
      too_large_ = std::cmp_greater(announced, call_.max_body);
      body.reserve(std::min(static_cast<std::size_t>(announced), defaults::max_reserved_body_bytes));
    }
  }
  too_large_ = too_large_ || bytes.size() > call_.max_body - body.size();
  if (too_large_) return false;
  body.append(bytes);
  return true;
}

std::size_t Transfer::on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
  return static_cast<Transfer*>(self)->header_line({bytes, size * count}) ? size * count : 0;
}

std::size_t Transfer::on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
  return static_cast<Transfer*>(self)->body_bytes({bytes, size * count}) ? size * count : 0;
}

// Called when a request is about to go out. curl sends a POST again, unasked, when a kept connection closes
// before it answered: that would be a second paid call which nobody counts.
int Transfer::on_send(void* self, char*, char*, int, int) {
  return static_cast<Transfer*>(self)->may_send();
}

int Transfer::may_send() {
  if (warming_up_) return CURL_PREREQFUNC_OK;
  if (sends_ > 0) return CURL_PREREQFUNC_ABORT;
  const bool is_logged = log_ != nullptr && !call_.log_members.empty();
  const auto now = call_.window || is_logged ? boot_clock_now() : BootTime();
  missed_window_ = call_.window && (now < call_.window->from || now > call_.window->to);
  if (missed_window_) return CURL_PREREQFUNC_ABORT;
  ++sends_;
  if (is_logged) log_->write(now, call_.log_members);
  return CURL_PREREQFUNC_OK;
}

}  // namespace sluice
