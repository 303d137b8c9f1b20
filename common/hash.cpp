#include "common/hash.hpp"

#include <algorithm>

// OpenSSL calls its interface to this one algorithm deprecated. The general one looks each up by its name,
// which takes a millisecond of the start of a process, and brings all of them along.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

namespace sluice {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

int hex_value(char digit) {
  const auto position = hex_digits.find(digit);
  return position == std::string_view::npos ? -1 : static_cast<int>(position);
}

}  // namespace

struct Sha256Stream::Context : SHA256_CTX {};

Sha256Stream::Sha256Stream() : context_(std::make_unique<Context>()) {
  SHA256_Init(context_.get());
}

Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::update(std::string_view bytes) {
  SHA256_Update(context_.get(), bytes.data(), bytes.size());
}

void Sha256Stream::resume(const Sha256Stream& other) {
  *context_ = *other.context_;
}

Digest Sha256Stream::finish() {
  Digest digest{};
  SHA256_Final(digest.data(), context_.get());
  SHA256_Init(context_.get());
  return digest;
}

FieldHasher& FieldHasher::field(std::string_view bytes) {
  std::array<char, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<char>(static_cast<std::uint64_t>(bytes.size()) >> (8 * i));
  }
  stream_.update({length.data(), length.size()});
  stream_.update(bytes);
  return *this;
}

FieldHasher& FieldHasher::field(std::uint64_t number) {
  return field(std::to_string(number));
}

FieldHasher& FieldHasher::resume(const FieldHasher& other) {
  stream_.resume(other.stream_);
  return *this;
}

// Without a Sha256Stream, which allocates.
Digest sha256(std::string_view bytes) {
  Digest digest{};
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Final(digest.data(), &context);
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
