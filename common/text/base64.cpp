#include "common/text/base64.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

std::string to_base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) {
      return at < bytes.size() ? std::uint32_t{static_cast<unsigned char>(bytes[at])} : 0u;
    };
    const std::uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    text += digits[three >> 18];
    text += digits[three >> 12 & 63];
    text += i + 1 < bytes.size() ? digits[three >> 6 & 63] : '=';
    text += i + 2 < bytes.size() ? digits[three & 63] : '=';
  }
  return text;
}

}  // namespace sluice
