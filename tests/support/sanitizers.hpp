#pragma once

namespace sluice::support {

/// The address sanitizer is in it, which takes memory of its own, and keeps what was freed for a while.
#if defined(__SANITIZE_ADDRESS__)  // As g++ says it.
inline constexpr bool has_address_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool has_address_sanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool has_address_sanitizer = false;
#endif

}  // namespace sluice::support
