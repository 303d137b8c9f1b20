#include "coordinator/cli/manifest_file.hpp"

#include "common/files.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/aggregate_gate.hpp"
#include "coordinator/suite/fixtures/manifest.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

std::string with_two_to_four_digits(const char* format, double number) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), format, number);
  std::string text = digits.data();
  for (int dropped = 0; dropped < 2 && text.ends_with('0'); ++dropped) text.pop_back();
  return text;
}

}  // namespace

tl::expected<ManifestFile, std::vector<Finding>> load_manifest_file(const std::string& fixtures_folder) {
  const auto wrong = [](const std::string& file, std::string message) {
    return tl::unexpected(std::vector{Finding{file, 0, std::move(message)}});
  };
  std::error_code error;
  if (!fs::is_directory(fixtures_folder, error)) {
    return wrong(fixtures_folder, "is no folder that can be read; name the fixtures' folder with --fixtures");
  }
  const auto path = fs::path(fixtures_folder) / "manifest.toml";
  ManifestFile file;
  file.path = path.generic_string();
  // Not `exists`, which takes a link that leads nowhere for no file: the new one would take its place.
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return file;
  auto text = read_file(path, defaults::max_fixture_bytes);
  if (!text) return wrong(file.path, "the manifest " + text.error().message);
  auto parsed = parse_manifest(*text, file.path);
  if (!parsed.findings.empty()) return tl::unexpected(std::move(parsed.findings));
  file.text = std::move(*text);
  file.manifest = std::move(parsed.manifest);
  return file;
}

std::string baseline_in_words(const std::optional<AggregateBaseline>& baseline) {
  if (!baseline || !pins_scores(*baseline)) return "none";
  constexpr std::size_t date_characters = 10;  // 2026-02-05
  std::string text = "precision=" + precise_score(baseline->precision) +
                     ", recall=" + precise_score(baseline->recall) + ", f1=" + precise_score(baseline->f1);
  if (!baseline->measured_at.empty()) text += " (" + baseline->measured_at.substr(0, date_characters) + ")";
  return text;
}

std::string precise_score(const std::optional<double>& score) {
  return score ? with_two_to_four_digits("%.4f", *score) : "undefined";
}

std::string signed_difference(double difference) {
  constexpr double least_shown = 0.00005;
  // Nothing that rounds to nothing is shown as a loss.
  const bool is_nothing = difference > -least_shown && difference < least_shown;
  return with_two_to_four_digits("%+.4f", is_nothing ? 0.0 : difference);
}

}  // namespace sluice
