#include "coordinator/suite/manifest_edit.hpp"

#include "common/finding.hpp"
#include "common/text.hpp"
#include "coordinator/suite/manifest.hpp"
#include "coordinator/suite/toml_statements.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// A key of the baseline and its value as TOML; no value: the key is left out.
struct Member {
  std::string_view key;
  std::optional<std::string> value;
};

struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

/// A basic string. Not JSON's form: TOML has DEL escaped too.
std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04X", static_cast<unsigned>(byte));
      out += escape.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::optional<std::string> toml_text(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return toml_string(text);
}

std::optional<std::string> toml_number(std::optional<double> number) {
  if (!number) return std::nullopt;
  return shortest(*number);
}

/// In the order of the harness spec.
std::vector<Member> members_of(const AggregateBaseline& baseline) {
  return {{"precision", toml_number(baseline.precision)},
          {"recall", toml_number(baseline.recall)},
          {"f1", toml_number(baseline.f1)},
          {"prompt_version", toml_text(baseline.prompt_version)},
          {"model", toml_text(baseline.model)},
          {"measured_at", toml_text(baseline.measured_at)}};
}

/// Where the baseline's keys stand in a manifest.
struct Place {
  enum class Layout { none, table, dotted, inline_table } layout = Layout::none;
  std::vector<TomlStatement> members;  ///< Their last key part is the name. Of an inline table: itself.
  std::size_t header_end = 0;          ///< `table` only.
};

Place place_of(std::string_view manifest) {
  using Layout = Place::Layout;
  Place place;
  bool at_top = true;
  bool in_baseline = false;
  for (TomlStatement& statement : toml_statements(manifest)) {
    const bool is_baseline = !statement.key.empty() && statement.key.front() == "baseline";
    if (statement.is_header) {
      at_top = false;
      in_baseline = is_baseline && statement.key.size() == 1;
      if (in_baseline) place = {Layout::table, {}, statement.end};
    } else if (in_baseline) {
      place.members.push_back(std::move(statement));
    } else if (at_top && is_baseline) {
      place.layout = statement.key.size() == 1 ? Layout::inline_table : Layout::dotted;
      place.members.push_back(std::move(statement));
    }
  }
  return place;
}

std::string_view line_end_of(std::string_view manifest) {
  const auto end = manifest.find('\n');
  return end != std::string_view::npos && end > 0 && manifest[end - 1] == '\r' ? "\r\n" : "\n";
}

std::string new_table(std::string_view manifest, const std::vector<Member>& members) {
  const std::string line_end(line_end_of(manifest));
  std::string text;
  if (!manifest.empty()) text = manifest.ends_with('\n') ? line_end : line_end + line_end;
  text += "[baseline]" + line_end;
  for (const Member& member : members) {
    if (member.value) text += std::string(member.key) + " = " + *member.value + line_end;
  }
  return text;
}

std::string inline_table(const std::vector<Member>& members) {
  std::string text;
  for (const Member& member : members) {
    if (member.value) text += (text.empty() ? "{ " : ", ") + std::string(member.key) + " = " + *member.value;
  }
  return text.empty() ? "{}" : text + " }";
}

/// Each key where it stands; new ones after the last of them.
std::vector<Edit> edits_line_by_line(std::string_view manifest, const Place& place,
                                     std::vector<Member> members) {
  std::vector<Edit> edits;
  bool last_line_stays = true;
  for (const TomlStatement& statement : place.members) {
    const auto member = std::ranges::find(members, std::string_view(statement.key.back()), &Member::key);
    last_line_stays = member == members.end() || member->value.has_value();
    if (last_line_stays && member == members.end()) continue;
    if (last_line_stays) {
      edits.push_back({statement.value_begin, statement.value_end, *member->value});
    } else {
      edits.push_back({statement.begin, statement.end, ""});
    }
    members.erase(member);
  }
  const auto at = place.members.empty() ? place.header_end : place.members.back().end;
  std::string indent;
  if (!place.members.empty()) {
    const auto& last = place.members.back();
    indent = manifest.substr(last.begin, last.key_begin - last.begin);
  }
  if (place.layout == Place::Layout::dotted) indent += "baseline.";
  const std::string line_end(line_end_of(manifest));
  std::string added;
  for (const Member& member : members) {
    if (member.value) added += indent + std::string(member.key) + " = " + *member.value + line_end;
  }
  if (added.empty()) return edits;
  const bool line_is_open = last_line_stays && at > 0 && manifest[at - 1] != '\n';
  edits.push_back({at, at, line_is_open ? line_end + added : added});
  return edits;
}

std::string edited(std::string_view text, const std::vector<Edit>& edits) {
  std::string result;
  std::size_t position = 0;
  for (const Edit& edit : edits) {
    result += text.substr(position, edit.begin - position);
    result += edit.text;
    position = edit.end;
  }
  result += text.substr(position);
  return result;
}

Error unusable(const Finding& finding) {
  return {Reason::fixture_invalid, to_text(finding)};
}

bool equal(const AggregateBaseline& a, const AggregateBaseline& b) {
  return a.precision == b.precision && a.recall == b.recall && a.f1 == b.f1 &&
         a.prompt_version == b.prompt_version && a.model == b.model && a.measured_at == b.measured_at;
}

/// Whether a text says what the old one did but for the baseline.
bool has_only_this_change(const ParsedManifest& before, const ParsedManifest& after,
                          const AggregateBaseline& baseline) {
  const Manifest& old_one = before.manifest;
  const Manifest& new_one = after.manifest;
  return after.findings.empty() && new_one.baseline && equal(*new_one.baseline, baseline) &&
         new_one.corpus_version == old_one.corpus_version && new_one.total_fixtures == old_one.total_fixtures;
}

}  // namespace

Result<std::string> with_baseline(std::string_view manifest, const AggregateBaseline& baseline,
                                  const std::string& file) {
  const auto before = parse_manifest(manifest, file);
  if (!before.findings.empty()) return fail(unusable(before.findings.front()));
  AggregateBaseline written = baseline;
  for (auto* text : {&written.prompt_version, &written.model, &written.measured_at}) {
    *text = to_valid_utf8(*text);
  }
  const auto members = members_of(written);
  const Place place = place_of(manifest);
  std::vector<Edit> edits;
  std::uint32_t line = 0;
  if (place.layout == Place::Layout::none) {
    edits.push_back({manifest.size(), manifest.size(), new_table(manifest, members)});
  } else if (place.layout == Place::Layout::inline_table) {
    const TomlStatement& whole = place.members.front();
    line = whole.line;
    const auto value = manifest.substr(whole.value_begin, whole.value_end - whole.value_begin);
    if (value.find('\n') != std::string_view::npos) {
      return fail(unusable({file, line,
                            "\"baseline\" is an inline table of more than one line, which is not edited in "
                            "place; write it as a table, [baseline]"}));
    }
    edits.push_back({whole.value_begin, whole.value_end, inline_table(members)});
  } else {
    if (!place.members.empty()) line = place.members.front().line;
    edits = edits_line_by_line(manifest, place, members);
  }
  std::string result = edited(manifest, edits);
  if (!has_only_this_change(before, parse_manifest(result, file), written)) {
    return fail(
        unusable({file, line,
                  "the baseline is written in a way that is not edited in place; write it as a table, "
                  "[baseline], with a key a line"}));
  }
  return result;
}

}  // namespace sluice
