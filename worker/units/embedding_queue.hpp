#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/model/result.hpp"
#include "worker/calls/call_values.hpp"
#include "worker/scoring/similarity.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {

/// Texts that one call asks the embeddings of.
struct EmbeddingBatch {
  std::uint64_t id = 0;
  std::vector<std::string> texts;
  TimePoint deadline;  ///< The earliest of those that wait for it.
};

/// Somebody has all its embeddings, or will not get them.
struct EmbeddingOutcome {
  std::uint64_t waiter = 0;
  std::variant<EmbeddedTexts, Error> result;
  Spend spend;  ///< Its part of what the calls cost: each batch's calls are one waiter's, its tokens go by
                ///< bytes.
};

/// Decides which texts are embedded together, and who gets what: texts wait for each other only while a call
/// is under way. Every text is asked for once, whoever waits for it. Pure; not thread-safe.
class EmbeddingQueue {
 public:
  /// The vector of a text that this run has seen lately, else null.
  SharedVector known(const std::string& text) const;
  /// Takes note of a vector that was found elsewhere.
  void remember(const std::string& text, SharedVector vector);

  /// The waiter needs the missing texts (at least one) beside the found ones. Its outcome comes from served,
  /// failed or expired, exactly once.
  void add(std::uint64_t waiter, EmbeddedTexts found, const std::vector<std::string>& missing,
           TimePoint deadline);
  /// The same, but texts that nobody asked for before are held back, each until `release` or `arrived` names
  /// it. Returns them.
  std::vector<std::string> add_held(std::uint64_t waiter, EmbeddedTexts found,
                                    const std::vector<std::string>& missing, TimePoint deadline);
  /// The text is to be called for.
  void release(const std::string& text);
  /// The text's vector came from elsewhere.
  std::vector<EmbeddingOutcome> arrived(const std::string& text, SharedVector vector);
  /// Texts that will not be called for (again) though no vector came, since the last time: nobody waits for
  /// them any more, or nobody can have them.
  std::vector<std::string> take_dropped() { return std::exchange(dropped_, {}); }
  /// The next batch to be called for, if one may start now: at once if none is under way, else once it is
  /// full. It is under way until one of the following is called for it.
  std::optional<EmbeddingBatch> next();

  /// One vector a text came, in their order.
  std::vector<EmbeddingOutcome> served(const EmbeddingBatch& batch, std::vector<std::vector<float>> vectors,
                                       const Spend& spend);
  /// The call failed for good. A request that was refused for one of its texts is halved and asked for again;
  /// nobody fails for another's text.
  std::vector<EmbeddingOutcome> failed(const EmbeddingBatch& batch, const Error& error, const Spend& spend);
  /// The batch's deadline is over: those whose own it was fail, the others' texts are asked for again.
  std::vector<EmbeddingOutcome> expired(const EmbeddingBatch& batch, const Error& error, const Spend& spend);
  /// The waiter's own time is over while others' calls go on: no outcome comes for it. Returns its part of
  /// the costs so far.
  Spend leave(std::uint64_t waiter);
  /// Until when the waiter's own time lasts; nothing for one that does not wait.
  std::optional<TimePoint> deadline(std::uint64_t waiter) const;
  /// Everybody's time lasts longer by this: an outage of the provider is not counted.
  void extend(Duration time);

 private:
  struct Waiter {
    EmbeddedTexts found;
    std::size_t missing = 0;
    TimePoint deadline;
    Spend spend;
  };

  bool is_wanted(const std::string& text) const;
  void enqueue(const std::string& text);
  void drop(const std::string& text);
  void hand_out(const std::string& text, const SharedVector& vector, std::vector<EmbeddingOutcome>& outcomes);
  void enqueue_first(const std::vector<std::string>& texts);
  void charge(const EmbeddingBatch& batch, const Spend& spend);
  template <class Fails>
  std::vector<EmbeddingOutcome> give_up(const EmbeddingBatch& batch, const Error& error, Fails fails);

  std::unordered_map<std::uint64_t, Waiter> waiters_;
  /// By text: who waits for it, in order; those that are gone stay in the list.
  std::unordered_map<std::string, std::vector<std::uint64_t>> wanted_;
  std::deque<std::string> queued_;
  std::size_t queued_bytes_ = 0;
  std::deque<std::vector<std::string>> halves_;
  std::vector<std::string> dropped_;
  std::size_t under_way_ = 0;
  std::uint64_t next_id_ = 1;
  Spend unclaimed_;  ///< Of calls that nobody waited for any more: whoever is charged next takes it over.
  EmbeddedTexts recent_;
  std::size_t recent_bytes_ = 0;
};

}  // namespace sluice
