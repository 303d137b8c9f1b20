#pragma once

#include <cstdint>
#include <optional>

namespace sluice {

/// Finds the number of calls in flight with the best throughput at a provider that states no limit. Opens by
/// one more for each answer (doubling with each latency) for as long as the answers take hardly longer than
/// the first ones did: then the calls only queue, and the knee is where Little's law has it. Since answers of
/// different length can look like a line, the number is doubled from there as long as that brings
/// clearly more answers. Small steps to both sides keep to it: more must bring answers, fewer must cost none.
/// Counts only time in which the number was used. Pure; not thread-safe.
class ConcurrencySearch {
 public:
  explicit ConcurrencySearch(std::uint32_t start) : limit_(start < 1 ? 1 : start), most_(limit_) {}

  /// The greatest number allowed; at least 1.
  void set_most(std::uint32_t most);
  /// What ended since the last time. `wanted`: calls in flight and ready ones now.
  void on_outcomes(std::uint32_t answered, std::uint32_t failed, std::uint64_t latency_sum_us,
                   std::uint64_t wanted);

  /// The provider is down. What failed just now shows nothing of the number: it is what it was before.
  void interrupt();

  std::uint32_t limit() const { return limit_; }
  /// No more was allowed: what would be best is not known.
  bool is_bounded() const { return kept_ >= most_; }
  /// The number that the search has settled on; nothing while it opens.
  std::optional<std::uint32_t> found() const;

 private:
  enum class Phase : std::uint8_t { opening, weighing, settled, trying_more, trying_fewer };

  struct Window {
    std::uint64_t to_skip = 0;  ///< Answers of calls that began before the number was changed.
    bool measuring = false;
    std::uint64_t answered = 0;
    std::uint64_t failed = 0;
    std::uint64_t latency_us = 0;  ///< Of those answered, together.
  };

  struct Standing {
    Phase phase = Phase::opening;
    std::uint32_t limit = 1;
    std::uint32_t kept = 0;
    double throughput = 0;
  };

  void remember(std::uint32_t answered, std::uint32_t failed);
  void grow_by(std::uint64_t answers);
  void open_further(std::uint32_t answered, std::uint32_t failed, std::uint64_t latency_sum_us);
  void go_on_with(std::uint32_t limit, Phase phase);
  void window_is_over();
  void weigh(double throughput);
  std::uint32_t step() const;
  void try_a_step();

  Phase phase_ = Phase::opening;
  std::uint32_t limit_;
  std::uint32_t most_;
  std::uint64_t opening_answers_ = 0;     ///< While opening: since latency was last compared,
  std::uint64_t opening_latency_us_ = 0;  ///< and how long they took.
  std::uint64_t opened_with_ = 0;         ///< While opening: all answers,
  std::uint64_t opening_failures_ = 0;    ///< and all failures.
  double first_latency_us_ = 0;
  bool leaps_ = false;  ///< Steps double the number, as long as that brings clearly more answers.
  Window window_;
  std::optional<Standing> before_failures_;
  std::uint64_t answers_since_failure_ = 0;
  double throughput_ = 0;   ///< At `kept_`, in answers a microsecond.
  std::uint32_t kept_ = 0;  ///< The number that the steps go out from.
  bool try_fewer_next_ = false;
  std::uint32_t steps_in_vain_ = 0;
  std::uint32_t windows_to_rest_ = 0;
};

}  // namespace sluice
