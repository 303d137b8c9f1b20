#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// A cassette (docs/cassettes.md): the magic bytes, a version byte, one zstd frame, and the SHA-256 of all
/// bytes before it. The frame holds the entries, ascending by (kind, key): kind (1 byte), key (32 bytes),
/// length (4 bytes, little endian), and as many bytes in the form of worker/cache/entry.hpp; then `end_mark`
/// and the number of entries (8 bytes, little endian).
namespace sluice::cassette {

/// Not valid UTF-8, so that no tool takes the file for text, and with a line end, which shows where one did.
inline constexpr std::string_view magic = "\x8eSLUICE\n";
/// Version 1 has no votes: a sluice from before them reads whatever it can.
inline constexpr std::uint8_t version = 2;
inline constexpr std::uint8_t version_without_votes = 1;
constexpr std::uint8_t version_for(bool votes) {
  return votes ? version : version_without_votes;
}
inline constexpr std::uint8_t end_mark = 0xFF;
inline constexpr std::size_t header_bytes = magic.size() + 1;
inline constexpr std::size_t checksum_bytes = 32;
inline constexpr std::size_t entry_head_bytes = 1 + 32 + 4;

/// log2 of the bytes that the decompressor must keep: answers of one suite resemble each other, and 4 MiB of
/// memory are nothing. A file that asks for more is refused.
inline constexpr int window_log = 22;

}  // namespace sluice::cassette
