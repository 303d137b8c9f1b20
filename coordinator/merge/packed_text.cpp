#include "coordinator/merge/packed_text.hpp"

#include "coordinator/defaults.hpp"

#include <zstd.h>

namespace sluice {

PackedText::PackedText(std::string_view text)
    : size_(text.size()), packed_(ZSTD_compressBound(text.size()), '\0') {
  const std::size_t size = ZSTD_compress(packed_.data(), packed_.size(), text.data(), text.size(),
                                         defaults::held_compression_level);
  packed_.resize(ZSTD_isError(size) != 0 ? 0 : size);
  packed_.shrink_to_fit();
}

Result<std::string> PackedText::unpacked() const {
  std::string text(size_, '\0');
  const std::size_t size = ZSTD_decompress(text.data(), text.size(), packed_.data(), packed_.size());
  if (ZSTD_isError(size) != 0 || size != text.size()) {
    return fail(Reason::internal_error,
                "what was kept in memory cannot be unpacked; please report this as a defect");
  }
  return text;
}

}  // namespace sluice
