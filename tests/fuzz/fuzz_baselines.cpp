#include "coordinator/score_files/baseline_file.hpp"

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

/// Any bytes may stand in a baseline's place: they are read or named in one sentence, and never crash. What
/// is read keeps the promises of Baseline, and reading what was written from it gives the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream text(std::string(reinterpret_cast<const char*>(data), size));
  const auto baseline = sluice::parse_baseline(text, "base.json");
  if (!baseline) {
    const std::string& message = baseline.error().message;
    if (message.empty() || message.find('\n') != std::string::npos) __builtin_trap();
    return 0;
  }
  for (std::size_t i = 0; i < baseline->size(); ++i) {
    const auto entry = baseline->entry(i);
    const bool sound =
        !entry.test_id.empty() && !entry.metric.empty() && entry.score >= 0.0 && entry.score <= 1.0;
    if (!sound || baseline->score(entry.test_id, entry.metric) != entry.score) __builtin_trap();
  }
  sluice::StringSink first;
  sluice::write_baseline(*baseline, first);
  std::istringstream again(first.text());
  const auto read = sluice::parse_baseline(again, "base.json");
  if (!read) __builtin_trap();
  sluice::StringSink second;
  sluice::write_baseline(*read, second);
  if (second.text() != first.text()) __builtin_trap();
  return 0;
}
