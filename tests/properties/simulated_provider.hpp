#pragma once

#include "common/wire/messages.hpp"
#include "tests/properties/event_queue.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>

namespace sluice::testing {

/// How a simulated provider behaves. 0: no such limit.
struct ProviderNature {
  double requests_per_second = 0;
  double burst = 1;
  double tokens_per_second = 0;
  double token_burst = 0;
  BootTime latency = std::chrono::milliseconds(100);
  std::uint32_t parallel = 0;  ///< Calls served at a time, each in `latency`; the others queue.
  BootTime down_from{};        ///< Fails every call in [down_from, down_until), at once.
  BootTime down_until{};
  bool names_delays = false;
  BootTime named_delay_min = std::chrono::milliseconds(1);
  double refused_at_random = 0;  ///< Share of calls, whatever their rate.
};

enum class Outcome : std::uint8_t { answered, refused, failed };

struct Reply {
  Outcome outcome = Outcome::answered;
  BootTime named_delay{};
};

/// A provider with strict buckets, charged on arrival; what is refused costs nothing and is reported at once.
class SimulatedProvider {
 public:
  SimulatedProvider(EventQueue& events, const ProviderNature& nature)
      : events_(events),
        nature_(nature),
        level_(nature.burst),
        tokens_(nature.token_burst),
        filled_at_(events.now()) {}

  void arrive(const wire::CallSize& used, std::function<void(Reply)> reply) {
    const auto now = events_.now();
    if (now >= nature_.down_from && now < nature_.down_until) return reply({Outcome::failed, {}});
    refill(now);
    const double tokens = static_cast<double>(used.input_tokens) + used.output_tokens;
    if (nature_.refused_at_random > 0 &&
        luck_() < nature_.refused_at_random * static_cast<double>(luck_.max())) {
      return refuse(reply);
    }
    if (nature_.requests_per_second > 0 && level_ < 1 - 1e-9) return refuse(reply);
    if (nature_.tokens_per_second > 0 && tokens_ < tokens - 1e-9) return refuse(reply);
    level_ -= 1;
    tokens_ -= tokens;
    ++accepted_;
    if (nature_.parallel == 0) return events_.after(nature_.latency, [reply] { reply({}); });
    queue_.push_back(std::move(reply));
    serve();
  }

  std::uint64_t refused() const { return refused_; }
  std::uint64_t accepted() const { return accepted_; }

 private:
  void refill(BootTime now) {
    const double seconds = static_cast<double>((now - filled_at_).count()) * 1e-6;
    level_ = std::min(nature_.burst, level_ + seconds * nature_.requests_per_second);
    tokens_ = std::min(nature_.token_burst, tokens_ + seconds * nature_.tokens_per_second);
    filled_at_ = now;
  }
  void refuse(const std::function<void(Reply)>& reply) {
    ++refused_;
    if (!nature_.names_delays) return reply({Outcome::refused, {}});
    // Without a rate there is nothing to wait for: the bucket is never filled, and never asked.
    const double rate = nature_.requests_per_second;
    const double seconds = rate > 0 ? std::max(0.0, 1 - level_) / rate : 0;
    const BootTime wait(static_cast<BootTime::rep>(seconds * 1e6) + 1000);
    reply({Outcome::refused, std::max(wait, nature_.named_delay_min)});
  }
  void serve() {
    while (!queue_.empty() && serving_ < nature_.parallel) {
      ++serving_;
      events_.after(nature_.latency, [this, reply = std::move(queue_.front())] {
        --serving_;
        reply({});
        serve();
      });
      queue_.pop_front();
    }
  }

  EventQueue& events_;
  ProviderNature nature_;
  double level_;
  double tokens_;
  BootTime filled_at_;
  std::deque<std::function<void(Reply)>> queue_;
  std::mt19937 luck_;
  std::uint32_t serving_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t accepted_ = 0;
};

}  // namespace sluice::testing
