#include "coordinator/cli/config_text.hpp"

#include "common/text/printable.hpp"
#include "coordinator/display/display.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

using ConfigLines = std::span<const SettingLine>;

constexpr std::string_view before_value = " = ";
constexpr std::string_view before_origin = "  # ";

struct ConfigWidths {
  std::size_t key = 0;
  std::size_t value = 0;
  std::size_t origin = 0;
};

ConfigWidths config_widths(ConfigLines lines) {
  // A line that is much longer than the others does not push their origins aside.
  constexpr std::size_t widest_value = 48;
  constexpr std::size_t widest_origin = 16;
  ConfigWidths widths;
  for (const SettingLine& line : lines) {
    widths.key = std::max(widths.key, display_width(line.key));
    widths.value = std::max(widths.value, std::min(display_width(line.value), widest_value));
    widths.origin = std::max(widths.origin, std::min(display_width(line.origin), widest_origin));
  }
  return widths;
}

std::string line_text(const SettingLine& line, const ConfigWidths& widths) {
  return padded_right(line.key, widths.key).append(before_value) +
         padded_right(line.value, widths.value).append(before_origin) + line.origin;
}

/// What is too long to be aligned stands as it is, and the value below its key where that is too long as
/// well.
std::string aligned_settings(ConfigLines lines, std::size_t columns) {
  constexpr std::size_t value_indent = 4;
  ConfigWidths widths = config_widths(lines);
  const std::size_t others = widths.key + before_value.size() + before_origin.size() + widths.origin;
  widths.value = std::min(widths.value, columns - std::min(others, columns));
  std::string text;
  for (const SettingLine& line : lines) {
    std::string whole = line_text(line, widths);
    if (display_width(whole) > columns) whole = line_text(line, {});
    if (display_width(whole) <= columns) {
      text += whole + "\n";
      continue;
    }
    text += line.key + " =\n";
    const std::string behind = line.value + std::string(before_origin) + line.origin;
    for (const std::string& part : wrapped(behind, columns - value_indent))
      text += std::string(value_indent, ' ') + part + "\n";
  }
  return text;
}

/// `providers.openai`; empty of what is no provider's.
std::string_view provider_of(const SettingLine& line) {
  const std::string_view key = line.key;
  return key.starts_with("providers.") ? key.substr(0, key.rfind('.')) : std::string_view();
}

}  // namespace

std::string config_text(ConfigLines given, std::optional<std::size_t> columns) {
  constexpr std::size_t narrowest = 40;
  // The file may be that of a checkout.
  std::vector<SettingLine> lines(given.begin(), given.end());
  for (SettingLine& line : lines) {
    line.value = printable(line.value);
    line.origin = printable(line.origin);
  }
  const ConfigWidths widths = config_widths(lines);
  std::string text;
  std::size_t widest = 0;
  for (const SettingLine& line : lines) {
    const std::string whole = line_text(line, widths);
    widest = std::max(widest, display_width(whole));
    text += whole + "\n";
  }
  if (!columns || widest <= *columns) return text;
  text.clear();
  for (auto begin = lines.begin(); begin != lines.end();) {
    const auto end = std::find_if(begin, lines.end(), [&](const SettingLine& line) {
      return provider_of(line) != provider_of(*begin);
    });
    text += aligned_settings({begin, end}, std::max(*columns, narrowest));
    begin = end;
  }
  return text;
}

}  // namespace sluice
