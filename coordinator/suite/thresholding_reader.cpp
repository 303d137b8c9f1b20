#include "coordinator/suite/thresholding_reader.hpp"

#include "common/text.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {
namespace {

std::optional<ThresholdMode> read_mode(TableReader& reader) {
  static constexpr std::array<std::string_view, 2> names{"relative", "absolute"};
  const auto name = reader.text("mode");
  if (!name) return std::nullopt;
  if (*name == names[0]) return ThresholdMode::relative;
  if (*name == names[1]) return ThresholdMode::absolute;
  reader.add_wrong("mode", "must be \"relative\" or \"absolute\", not \"" + excerpt(*name, 80) + "\"" +
                               did_you_mean(*name, names));
  return std::nullopt;
}

}  // namespace

Thresholding read_thresholding(TableReader reader, const Thresholding& general) {
  Thresholding given;
  given.mode = read_mode(reader);
  given.max_drop = reader.number_in("max_drop", 0.0, 1.0);
  given.min_floor = reader.number_in("min_floor", 0.0, 1.0);
  given.min_score = reader.number_in("min_score", 0.0, 1.0);
  reader.finish();

  const auto mode = given.mode ? given.mode : general.mode;
  if (!mode) return given;
  const bool is_absolute = *mode == ThresholdMode::absolute;
  const std::string why = "has no effect with the mode " +
                          std::string(is_absolute ? "\"absolute\"" : "\"relative\"") +
                          (given.mode ? "" : " of settings.thresholding") + ", which takes " +
                          (is_absolute ? "\"min_score\"" : "\"max_drop\" and \"min_floor\"");
  if (is_absolute && given.max_drop) reader.add_wrong("max_drop", why);
  if (is_absolute && given.min_floor) reader.add_wrong("min_floor", why);
  if (!is_absolute && given.min_score) reader.add_wrong("min_score", why);
  return given;
}

}  // namespace sluice
