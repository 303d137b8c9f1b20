#pragma once

#include "common/checks/key_mask.hpp"
#include "common/settings/settings.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// A header whose value is a secret.
struct SecretHeader {
  std::string name;
  std::string prefix;  ///< Stands before the secret ("Bearer ").
  std::string secret;
  friend bool operator==(const SecretHeader&, const SecretHeader&) = default;
};

/// What the worker's own settings say of a provider of kind `http` or `exec`: none of it comes over the wire.
struct OwnFormat {
  std::string body{};  ///< `http`: a template, as JSON.
  AnswerPointers answer{};
  std::vector<std::string> command{};  ///< `exec`
  std::string command_identity{};      ///< What the cache keys of its answers stand for; empty: named.
  std::string command_state{};         ///< Of the files of the command, before that was made.
  std::string key_variable{};          ///< The only secret that the program sees; empty: none.
  std::vector<std::string> hidden_variables{};  ///< With the secrets of all providers.
};

/// What a provider lets a worker in by. It goes into requests, and nowhere else: never log it.
struct Credentials {
  Credentials() = default;
  Credentials(std::string api_key, std::vector<SecretHeader> secret_headers = {})
      : key(std::move(api_key)), headers(std::move(secret_headers)) {}
  Credentials(std::string_view api_key) : key(api_key) {}
  Credentials(const char* api_key) : key(api_key) {}

  std::string key;  ///< Empty: the provider is called without one.
  std::vector<SecretHeader> headers;
  std::shared_ptr<const OwnFormat> own;  ///< Null for the other kinds.

  /// Finds all of them in what a provider sends.
  KeyMask mask(KeyMask::Keys which = KeyMask::Keys::unmistakable) const {
    std::vector<std::string> secrets;
    if (!key.empty()) secrets.push_back(key);
    for (const SecretHeader& one : headers) secrets.push_back(one.secret);
    return KeyMask(secrets, which);
  }
  friend bool operator==(const Credentials&, const Credentials&) = default;
};

}  // namespace sluice
