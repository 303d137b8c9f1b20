#include "coordinator/report/report_reader.hpp"

#include "coordinator/gate/baseline_file.hpp"
#include "coordinator/gate/json_events.hpp"
#include "coordinator/gate/json_source.hpp"
#include "coordinator/report/report_events.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

/// A report of a million cases is a few gigabytes, and quotes whole answers.
constexpr JsonSource::Limits report_limits{.text_bytes = std::uint64_t{64} << 30, .piece_bytes = 64u << 20};

/// Reads as far as a key that only a report, or only a baseline has.
class KindReader {
 public:
  bool key(std::string_view name) {
    static constexpr std::array<std::string_view, 4> of_report{"run_id", "verdict", "metrics",
                                                               "fixture_results"};
    static constexpr std::array<std::string_view, 2> of_baseline{"assay_version", "entries"};
    if (depth_ != 1) return true;
    is_report_ = std::ranges::find(of_report, name) != of_report.end();
    return !is_report_ && std::ranges::find(of_baseline, name) == of_baseline.end();
  }
  bool value(const JsonValue& value) {
    if (opens(value)) ++depth_;
    return depth_ > 0 && depth_ <= ReportReader::max_depth;
  }
  bool close() {
    --depth_;
    return true;
  }
  /// What is wrong is the reader's to say that reads the file in earnest.
  void broken(std::string_view, bool) {}

  bool is_report() const { return is_report_; }

 private:
  std::size_t depth_ = 0;
  bool is_report_ = false;
};

template <class Reader>
void parse(JsonSource& source, Reader& reader) {
  JsonEvents<Reader> events(reader);
  std::istream text(&source);
  nlohmann::json::sax_parse(text, &events);
}

bool is_report(const std::filesystem::path& file) {
  std::ifstream text(file, std::ios::binary);
  JsonSource source(text, report_limits);
  KindReader kind;
  parse(source, kind);
  return kind.is_report();
}

}  // namespace

tl::expected<ReportScores, Finding> parse_report(std::istream& text, const std::string& file) {
  JsonSource source(text, report_limits);
  ReportReader reader(source, file);
  parse(source, reader);
  return reader.finish();
}

tl::expected<ScoreFile, Finding> load_score_file(const std::filesystem::path& file) {
  std::error_code error;
  // Reading a pipe to see what it holds would take it away from who reads it in earnest.
  if (!std::filesystem::is_regular_file(file, error) || !is_report(file)) {
    auto baseline = load_baseline(file);
    if (!baseline) return tl::unexpected(std::move(baseline.error()));
    return ScoreFile(std::move(*baseline));
  }
  std::ifstream text(file, std::ios::binary);
  auto scores = parse_report(text, file.string());
  if (!scores) return tl::unexpected(std::move(scores.error()));
  return ScoreFile(std::move(*scores));
}

}  // namespace sluice
