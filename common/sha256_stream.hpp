#pragma once

#include "common/hash.hpp"

#include <memory>
#include <string_view>

namespace sluice {

/// SHA-256 of bytes that come in pieces: the same value as `sha256` of them all. Not thread-safe.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(const Sha256Stream&) = delete;
  Sha256Stream& operator=(const Sha256Stream&) = delete;

  void update(std::string_view bytes);
  /// The digest of all bytes so far; the stream is then empty and may be used again.
  Digest finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace sluice
