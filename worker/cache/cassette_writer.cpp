#include "worker/cache/cassette_writer.hpp"

#include "common/hash.hpp"
#include "worker/cache/cassette_format.hpp"
#include "worker/defaults.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <zstd.h>

namespace sluice {

namespace {

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

template <class Number>
void append_number(std::string& out, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) out += static_cast<char>(number >> (8 * i));
}

}  // namespace

struct CassetteWriter::State {
  std::function<void(std::string_view)> write;
  std::unique_ptr<ZSTD_CCtx, FreeCompressor> context{ZSTD_createCCtx()};
  std::vector<char> compressed = std::vector<char>(ZSTD_CStreamOutSize());
  Sha256Stream checksum;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::string head;
  bool ready = false;

  void put(std::string_view piece) {
    checksum.update(piece);
    bytes += piece.size();
    write(piece);
  }

  void begin(std::uint8_t version) {
    put(cassette::magic);
    const char byte = static_cast<char>(version);
    put({&byte, 1});
    // One thread and no checksum of zstd's own: nothing but the content decides the bytes.
    const std::array settings{std::pair{ZSTD_c_compressionLevel, defaults::cassette_compression_level},
                              std::pair{ZSTD_c_windowLog, cassette::window_log},
                              std::pair{ZSTD_c_checksumFlag, 0}, std::pair{ZSTD_c_contentSizeFlag, 0}};
    ready = context != nullptr;
    for (const auto& [name, value] : settings) {
      ready = ready && !ZSTD_isError(ZSTD_CCtx_setParameter(context.get(), name, value));
    }
  }

  Result<void> compress(std::string_view content, ZSTD_EndDirective directive) {
    if (!ready) return fail(Reason::output_failed, "the cassette cannot be compressed: zstd does not start");
    ZSTD_inBuffer in{content.data(), content.size(), 0};
    for (bool done = false; !done;) {
      ZSTD_outBuffer out{compressed.data(), compressed.size(), 0};
      const std::size_t left = ZSTD_compressStream2(context.get(), &out, &in, directive);
      if (ZSTD_isError(left)) {
        return fail(Reason::output_failed,
                    std::string("the cassette cannot be compressed: ") + ZSTD_getErrorName(left));
      }
      if (out.pos > 0) put({compressed.data(), out.pos});
      done = directive == ZSTD_e_end ? left == 0 : in.pos == in.size;
    }
    return {};
  }
};

CassetteWriter::CassetteWriter(std::function<void(std::string_view)> write, std::uint8_t version)
    : state_(std::make_unique<State>()) {
  state_->write = std::move(write);
  state_->begin(version);
}

CassetteWriter::~CassetteWriter() = default;

Result<void> CassetteWriter::add(EntryKind kind, const Digest& key, std::string_view bytes) {
  if (bytes.size() > defaults::max_entry_bytes) {
    return fail(Reason::cache_failed, "the cache entry " + to_hex(key) +
                                          " is too large for a cassette: it has " +
                                          std::to_string(bytes.size()) + " bytes, and at most " +
                                          std::to_string(defaults::max_entry_bytes) + " are read");
  }
  auto& head = state_->head;
  head.clear();
  head += static_cast<char>(kind);
  head += bytes_of(key);
  append_number(head, static_cast<std::uint32_t>(bytes.size()));
  ++state_->entries;
  if (auto done = state_->compress(head, ZSTD_e_continue); !done) return done;
  return state_->compress(bytes, ZSTD_e_continue);
}

Result<std::uint64_t> CassetteWriter::finish() {
  std::string end(1, static_cast<char>(cassette::end_mark));
  append_number(end, state_->entries);
  if (auto done = state_->compress(end, ZSTD_e_end); !done) return fail(done.error());
  const auto checksum = state_->checksum.finish();
  state_->write(bytes_of(checksum));
  return state_->bytes + checksum.size();
}

}  // namespace sluice
