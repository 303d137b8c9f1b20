#include "coordinator/score_files/score_file.hpp"

#include "coordinator/score_files/json_pieces.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

/// Reads as far as a key that only a report, or only a baseline has. What is wrong is the reader's to report
/// that reads the file in earnest.
class KindReader : public JsonPieces {
 public:
  explicit KindReader(std::istream& text) : JsonPieces(text, "", shape) {}

  bool is_report() const { return is_report_; }

 private:
  static constexpr Shape shape{};

  bool begin(std::string_view name) override {
    static constexpr std::array<std::string_view, 4> of_report{"run_id", "verdict", "metrics",
                                                               "fixture_results"};
    static constexpr std::array<std::string_view, 2> of_baseline{"assay_version", "entries"};
    is_report_ = std::ranges::find(of_report, name) != of_report.end();
    return !is_report_ && std::ranges::find(of_baseline, name) == of_baseline.end();
  }
  void take(const JsonAt&) override {}

  bool is_report_ = false;
};

bool is_report(const std::filesystem::path& file) {
  std::ifstream text(file, std::ios::binary);
  KindReader kind(text);
  kind.read();
  return kind.is_report();
}

}  // namespace

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
