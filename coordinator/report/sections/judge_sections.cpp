#include "coordinator/defaults.hpp"
#include "coordinator/report/report_document.hpp"
#include "coordinator/report/wording/judge_wording.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

using namespace document;

std::vector<Section> judge_sections(const ReportInput& input) {
  if (input.judge_bias == nullptr) return {};
  const JudgeBias& bias = *input.judge_bias;
  const auto tone = [](bool is_bad) { return is_bad ? Tone::warning : Tone::plain; };
  const auto note = [](std::string words, Tone how, const char* label) {
    return Note{.text = sentence(std::move(words), defaults::max_reason_bytes), .tone = how, .label = label};
  };
  Entries entries;
  for (const JudgedMetricBias& metric : bias.metrics) {
    Entry entry{.title = words(wording::judged_by(metric), 160)};
    if (metric.length.correlation.rho) {
      entry.notes.push_back(note(wording::length_bias(metric, bias.confidence),
                                 tone(metric.length.decision.beyond_chance), "Length"));
    }
    if (metric.format.correlation.rho) {
      entry.notes.push_back(note(wording::format_bias(metric, bias.confidence),
                                 tone(metric.format.decision.beyond_chance), "Format"));
    }
    if (metric.noise)
      entry.notes.push_back(note(wording::vote_noise(metric), tone(wording::is_noisy(metric)), "Votes"));
    if (!entry.notes.empty()) entries.items.push_back(std::move(entry));
  }
  const bool needs_attention = std::ranges::any_of(bias.metrics, [](const JudgedMetricBias& one) {
    return one.length.decision.beyond_chance || one.format.decision.beyond_chance || wording::is_noisy(one);
  });
  Section section{.heading = "Judge", .rank = needs_attention ? Rank::whole_run : Rank::background};
  if (!entries.items.empty()) section.blocks.emplace_back(std::move(entries));
  if (auto gaps = wording::not_measured(bias); !gaps.empty())
    section.blocks.emplace_back(Notes{{note(std::move(gaps), Tone::quiet, "Not measured")}});
  return {std::move(section)};
}

}  // namespace sluice
