#include "coordinator/report/commands/band_report.hpp"

#include "common/text/printable.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/output/json_writer.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <variant>

namespace sluice {
namespace {

constexpr std::array<RetrievalKind, 3> kinds{RetrievalKind::hit, RetrievalKind::degraded,
                                             RetrievalKind::miss};

std::string floor_line(std::string_view name, double current, const ProposedFloor& proposed) {
  return "  " + std::string(name) + wording::fixed(current, 3) + " -> " + wording::fixed(proposed.floor, 3) +
         "  (" + wording::fixed(proposed.low, 3) + " to " + wording::fixed(proposed.high, 3) + ")\n";
}

struct InWords {
  const TripleCalibration& of;

  std::string operator()(const BandProposal& proposal) const {
    std::string bands;
    for (const RetrievalKind kind : kinds) {
      const RetrievedCases& band = proposal.bands[static_cast<std::size_t>(kind)];
      bands += (bands.empty() ? "" : "; ") + std::string(to_string(kind)) + " " +
               wording::grouped(band.passed) + " of " + wording::grouped(band.cases);
    }
    return "\n" + floor_line("high_floor      ", of.current.high, proposal.high) +
           floor_line("degraded_floor  ", of.current.degraded, proposal.degraded) + "  passed: " + bands +
           "\n";
  }
  std::string operator()(const EvidenceMissing& missing) const {
    if (missing.cases == 0)
      return ": no proposal: their pass rates do not rise with the similarity in three steps\n";
    return ": no proposal: about " + wording::counted(missing.cases, "more case") + " of this kind " +
           (missing.cases == 1 ? "is" : "are") + " missing\n";
  }
};

void write_floor(Json& json, std::string_view name, double current, const ProposedFloor& proposed) {
  json.line(2);
  json.key(name).open('{');
  json.member("current", current);
  json.member("proposed", proposed.floor);
  json.member("low", proposed.low);
  json.member("high", proposed.high);
  json.close('}');
}

struct InJson {
  const TripleCalibration& of;
  Json& json;

  void operator()(const BandProposal& proposal) const {
    json.member("missing_cases", 0);
    write_floor(json, "high_floor", of.current.high, proposal.high);
    write_floor(json, "degraded_floor", of.current.degraded, proposal.degraded);
    for (const RetrievalKind kind : kinds) {
      const RetrievedCases& band = proposal.bands[static_cast<std::size_t>(kind)];
      json.line(2);
      json.key(to_string(kind)).open('{');
      json.member("cases", band.cases);
      json.member("passed", band.passed);
      json.close('}');
    }
  }
  /// Null: no number of such cases would do.
  void operator()(const EvidenceMissing& missing) const {
    json.key("missing_cases");
    missing.cases > 0 ? json.value(missing.cases) : json.null();
  }
};

}  // namespace

std::string bands_text(const std::vector<TripleCalibration>& calibrations) {
  std::string text;
  for (const TripleCalibration& one : calibrations) {
    text += printable(in_words(one.triple)) + ", " + wording::counted(one.cases, "case") +
            std::visit(InWords{one}, one.result);
  }
  return text;
}

std::string bands_json(const std::vector<TripleCalibration>& calibrations) {
  std::string text;
  Json json(text);
  json.open('[');
  for (const TripleCalibration& one : calibrations) {
    json.line(1);
    json.open('{');
    json.member("task_class", one.triple.task_class);
    json.member("language", one.triple.language);
    json.member("build_system", one.triple.build_system);
    json.member("cases", one.cases);
    std::visit(InJson{one, json}, one.result);
    json.close('}');
  }
  text += calibrations.empty() ? "" : "\n";
  json.close(']');
  return text + "\n";
}

}  // namespace sluice
