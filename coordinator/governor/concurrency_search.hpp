#pragma once

#include <cstdint>
#include <optional>

namespace sluice {

/// Calls that ended.
struct EndedCalls {
  std::uint32_t answered = 0;
  std::uint32_t failed = 0;
  std::uint64_t latency_sum_us = 0;                     ///< Of the answered ones,
  std::optional<std::uint64_t> latency_deviation_us{};  ///< and its standard deviation, where that is known.
};

/// How long answers took.
class LatencySample {
 public:
  void add(const EndedCalls& ended);
  /// Both, as one sample.
  void add(const LatencySample& more);
  /// What is older weighs no more than so many answers.
  void weigh_as_many_as(double most_answers);

  double answers() const { return answers_; }
  /// In microseconds; only where there are answers.
  double mean() const { return sum_us_ / answers_; }
  /// The standard deviation of one latency, as a share of the mean. A guess while there are few answers.
  double variation() const;

 private:
  double answers_ = 0;
  double sum_us_ = 0;
  double squares_ = 0;  ///< Of the latencies, summed up.
};

/// Finds the number of calls in flight with the best throughput at a provider that states no limit. Opens by
/// one more for each answer (doubling with each latency) until answers clearly take longer than before: then
/// the calls only queue, and the knee is where Little's law has it. From there it takes steps: more must
/// bring answers, fewer must cost none, and fewer are tried only where answers take longer than they need to.
/// Answers differ in length, and nothing changes for what may be chance: a queue costs no throughput, and a
/// number that is too small does. Counts only time in which the number was used. Pure; not thread-safe.
class ConcurrencySearch {
 public:
  explicit ConcurrencySearch(std::uint32_t start);

  /// The greatest number allowed; at least 1.
  void set_most(std::uint32_t most);
  /// What ended since the last time. `wanted`: calls in flight and ready ones now.
  void on_outcomes(const EndedCalls& ended, std::uint64_t wanted);

  /// The provider is down. What failed just now shows nothing of the number: it is what it was before.
  void interrupt();

  std::uint32_t limit() const { return limit_; }
  /// The number beyond which more calls brought no more answers; nothing while none is known.
  std::optional<std::uint32_t> found() const;

 private:
  enum class Phase : std::uint8_t { opening, weighing, settled, trying_more, trying_fewer };

  struct Window {
    std::uint64_t to_skip = 0;  ///< Answers of calls that began before the number was changed.
    bool measuring = false;
    std::uint64_t answered = 0;
    std::uint64_t failed = 0;
    LatencySample latency;
  };

  /// What a number of calls came to.
  struct Level {
    std::uint32_t limit = 0;
    double answered_share = 1;  ///< Of the calls that ended.
    LatencySample latency;

    /// In answers a microsecond, by Little's law. Counting answers over time would see the waves in which
    /// they come.
    double throughput() const { return limit * answered_share / latency.mean(); }
  };

  struct Standing {
    Phase phase = Phase::opening;
    std::uint32_t limit = 1;
    Level kept;
    bool more_brought_nothing = false;
  };

  void search_soon();
  void remember(const EndedCalls& ended);
  void grow_by(std::uint64_t answers);
  void open_further(const EndedCalls& ended);
  void end_opening(std::uint32_t limit, Phase phase);
  void compare_with_unqueued();
  void go_on_with(std::uint32_t limit, Phase phase);
  std::uint64_t awaited() const;
  void window_is_over();
  void weigh(const Level& level);
  void settle(const Level& level);
  bool has_changed(const Level& level) const;
  void judge_step(const Level& level);
  void go_on_from(const Level& level, bool opens);
  bool answers_queue() const;
  double variation() const;
  bool answers_are_alike() const;
  std::uint32_t step_up() const;
  std::uint32_t step_down() const;
  double share_of_step() const;
  void try_a_step();

  Phase phase_ = Phase::opening;
  std::uint32_t limit_;
  std::uint32_t most_;
  LatencySample opening_;               ///< While opening: since latency was last compared.
  std::uint64_t opened_with_ = 0;       ///< While opening: all answers,
  std::uint64_t opening_failures_ = 0;  ///< and all failures.
  LatencySample unqueued_;              ///< How long answers take that wait for no other.
  bool leaps_ = false;  ///< Steps double the number, as long as that brings clearly more answers.
  Window window_;
  std::optional<Standing> before_failures_;
  std::uint64_t answers_since_failure_ = 0;
  Level kept_;  ///< What the steps go out from.
  bool more_brought_nothing_ = false;
  bool try_fewer_next_ = false;
  std::uint32_t steps_in_vain_ = 0;
  std::uint32_t rest_;  ///< So many windows the number stays next time.
  std::uint32_t windows_to_rest_ = 0;
};

}  // namespace sluice
