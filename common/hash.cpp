#include "common/hash.hpp"

#include <algorithm>
#include <cstdlib>

#include <openssl/evp.h>

namespace sluice {

namespace {

/// OpenSSL 3 looks algorithms up by name; one look-up serves the whole process.
const EVP_MD* sha256_method() {
  static const EVP_MD* method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return method;
}

/// Without SHA-256 there is no key that could be trusted, so there is nothing sensible to go on with.
void require(int ok) {
  if (ok != 1) std::abort();
}

constexpr std::string_view hex_digits = "0123456789abcdef";

int hex_value(char digit) {
  const auto position = hex_digits.find(digit);
  return position == std::string_view::npos ? -1 : static_cast<int>(position);
}

}  // namespace

struct FieldHasher::Context {
  EVP_MD_CTX* md = EVP_MD_CTX_new();
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_MD_CTX_free(md); }
};

FieldHasher::FieldHasher() : context_(std::make_unique<Context>()) {
  require(EVP_DigestInit_ex2(context_->md, sha256_method(), nullptr));
}

FieldHasher::~FieldHasher() = default;

FieldHasher& FieldHasher::field(std::string_view bytes) {
  std::array<unsigned char, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(bytes.size()) >> (8 * i));
  }
  require(EVP_DigestUpdate(context_->md, length.data(), length.size()));
  require(EVP_DigestUpdate(context_->md, bytes.data(), bytes.size()));
  return *this;
}

FieldHasher& FieldHasher::field(std::uint64_t number) {
  return field(std::to_string(number));
}

FieldHasher& FieldHasher::resume(const FieldHasher& other) {
  require(EVP_MD_CTX_copy_ex(context_->md, other.context_->md));
  return *this;
}

Digest FieldHasher::finish() {
  Digest digest{};
  require(EVP_DigestFinal_ex(context_->md, digest.data(), nullptr));
  require(EVP_DigestInit_ex2(context_->md, sha256_method(), nullptr));
  return digest;
}

Digest sha256(std::string_view bytes) {
  Digest digest{};
  require(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, sha256_method(), nullptr));
  return digest;
}

std::string to_hex(const Digest& digest) {
  std::string hex(2 * digest.size(), '\0');
  auto digit = hex.begin();
  for (const auto byte : digest) {
    *digit++ = hex_digits[byte >> 4];
    *digit++ = hex_digits[byte & 15];
  }
  return hex;
}

std::optional<Digest> digest_from_hex(std::string_view hex) {
  Digest digest{};
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const int high = hex_value(hex[2 * i]);
    const int low = hex_value(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return digest;
}

std::string to_prefixed_hex(const Digest& digest) {
  return "sha256:" + to_hex(digest);
}

bool is_zero(const Digest& digest) {
  return std::ranges::all_of(digest, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace sluice
