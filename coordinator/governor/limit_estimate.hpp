#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <deque>
#include <optional>

namespace sluice {

/// When a worker said what its calls came to, and when it had last done so: they began between the two.
struct ReportTime {
  /// Of a worker of this run.
  ReportTime(BootTime after, BootTime now) : ReportTime(after, now, now) {}
  /// Of another run's, which is heard of later.
  ReportTime(BootTime after, BootTime said, BootTime now) : since(after), at(said), heard(now) {}
  bool is_late() const { return heard > at; }

  BootTime since;
  BootTime at;
  BootTime heard;
};

/// What a provider takes, from the times at which it was asked for more than that. An episode goes from the
/// end of one named pause to the next refusal. A bucket that was full when an episode began is empty at its
/// end: for each rate there is one size for which that is so, and of two episodes of different speed only one
/// rate gives the same size. What was answered from one refusal to the next, with the pause between, never
/// came to more than the rate; and a number that does not depend on the speed is that of a window. Pure; not
/// thread-safe.
class LimitEstimate {
 public:
  struct Found {
    double rate = 0;       ///< Calls a second; above 0.
    double burst = 1;      ///< Calls at once; at least 1.
    bool is_sure = false;  ///< The episodes were different enough. Else the rate is one of those between:
    double least = 0;
    double highest = 0;
    double reserve = 1;  ///< Calls that it takes beyond a steady pace before it refuses one; at least 1.
    /// Until then a window that slides takes calls when those leave it that were made before the rate was
    /// known, and what it refuses says nothing.
    BootTime settles_at{};
  };

  /// Calls could start from now on.
  void on_demand(BootTime now);
  /// Calls of other runs are among them: a window is known by numbers that are exact, and those that were
  /// told late are not.
  void of_several_runs() { of_several_runs_ = true; }
  /// What began, at times that nobody noted, and what came back refused.
  void on_outcomes(std::uint32_t started, std::uint32_t refused, const ReportTime& reported);
  /// A refusal has named a delay that ends at `until`. After `on_outcomes` of that refusal.
  void on_pause(const ReportTime& reported, BootTime until);

  /// Calls that were refused in the last two episodes.
  double refusals() const { return (last_ ? last_->refused : 0) + (before_ ? before_->refused : 0); }
  /// Calls that were answered in the newest episode.
  double answered() const { return last_ ? last_->answered() : 0; }
  /// How long it was.
  double seconds() const { return last_ ? last_->seconds() : 0; }
  /// The rate that it needed at least, if the episode before emptied the bucket; 0 if that says nothing.
  double proved() const;
  /// The rate that it needed at least, of a bucket of this size.
  double needed(double size) const { return last_ ? last_->least_rate(size) : 0; }
  /// Several calls were made in the newest episode and none was answered, though a limit has something left
  /// after its own delay: the provider took no calls, at whatever rate.
  bool was_closed() const;
  /// Calls a second that were made at the end of the newest episode; nothing before the first refusal.
  std::optional<double> speed() const;
  /// From the last two episodes; nothing before the second refusal.
  std::optional<Found> found() const;

 private:
  struct Started {
    BootTime at{};
    double calls = 0;
    double answered = 0;  ///< Or not yet refused: the last of a report's calls are those that were refused.
  };
  struct Episode {
    Episode();
    BootTime begun{};
    BootTime from{};  ///< Calls of other runs may have begun a little earlier.
    BootTime refused_at{};
    BootTime until{};  ///< The end of the pause after it.
    std::deque<Started> starts;
    double started = 0;
    double refused = 0;
    double told_late = 0;  ///< Of those that started.
    bool is_over = false;

    double seconds() const;
    double answered() const;
    double answered_since(BootTime since) const;
    double size_at(double rate) const;
    double least_rate(double size) const;
    bool is_rough(double calls_beside) const;
    double refused_later() const;
    void note_report(std::uint32_t calls_started, std::uint32_t calls_refused, BootTime since, BootTime now);
    void note(const Started& part);
  };
  void begin(BootTime now);
  Episode* episode_at(BootTime time);
  struct Rates {
    double least = 0;
    double highest = 0;
  };
  double sizes_apart(double rate) const;
  std::optional<Rates> common_rates(double least, double highest) const;
  bool are_inexact() const;
  bool may_be_bucket(double calls_of_window) const;
  bool took_more_than_named() const;
  std::optional<double> sliding_rate() const;
  std::optional<double> window_rate() const;

  bool of_several_runs_ = false;
  BootTime paused_until_{};  ///< Before the newest episode.
  std::optional<Episode> last_;
  std::optional<Episode> before_;
};

}  // namespace sluice
