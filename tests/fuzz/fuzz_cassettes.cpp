// Cassettes and cache entries: files that may come from anywhere. What is wrong with them is named in one
// sentence; what is read of them keeps its promises. The first byte says how far an input is made to look
// whole: a file as it is, one that is compressed and sealed, or a single entry.
#include "common/hash.hpp"
#include "tests/fuzz/fuzzed_input.hpp"
#include "worker/cache/cassette_format.hpp"
#include "worker/cache/cassette_reader.hpp"
#include "worker/cache/entry.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>
#include <zstd.h>

namespace {

using namespace sluice;

void check_sentence(const Error& error) {
  SLUICE_PROMISE(!error.message.empty() && error.message.find('\n') == std::string::npos);
}

void check_file(std::string_view bytes) {
  static const auto file =
      std::filesystem::temp_directory_path() / ("fuzz-cassette-" + std::to_string(getpid()));
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  auto reader = CassetteReader::open(file);
  if (!reader) return check_sentence(reader.error());
  const auto sound = reader->verify();
  if (!sound) check_sentence(sound.error());
  const auto visited = reader->visit([](const CassetteEntry& entry) -> Result<void> {
    SLUICE_PROMISE(cache_entry::rank(entry.kind, entry.key, entry.bytes).has_value());
    return {};
  });
  if (!visited) check_sentence(visited.error());
  if (sound) SLUICE_PROMISE(visited.has_value());
}

void check_compressed(std::string_view content) {
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), 1));
  std::string bytes(cassette::magic);
  bytes += static_cast<char>(cassette::version);
  bytes += frame;
  const auto sum = sha256(bytes);
  bytes.append(reinterpret_cast<const char*>(sum.data()), sum.size());
  check_file(bytes);
}

void check_entry(std::string_view bytes) {
  const auto key = sha256("key");
  for (const auto kind : every_entry_kind) {
    const auto rank = cache_entry::rank(kind, key, bytes);
    if (!rank) check_sentence(rank.error());
  }
  const auto answer = cache_entry::decode(key, bytes);
  if (answer) SLUICE_PROMISE(cache_entry::decode(key, cache_entry::encode(key, *answer)).has_value());
  const auto embedding = cache_entry::decode_embedding(key, bytes);
  if (embedding)
    SLUICE_PROMISE(cache_entry::decode_embedding(key, cache_entry::encode(key, *embedding)).has_value());
}

/// The bytes as the payload of an entry whose checksum fits.
std::string sealed(char format, std::string_view payload) {
  const auto key = sha256("key");
  FieldHasher hasher;
  const auto sum =
      hasher.field({reinterpret_cast<const char*>(key.data()), key.size()}).field(payload).finish();
  std::string bytes(1, format);
  bytes.append(reinterpret_cast<const char*>(sum.data()), sum.size());
  return bytes.append(payload);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::FuzzedInput input(data, size);
  const auto form = input.below(5);
  const auto bytes = input.rest();
  if (form == 0) check_file(bytes);
  if (form == 1) check_compressed(bytes);
  if (form == 2) check_entry(bytes);
  if (form > 2) check_entry(sealed(static_cast<char>(form - 2), bytes));
  return 0;
}
