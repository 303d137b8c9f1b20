#include "common/sha256_stream.hpp"

#include <cstdlib>

#include <openssl/evp.h>

namespace sluice {

namespace {

/// Without SHA-256 no checksum could be trusted, so there is nothing sensible to go on with (as in hash.cpp).
void require_success(int ok) {
  if (ok != 1) std::abort();
}

}  // namespace

struct Sha256Stream::Context {
  EVP_MD_CTX* md = EVP_MD_CTX_new();
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_MD_CTX_free(md); }
  void begin() { require_success(EVP_DigestInit_ex(md, EVP_sha256(), nullptr)); }
};

Sha256Stream::Sha256Stream() : context_(std::make_unique<Context>()) {
  context_->begin();
}

Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::update(std::string_view bytes) {
  require_success(EVP_DigestUpdate(context_->md, bytes.data(), bytes.size()));
}

Digest Sha256Stream::finish() {
  Digest digest{};
  require_success(EVP_DigestFinal_ex(context_->md, digest.data(), nullptr));
  context_->begin();
  return digest;
}

}  // namespace sluice
