#pragma once

#include "common/error.hpp"
#include "worker/defaults.hpp"

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sluice {

/// Compiled texts (patterns, schemas) by their source. `Compiled` has `static Result<Compiled>
/// compile(std::string_view)` and is cheap to copy. Once full it starts anew: a suite either has fewer
/// texts, or one for every case, and then no order of leaving helps. Thread-safe.
template <class Compiled>
class CompiledCache {
 public:
  /// The compiled text. An error is not kept.
  Result<Compiled> get(std::string_view text) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = entries_.find(text); found != entries_.end()) return found->second;
    }
    auto compiled = Compiled::compile(text);  // Without the lock: others need not wait for it.
    if (!compiled) return compiled;
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= defaults::max_compiled || bytes_ + text.size() > defaults::max_compiled_bytes) {
      entries_.clear();
      bytes_ = 0;
    }
    if (entries_.try_emplace(std::string(text), *compiled).second) bytes_ += text.size();
    return compiled;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Compiled, Hash, std::equal_to<>> entries_;
  std::size_t bytes_ = 0;  ///< Of the texts.
};

}  // namespace sluice
