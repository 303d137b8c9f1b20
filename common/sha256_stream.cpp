#include "common/sha256_stream.hpp"

#define OPENSSL_SUPPRESS_DEPRECATED  // See hash.cpp.
#include <openssl/sha.h>

namespace sluice {

struct Sha256Stream::Context : SHA256_CTX {};

Sha256Stream::Sha256Stream() : context_(std::make_unique<Context>()) {
  SHA256_Init(context_.get());
}

Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::update(std::string_view bytes) {
  SHA256_Update(context_.get(), bytes.data(), bytes.size());
}

Digest Sha256Stream::finish() {
  Digest digest{};
  SHA256_Final(digest.data(), context_.get());
  SHA256_Init(context_.get());
  return digest;
}

}  // namespace sluice
