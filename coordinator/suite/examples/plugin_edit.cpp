#include "coordinator/suite/examples/plugin_edit.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {
namespace {

bool is_blank_or_comment(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  return first == std::string_view::npos || line[first] == '#';
}

/// Where the value of a key begins and ends in a line; nothing if the key is not in it.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};
std::optional<Span> value_of(std::string_view line, std::string_view key) {
  for (auto at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
    if (line.substr(0, at).find('#') != std::string_view::npos) return std::nullopt;
    if (at > 0 && std::string_view(" ,{-").find(line[at - 1]) == std::string_view::npos) continue;
    const auto colon = line.find_first_not_of(' ', at + key.size());
    if (colon == std::string_view::npos || line[colon] != ':') continue;
    const auto begin = line.find_first_not_of(' ', colon + 1);
    if (begin == std::string_view::npos) continue;
    const auto end = std::min(line.find_first_of(" ,}#\r", begin), line.size());
    return Span{begin, end};
  }
  return std::nullopt;
}

class PluginText {
 public:
  PluginText(std::string_view text, const Plugin& plugin) : plugin_(plugin) {
    while (!text.empty()) {
      const auto line = text.substr(0, text.find('\n'));
      lines_.emplace_back(line);
      text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
  }

  void set(const TaskTriple& triple, const Floors& floors) {
    const std::array<std::pair<const char*, double>, 2> values{
        {{"high_floor", floors.high}, {"degraded_floor", floors.degraded}}};
    if (triple == TaskTriple{}) {
      for (const auto& [key, value] : values) set_own(key, value);
      return;
    }
    const auto known = std::ranges::find(plugin_.overrides, triple, &Plugin::Override::of);
    if (known == plugin_.overrides.end()) return add_override(triple, floors);
    for (const auto& [key, value] : values) set_in_override(known->line - 1, key, value);
  }

  std::string finish() const {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  static void replace(std::string& line, const Span& span, double value) {
    line.replace(span.begin, span.end - span.begin, shortest(value));
  }

  void set_own(const std::string& key, double value) {
    for (std::string& line : lines_) {
      if (!line.starts_with(key)) continue;
      if (const auto span = value_of(line, key)) return replace(line, *span, value);
    }
    lines_.push_back(key + ": " + shortest(value));
  }

  /// Behind the last line of the override that begins in this one.
  std::size_t end_of(std::size_t begin) const {
    const std::size_t indent = lines_[begin].find_first_not_of(' ');
    std::size_t end = begin + 1;
    for (std::size_t at = end; at < lines_.size(); ++at) {
      if (is_blank_or_comment(lines_[at])) continue;
      if (lines_[at].find_first_not_of(' ') <= indent) break;
      end = at + 1;
    }
    return end;
  }

  void set_in_override(std::size_t begin, const std::string& key, double value) {
    const std::size_t end = end_of(begin);
    for (std::size_t at = begin; at < end; ++at) {
      if (const auto span = value_of(lines_[at], key)) return replace(lines_[at], *span, value);
    }
    const std::string written = key + ": " + shortest(value);
    for (std::size_t at = end; at-- > begin;) {
      const auto comment = lines_[at].find('#');
      const auto bracket = lines_[at].rfind('}', comment);
      if (bracket == std::string::npos) continue;
      lines_[at].insert(bracket, ", " + written);
      return;
    }
    const auto first_key = lines_[begin].find_first_not_of(" -");
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                  std::string(first_key, ' ') + written);
  }

  void add_override(const TaskTriple& triple, const Floors& floors) {
    std::string entry = "- {";
    for (const auto& [key, part] :
         {std::pair("task_class", &TaskTriple::task_class), std::pair("language", &TaskTriple::language),
          std::pair("build_system", &TaskTriple::build_system)}) {
      if (!(triple.*part).empty()) entry += std::string(key) + ": " + json_string(triple.*part) + ", ";
    }
    entry += "high_floor: " + shortest(floors.high) + ", degraded_floor: " + shortest(floors.degraded) + "}";
    std::size_t at = lines_.size();
    std::string indent = "  ";
    if (!plugin_.overrides.empty()) {
      const std::size_t last = std::ranges::max(plugin_.overrides, {}, &Plugin::Override::line).line - 1;
      indent = std::string(lines_[last].find_first_not_of(' '), ' ');
      at = end_of(last);
    } else {
      const auto key = std::ranges::find_if(
          lines_, [](const std::string& line) { return line.starts_with("overrides:"); });
      if (key == lines_.end()) {
        lines_.emplace_back("overrides:");
        at = lines_.size();
      } else {
        at = static_cast<std::size_t>(key - lines_.begin()) + 1;
        if (const auto empty = key->find("[]"); empty != std::string::npos) {
          key->erase(empty, 2);
          key->erase(key->find_last_not_of(' ') + 1);
        }
      }
    }
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at), indent + entry);
  }

  const Plugin& plugin_;
  std::vector<std::string> lines_;
};

/// Nothing but the floors of the triple was changed.
bool is_as_meant(const Plugin& before, const Plugin& after, const TaskTriple& triple, const Floors& floors) {
  const bool is_new =
      triple != TaskTriple{} &&
      std::ranges::find(before.overrides, triple, &Plugin::Override::of) == before.overrides.end();
  if (after.overrides.size() != before.overrides.size() + (is_new ? 1 : 0)) return false;
  if (after.drift_envelope != before.drift_envelope || after.low_confidence != before.low_confidence)
    return false;
  if (triple == TaskTriple{}) {
    if (after.floors != floors) return false;
  } else if (after.floors != before.floors || after.floors_of(triple) != floors) {
    return false;
  }
  // Those of other triples; they may have one floor of the file's own.
  return std::ranges::all_of(before.overrides, [&](const Plugin::Override& one) {
    const auto same = std::ranges::find(after.overrides, one.of, &Plugin::Override::of);
    if (same == after.overrides.end()) return false;
    return triple == TaskTriple{} || one.of == triple || same->floors == one.floors;
  });
}

}  // namespace

Result<std::string> with_floors(const std::string& text, const TaskTriple& triple, const Floors& floors) {
  const auto cannot = [&](const std::string& why) {
    return fail(Reason::settings_invalid, "the floors for " + in_words(triple) + " (high_floor " +
                                              shortest(floors.high) + ", degraded_floor " +
                                              shortest(floors.degraded) + ") cannot be put into the file" +
                                              why + "; write them in by hand");
  };
  const auto before = parse_plugin(text, "", "the file");
  if (!before) return cannot(": it has findings");
  PluginText edited(text, *before);
  edited.set(triple, floors);
  std::string result = edited.finish();
  const auto after = parse_plugin(result, "", "the file");
  if (!after) return cannot(": " + after.error().front().message);
  if (!is_as_meant(*before, *after, triple, floors)) return cannot(" as it is written");
  return result;
}

}  // namespace sluice
