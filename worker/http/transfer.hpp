#pragma once

#include "worker/http/call_log.hpp"
#include "worker/http/curl_library.hpp"
#include "worker/http/http_call.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Whether calls may go by a proxy: a connection to it says nothing of the way beyond. Read once.
bool may_use_proxy();

/// One curl easy handle that carries out one call after the other. What stays the same between calls is not
/// set again. Must not move while a call is under way (curl holds its address); not thread-safe.
/// REQUIRES, for all of it: load_curl() has succeeded.
class Transfer {
 public:
  Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// False if curl could not make the handle (out of memory); nothing else may be called then.
  bool usable() const { return easy_ != nullptr; }
  CURL* handle() const { return easy_.get(); }
  std::uint64_t id() const { return call_.id; }

  /// Takes the call; the handle is then ready for curl_multi_add_handle. `log` may be null, and lives as
  /// long as the call.
  void begin(HttpCall call, CallLog* log = nullptr);
  /// True if the call has just missed its window on a connection of its own, which went with it: the next try
  /// would not fare better. Once a call.
  bool wants_warm_up(CURLcode code) const;
  /// Turns the handle, out of the multi handle, to a HEAD of the bare host. When that has come to its end,
  /// however, `finish` returns what became of the call.
  void begin_warm_up();
  /// The outcome, after curl reported the end with this code.
  HttpDone finish(CURLcode code);
  /// The outcome of a call that was ended from this side. REQUIRES: the handle left the multi handle.
  HttpDone abandon(HttpFailure failure);
  /// Host and port of the call, without user info: for messages.
  std::string peer() const;

 private:
  struct EasyDeleter {
    void operator()(CURL* easy) const { curl().easy_cleanup(easy); }
  };
  struct ListDeleter {
    void operator()(curl_slist* list) const { curl().slist_free_all(list); }
  };

  void set_constant_options();
  void set_headers(std::vector<std::string> headers);
  void set_unpacking(bool unpacks);
  void end_warm_up();
  void forget_body();
  int may_send();
  bool header_line(std::string_view line);
  bool succeeds() const;
  bool body_bytes(std::string_view bytes);
  std::string tls_problem() const;
  HttpFailure failure_of(CURLcode code) const;
  std::optional<HttpFailure> refusal_of_ours(CURLcode code, const std::string& host) const;
  std::optional<HttpFailure> failed_connection(CURLcode code, const std::string& host) const;
  HttpFailure broken_exchange(CURLcode code, const std::string& host) const;
  HttpDone done();

  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self);
  static int on_send(void* self, char*, char*, int, int);

  std::unique_ptr<curl_slist, ListDeleter> header_list_;  ///< Outlives the handle that refers to it.
  std::unique_ptr<CURL, EasyDeleter> easy_;
  char tls_problem_[CURL_ERROR_SIZE] = {};

  // What the handle was last set to.
  std::string url_;
  std::vector<std::string> headers_;
  bool fresh_connection_ = false;
  bool unpacks_ = true;
  std::chrono::milliseconds connect_timeout_{-1};
  std::chrono::milliseconds total_timeout_{-1};

  // The call under way.
  HttpCall call_;     ///< Without its request.
  std::string body_;  ///< The request's, whole.
  HttpResponse response_;
  std::chrono::steady_clock::time_point began_;
  std::size_t header_bytes_ = 0;
  CallLog* log_ = nullptr;
  int sends_ = 0;
  bool too_large_ = false;
  bool headers_too_large_ = false;
  bool encoded_ = false;  ///< In a way that nobody asked for.
  bool missed_window_ = false;
  bool warming_up_ = false;
};

}  // namespace sluice
