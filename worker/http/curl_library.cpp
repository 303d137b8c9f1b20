#include "worker/http/curl_library.hpp"

#include <string>

#include <dlfcn.h>

namespace sluice {

namespace {

/// The name of the library's interface, which Debian's libcurl4 and everybody else's OpenSSL build have had
/// since 2006.
constexpr const char* curl_file = "libcurl.so.4";

Error not_loaded(const std::string& why) {
  return {Reason::internal_error,
          "calls need libcurl, which cannot be loaded: " + why + "; install it (apt-get install libcurl4)"};
}

/// Finds functions by name, and remembers the first that is missing.
struct Finder {
  void* library = nullptr;
  const char* missing = nullptr;

  template <typename Function>
  void operator()(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (function == nullptr && missing == nullptr) missing = name;
  }
};

Result<CurlLibrary> open_and_initialise() {
  auto library = open_curl(curl_file);
  if (!library) return library;
  const CURLcode code = library->global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) return tl::unexpected(not_loaded(library->easy_strerror(code)));
  return library;
}

}  // namespace

Result<CurlLibrary> open_curl(const char* file) {
  void* const opened = ::dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (opened == nullptr) return tl::unexpected(not_loaded(::dlerror()));
  CurlLibrary found;
  Finder find{opened};
  find(found.global_init, "curl_global_init");
  find(found.version_info, "curl_version_info");
  find(found.easy_init, "curl_easy_init");
  find(found.easy_cleanup, "curl_easy_cleanup");
  find(found.easy_setopt, "curl_easy_setopt");
  find(found.easy_getinfo, "curl_easy_getinfo");
  find(found.easy_strerror, "curl_easy_strerror");
  find(found.multi_init, "curl_multi_init");
  find(found.multi_cleanup, "curl_multi_cleanup");
  find(found.multi_setopt, "curl_multi_setopt");
  find(found.multi_add_handle, "curl_multi_add_handle");
  find(found.multi_remove_handle, "curl_multi_remove_handle");
  find(found.multi_socket_action, "curl_multi_socket_action");
  find(found.multi_info_read, "curl_multi_info_read");
  find(found.multi_strerror, "curl_multi_strerror");
  find(found.slist_append, "curl_slist_append");
  find(found.slist_free_all, "curl_slist_free_all");
  find(found.url, "curl_url");
  find(found.url_cleanup, "curl_url_cleanup");
  find(found.url_get, "curl_url_get");
  find(found.url_set, "curl_url_set");
  find(found.free, "curl_free");
  if (find.missing != nullptr)
    return tl::unexpected(not_loaded(std::string(file) + " lacks " + find.missing));
  return found;
}

const Result<CurlLibrary>& load_curl() {
  static const Result<CurlLibrary> library = open_and_initialise();
  return library;
}

}  // namespace sluice
