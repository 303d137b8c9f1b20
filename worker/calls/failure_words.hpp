#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace sluice {

/// What a provider's calls fail with, to be said once while nobody would learn it otherwise for minutes: as
/// long as it has never answered, and in an outage. Pure; not thread-safe.
class FailureWords {
 public:
  /// `counts`: not one of several calls that a limit refused at a time, of which the coordinator's log tells.
  void failed(const std::string& words, bool counts = true) {
    newest_ = words;
    failures_ += counts ? 1 : 0;
  }
  void answered() {
    ever_answered_ = true;
    said_ = false;
    newest_.clear();
  }
  bool ever_answered() const { return ever_answered_; }
  /// Of the newest failure; empty since an answer.
  const std::string& newest() const { return newest_; }
  /// The newest words, where they are to be said now.
  std::optional<std::string> take_due(bool in_outage) {
    const bool never_answers = !ever_answered_ && failures_ >= failures_of_a_start;
    if (newest_.empty() || (!in_outage && !never_answers) || std::exchange(said_, true)) return std::nullopt;
    return newest_;
  }

 private:
  /// One or two may come of any start.
  static constexpr std::uint32_t failures_of_a_start = 3;

  bool ever_answered_ = false;
  bool said_ = false;
  std::uint32_t failures_ = 0;
  std::string newest_;
};

}  // namespace sluice
