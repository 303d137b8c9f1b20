#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::fuzz {

/// What an input decides, byte for byte; zeros when it is at its end. So any input is a sequence of steps,
/// and a small change of it a small change of them.
class FuzzedInput {
 public:
  FuzzedInput(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  bool empty() const { return left_ == 0; }
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  bool flag() { return (byte() & 1) != 0; }
  std::uint32_t below(std::uint32_t bound) { return byte() % bound; }
  /// Mostly small ones, and the largest of each width.
  std::uint64_t number() {
    const auto kind = byte();
    if (kind < 128) return kind;
    switch (kind % 8) {
      case 0:
        return 0xffff'ffff'ffff'ffff;
      case 1:
        return 0xffff'ffff;
      case 2:
        return 0x8000'0000;
      case 3:
        return 0x7fff'ffff'ffff'ffff;
      case 4:
        return std::uint64_t{byte()} << 56;
      case 5:
        return std::uint64_t{byte()} << 24;
      case 6:
        return std::uint64_t{byte()} * 1000;
      default:
        return std::uint64_t{byte()} * 256 + byte();
    }
  }
  std::uint32_t number32() { return static_cast<std::uint32_t>(number()); }
  /// From milliseconds to hours.
  std::chrono::milliseconds time() {
    const std::uint32_t steps[] = {1, 20, 500, 1000, 5000, 60'000, 3'600'000, 0};
    const auto step = steps[byte() % 8];
    return std::chrono::milliseconds(std::int64_t{step} * (1 + byte() % 4));
  }
  std::string_view rest() {
    const std::string_view bytes(reinterpret_cast<const char*>(data_), left_);
    data_ += left_;
    left_ = 0;
    return bytes;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

}  // namespace sluice::fuzz

/// Ends the fuzzer where a promise is broken.
#define SLUICE_PROMISE(condition)       \
  do {                                  \
    if (!(condition)) __builtin_trap(); \
  } while (false)
