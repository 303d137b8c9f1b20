#pragma once

#include "common/wire/messages.hpp"
#include "worker/providers/http_message.hpp"
#include "worker/providers/named_limits.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace sluice {

/// One limit as responses name it. Odd answers come through proxies and gateways, so that one alone must not
/// stop a run: a limit that falls by more than `defaults::suspicious_fall` at once, or below what anybody is
/// allowed, is believed only after `defaults::doubted_answers` responses that agree; below `least` never,
/// since no call would fit, and calls are answered. Pure; not thread-safe.
class CredibleLimit {
 public:
  /// A response names it. Above 0.
  void take(std::uint64_t limit, std::uint64_t least);
  std::uint64_t believed() const { return believed_; }  ///< 0: none.
  std::uint64_t doubted() const {
    return doubted_;
  }  ///< What was named last and is not believed; 0: nothing.

 private:
  std::uint64_t believed_ = 0;
  std::uint64_t doubted_ = 0;
  std::uint32_t agreed_ = 0;
};

/// Reads the limits that one provider names in its response headers. Some name their time (named_limits.hpp),
/// and `anthropic-ratelimit-*-limit` is a minute's; `x-ratelimit-limit-*` does not say of which time, and is
/// a day's, an hour's or a second's at some providers: their bucket fills at limit / window, so that the
/// window follows from reset / (limit - remaining). Numbers that are none, and Azure's -1 and 0, are no
/// limits. Pure; not thread-safe.
class AnnouncedLimitReader {
 public:
  /// Takes in a response. True if it changed what is known or doubted.
  bool read(const HttpHeaders& headers);
  /// Takes in a limit that a refusal names in its body, after its headers: it counts where headers have never
  /// named one of its kind. True if it changed what is known or doubted.
  bool take(const NamedLimit& limit);
  wire::AnnouncedLimits limits() const;
  wire::AnnouncedLimits doubted() const;

 private:
  /// What is known of the time that one of OpenAI's limits is for.
  struct Window {
    std::uint64_t limit = 0;
    double first_seconds = 0;  ///< As an earlier response suggested it;
    std::uint64_t first_used = 0;
    double seconds = 0;              ///< 0: not known yet.
    std::uint32_t seconds_seen = 0;  ///< Answers that only the limit of a second gives, and none against it.
  };
  struct OpenAiHeaders;
  static void follow_seconds(Window& window, std::uint64_t used, double reset_seconds);
  static std::uint64_t read_openai(const OpenAiHeaders& headers, Window& window);

  CredibleLimit requests_;
  CredibleLimit tokens_;
  CredibleLimit input_tokens_;
  CredibleLimit output_tokens_;
  bool are_requests_in_headers_ = false;
  bool are_tokens_in_headers_ = false;
  Window request_window_;
  Window token_window_;
};

/// What one provider announces, where each of its models may have limits of its own. Pure; not thread-safe.
class ModelLimits {
 public:
  /// Takes in a response to a call of the model. True if it changed `smallest` or `doubted`.
  bool read(const std::string& model, const HttpHeaders& headers);
  /// The same for a limit that the body of a refusal names.
  bool take(const std::string& model, const NamedLimit& limit);
  /// Of each quantity the smallest that a model's limits name; 0 where none does.
  const wire::AnnouncedLimits& smallest() const { return smallest_; }
  /// The smallest of those that are named and not believed.
  const wire::AnnouncedLimits& doubted() const { return doubted_; }

 private:
  /// True if what the models name changed them.
  bool follow_models();

  std::map<std::string, AnnouncedLimitReader> models_;
  wire::AnnouncedLimits smallest_;
  wire::AnnouncedLimits doubted_;
};

}  // namespace sluice
