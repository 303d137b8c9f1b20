#pragma once

#include "common/wire/messages.hpp"
#include "worker/providers/http_message.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sluice {

/// Reads the limits that one provider names in its response headers. `anthropic-ratelimit-*-limit` is a
/// minute's; `x-ratelimit-limit-*` does not say of which time, and is a day's or an hour's at some providers:
/// their bucket fills at limit / window, so that reset / (limit - remaining) tells the window. Numbers that
/// are none, and Azure's -1 and 0, are no limits. Pure; not thread-safe.
class AnnouncedLimitReader {
 public:
  /// Takes in a response. True if it changed what is known.
  bool read(const HttpHeaders& headers);
  const wire::AnnouncedLimits& limits() const { return limits_; }

 private:
  /// What is known of the time that one of OpenAI's limits is for.
  struct Window {
    std::uint64_t limit = 0;
    double first_seconds = 0;  ///< As an earlier response suggested it;
    std::uint64_t first_used = 0;
    double minutes = 0;  ///< 0: not known yet.
  };
  struct OpenAiHeaders;
  void read_openai(const OpenAiHeaders& headers, Window& window, std::uint64_t& per_minute);

  wire::AnnouncedLimits limits_;
  Window requests_;
  Window tokens_;
};

/// What one provider announces, where each of its models may have limits of its own. Pure; not thread-safe.
class ModelLimits {
 public:
  /// Takes in a response to a call of the model. True if it changed `smallest`.
  bool read(const std::string& model, const HttpHeaders& headers);
  /// Of each quantity the smallest that a model's limits name; 0 where none does.
  const wire::AnnouncedLimits& smallest() const { return smallest_; }

 private:
  std::map<std::string, AnnouncedLimitReader> models_;
  wire::AnnouncedLimits smallest_;
};

}  // namespace sluice
