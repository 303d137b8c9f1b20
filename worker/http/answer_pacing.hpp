#pragma once

#include <chrono>
#include <cstddef>

namespace sluice {

/// How long the HTTP actor may stand still after it has handed on answers: others arrive meanwhile, and so do
/// the calls that follow from the first ones, and all go on together. Each of them alone would wake a chain
/// of sleeping threads. Pure; not thread-safe.
class AnswerPacing {
 public:
  /// A response came, this long after its call was taken.
  void answered(std::chrono::microseconds elapsed);
  /// The pause after a turn that brought answers, while `in_flight` calls are still out: a small part of what
  /// calls take lately, and 0 where waiting could not pay.
  std::chrono::microseconds pause(std::size_t in_flight) const;

 private:
  std::chrono::microseconds latency_{};  ///< Of the faster ones of the latest calls.
};

}  // namespace sluice
