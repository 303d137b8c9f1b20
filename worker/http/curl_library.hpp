#pragma once

#include "common/error.hpp"

#include <curl/curl.h>

namespace sluice {

/// What sluice calls of libcurl. It is loaded when it is needed: with what it needs in turn (Kerberos, LDAP,
/// a second TLS library) it takes longer to load than everything else together (docs/benchmarks.md).
struct CurlLibrary {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_version_info) version_info = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_multi_init) multi_init = nullptr;
  decltype(&::curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&::curl_multi_setopt) multi_setopt = nullptr;
  decltype(&::curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&::curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&::curl_multi_socket_action) multi_socket_action = nullptr;
  decltype(&::curl_multi_info_read) multi_info_read = nullptr;
  decltype(&::curl_multi_strerror) multi_strerror = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
  decltype(&::curl_url) url = nullptr;
  decltype(&::curl_url_cleanup) url_cleanup = nullptr;
  decltype(&::curl_url_get) url_get = nullptr;
  decltype(&::curl_url_set) url_set = nullptr;
  decltype(&::curl_free) free = nullptr;
};

/// Opens the shared library and finds its functions. It stays open. An error names the file and what to
/// install.
Result<CurlLibrary> open_curl(const char* file);

/// The library, opened and initialised once a process. Thread-safe.
const Result<CurlLibrary>& load_curl();

/// REQUIRES: load_curl() has succeeded.
inline const CurlLibrary& curl() {
  return *load_curl();
}

}  // namespace sluice
