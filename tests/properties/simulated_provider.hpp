#pragma once

#include "common/wire/messages.hpp"
#include "tests/properties/event_queue.hpp"
#include "tests/properties/simulated_limits.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace sluice::testing {

/// How a simulated provider behaves. 0: no such limit.
struct ProviderNature {
  double requests_per_second = 0;
  double burst = 1;
  double tokens_per_second = 0;
  double token_burst = 0;
  BootTime latency = std::chrono::milliseconds(100);
  double latency_sigma = 0;    ///< Latencies are log-normal, `latency` in the mean: of their logarithms.
  std::uint32_t parallel = 0;  ///< Calls served at a time, each in `latency`; the others queue.
  BootTime down_from{};        ///< Fails every call in [down_from, down_until), at once.
  BootTime down_until{};
  bool refuses_while_down = false;
  bool names_delays = false;
  BootTime named_delay_min = std::chrono::milliseconds(1);
  bool in_whole_seconds = false;           ///< Delays are rounded up to them.
  double refused_at_random = 0;            ///< Share of calls, whatever their rate.
  std::vector<SimulatedLimit> limits;      ///< Beside the buckets above.
  std::uint64_t announced_per_minute = 0;  ///< In the headers of each answer; 0: nothing.
};

enum class Outcome : std::uint8_t { answered, refused, failed };

struct Reply {
  Outcome outcome = Outcome::answered;
  BootTime named_delay{};
  std::uint64_t announced_per_minute = 0;
};

/// A provider with strict limits, charged on arrival; what is refused costs nothing and is reported at once.
class SimulatedProvider {
 public:
  SimulatedProvider(EventQueue& events, const ProviderNature& nature)
      : events_(events), nature_(nature), server_(all_limits(nature), events_.now()) {}

  static std::vector<SimulatedLimit> all_limits(const ProviderNature& nature) {
    auto limits = nature.limits;
    if (nature.requests_per_second > 0)
      limits.push_back(SimulatedLimit::bucket(nature.requests_per_second, nature.burst));
    if (nature.tokens_per_second > 0)
      limits.push_back(SimulatedLimit::tokens(nature.tokens_per_second, nature.token_burst));
    return limits;
  }

  void arrive(const wire::CallSize& used, bool is_poisoned, std::function<void(Reply)> reply) {
    const auto now = events_.now();
    if (is_poisoned || (now >= nature_.down_from && now < nature_.down_until)) {
      if (nature_.refuses_while_down && !is_poisoned) return refuse(BootTime::zero(), reply);
      return reply({Outcome::failed, {}, 0});
    }
    if (nature_.refused_at_random > 0 &&
        luck_() < nature_.refused_at_random * static_cast<double>(luck_.max())) {
      return refuse(BootTime::zero(), reply);
    }
    const double tokens = static_cast<double>(used.input_tokens) + used.output_tokens;
    if (const auto wait = server_.admit(now, tokens)) return refuse(*wait, reply);
    ++accepted_;
    auto answer = [this, reply = std::move(reply)] {
      server_.ended();
      reply({Outcome::answered, {}, nature_.announced_per_minute});
    };
    if (nature_.parallel == 0) return events_.after(latency(), std::move(answer));
    queue_.push_back(std::move(answer));
    serve();
  }

  std::uint64_t refused() const { return refused_; }
  std::uint64_t accepted() const { return accepted_; }

 private:
  void refuse(BootTime wait, const std::function<void(Reply)>& reply) {
    ++refused_;
    if (!nature_.names_delays) return reply({Outcome::refused, {}, nature_.announced_per_minute});
    auto delay = std::max(wait + BootTime(1000), nature_.named_delay_min);
    if (nature_.in_whole_seconds) {
      delay = std::max(std::chrono::ceil<std::chrono::seconds>(wait), std::chrono::seconds(1));
    }
    reply({Outcome::refused, delay, nature_.announced_per_minute});
  }
  BootTime latency() {
    if (nature_.latency_sigma == 0) return nature_.latency;
    const double sigma = nature_.latency_sigma;
    std::lognormal_distribution<double> share(-sigma * sigma / 2, sigma);
    return BootTime(static_cast<BootTime::rep>(share(luck_) * static_cast<double>(nature_.latency.count())));
  }
  void serve() {
    while (!queue_.empty() && serving_ < nature_.parallel) {
      ++serving_;
      events_.after(latency(), [this, answer = std::move(queue_.front())] {
        --serving_;
        answer();
        serve();
      });
      queue_.pop_front();
    }
  }

  EventQueue& events_;
  ProviderNature nature_;
  LimitedServer server_;
  std::deque<std::function<void()>> queue_;
  std::mt19937 luck_;
  std::uint32_t serving_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t accepted_ = 0;
};

}  // namespace sluice::testing
