#pragma once

#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/report/document.hpp"

namespace sluice::document {

inline Tone tone_of(RunVerdict verdict) {
  if (verdict == RunVerdict::pass) return Tone::good;
  return verdict == RunVerdict::review ? Tone::warning : Tone::bad;
}

inline Tone tone_of(GateNotice::Severity severity) {
  if (severity == GateNotice::Severity::info) return Tone::quiet;
  return severity == GateNotice::Severity::warning ? Tone::warning : Tone::bad;
}

}  // namespace sluice::document
