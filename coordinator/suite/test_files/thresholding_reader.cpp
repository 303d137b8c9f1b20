#include "coordinator/suite/test_files/thresholding_reader.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

constexpr std::array modes{ThresholdMode::relative, ThresholdMode::absolute, ThresholdMode::statistical};

std::optional<ThresholdMode> read_mode(TableReader& reader, bool of_suite) {
  const auto name = reader.text("mode");
  if (!name) return std::nullopt;
  for (const ThresholdMode mode : modes) {
    if (*name != to_string(mode)) continue;
    if (mode != ThresholdMode::statistical || of_suite) return mode;
    reader.add_wrong("mode",
                     "cannot be \"statistical\" here: that judges all tests together, and stands in "
                     "settings.thresholding");
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const ThresholdMode mode : modes) {
    if (mode != ThresholdMode::statistical || of_suite) names.emplace_back(to_string(mode));
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  reader.add_wrong("mode", "must be " + quoted_list(names, "or") + ", not \"" + excerpt(*name, 80) + "\"" +
                               did_you_mean(*name, candidates));
  return std::nullopt;
}

struct KeyOfModes {
  std::string_view key;
  bool given = false;
  std::vector<ThresholdMode> modes;  ///< Under which it has an effect.
};

/// `which takes "a" and "b"`.
std::string taken_by(ThresholdMode mode) {
  if (mode == ThresholdMode::absolute) return "\"min_score\"";
  if (mode == ThresholdMode::relative) return "\"max_drop\" and \"min_floor\"";
  return "\"confidence\", \"min_effect\", \"cluster\" and \"min_floor\"";
}

void refuse_without_effect(TableReader& reader, const Thresholding& given, const Thresholding& general) {
  const auto mode = given.mode ? given.mode : general.mode;
  using enum ThresholdMode;
  const std::vector<KeyOfModes> keys{
      {"max_drop", given.max_drop.has_value(), {relative}},
      {"min_floor", given.min_floor.has_value(), {relative, statistical}},
      {"min_score", given.min_score.has_value(), {absolute}},
      {"confidence", given.confidence.has_value(), {statistical}},
      {"min_effect", given.min_effect.has_value(), {statistical}},
      {"cluster", given.cluster_by_category, {statistical}},
  };
  for (const KeyOfModes& key : keys) {
    if (!key.given) continue;
    // Without a mode fixed and relative ones hold side by side; the others are those of tests alone.
    const bool of_tests = key.modes == std::vector{statistical};
    if (!mode && of_tests) reader.add_wrong(key.key, "has an effect with the mode \"statistical\" alone");
    if (!mode || std::ranges::find(key.modes, *mode) != key.modes.end()) continue;
    reader.add_wrong(key.key, "has no effect with the mode \"" + std::string(to_string(*mode)) + "\"" +
                                  (given.mode ? "" : " of settings.thresholding") + ", which takes " +
                                  taken_by(*mode));
  }
}

/// What a test may set too.
Thresholding read_common(TableReader& reader, bool of_suite) {
  Thresholding given;
  given.mode = read_mode(reader, of_suite);
  given.max_drop = reader.number_in("max_drop", 0.0, 1.0);
  given.min_floor = reader.number_in("min_floor", 0.0, 1.0);
  given.min_score = reader.number_in("min_score", 0.0, 1.0);
  return given;
}

}  // namespace

std::string_view to_string(ThresholdMode mode) {
  switch (mode) {
    case ThresholdMode::relative:
      return "relative";
    case ThresholdMode::absolute:
      return "absolute";
    case ThresholdMode::statistical:
      return "statistical";
  }
  return "relative";
}

Thresholding read_thresholding(TableReader reader, const Thresholding& general) {
  const Thresholding given = read_common(reader, false);
  for (const std::string_view key : {"confidence", "min_effect", "cluster"}) {
    if (reader.refused_entry(key) == nullptr) continue;
    reader.add_wrong(key, "is of all tests together, and stands in settings.thresholding");
  }
  reader.finish();
  refuse_without_effect(reader, given, general);
  return given;
}

Thresholding read_suite_thresholding(TableReader reader) {
  Thresholding given = read_common(reader, true);
  given.confidence = reader.number_in("confidence", 0.5, 1.0);
  if (given.confidence && (*given.confidence <= 0.5 || *given.confidence >= 1.0)) {
    reader.add_wrong("confidence", "must be between 0.5 and 1, like 0.95");
    given.confidence.reset();
  }
  // No suite is large enough to exclude a drop of 0, and none of all points is found.
  given.min_effect = reader.number("min_effect");
  if (given.min_effect && (*given.min_effect <= 0.0 || *given.min_effect >= 1.0)) {
    reader.add_wrong("min_effect", "must be above 0 and below 1, not " + shortest(*given.min_effect));
    given.min_effect.reset();
  }
  if (const auto cluster = reader.text("cluster")) {
    given.cluster_by_category = *cluster == "category";
    if (!given.cluster_by_category) {
      reader.add_wrong("cluster", "must be \"category\", not \"" + excerpt(*cluster, 80) + "\"");
    }
  }
  reader.finish();
  refuse_without_effect(reader, given, {});
  return given;
}

}  // namespace sluice
