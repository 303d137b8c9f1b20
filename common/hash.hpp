#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// A SHA-256 value.
using Digest = std::array<std::uint8_t, 32>;

/// SHA-256 of bytes that come in pieces: the same value as `sha256` of them all. Not thread-safe.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(const Sha256Stream&) = delete;
  Sha256Stream& operator=(const Sha256Stream&) = delete;

  void update(std::string_view bytes);
  /// Forgets its own bytes and goes on from those that the other has been fed.
  void resume(const Sha256Stream& other);
  /// The digest of all bytes so far; the stream is then empty and may be used again.
  Digest finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// SHA-256 over length-prefixed fields: each field is hashed as its length (8 bytes, little endian) and its
/// bytes, so that no two different lists of fields feed the same bytes. Not thread-safe.
class FieldHasher {
 public:
  FieldHasher& field(std::string_view bytes);
  FieldHasher& field(std::uint64_t number);  ///< As its decimal text.
  /// Forgets its own fields and goes on from those that the other has been fed.
  FieldHasher& resume(const FieldHasher& other);
  /// The digest of the fields so far; the hasher is then empty and may be used again.
  Digest finish() { return stream_.finish(); }

 private:
  Sha256Stream stream_;
};

/// SHA-256 of the bytes alone (for texts, prompts and files).
Digest sha256(std::string_view bytes);
/// 64 lower-case hex digits.
std::string to_hex(const Digest& digest);
/// Reads what to_hex writes.
std::optional<Digest> digest_from_hex(std::string_view hex);
/// `sha256:` and the hex digits: the form of hashes in files.
std::string to_prefixed_hex(const Digest& digest);
/// True for the all-zero digest, which stands for "none".
bool is_zero(const Digest& digest);

}  // namespace sluice
