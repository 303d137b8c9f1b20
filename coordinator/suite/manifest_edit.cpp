#include "coordinator/suite/manifest_edit.hpp"

#include "common/documents/finding.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/suite/manifest.hpp"
#include "coordinator/suite/toml_string.hpp"

#include <algorithm>
#include <cstddef>
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

std::optional<std::string> toml_text(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return toml_string(text);
}

std::optional<std::string> toml_number(std::optional<double> number) {
  if (!number) return std::nullopt;
  return shortest(*number);
}

/// In the order of the documents.
std::vector<Member> members_of(const AggregateBaseline& baseline) {
  return {{"precision", toml_number(baseline.precision)},
          {"recall", toml_number(baseline.recall)},
          {"f1", toml_number(baseline.f1)},
          {"prompt_version", toml_text(baseline.prompt_version)},
          {"model", toml_text(baseline.model)},
          {"measured_at", toml_text(baseline.measured_at)}};
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

std::string_view without_comment(std::string_view line) {
  return trimmed(line.substr(0, line.find('#')));
}

/// The string at the beginning of a text, with its quotes; "" if it does not close.
std::string_view string_at(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == text.front()) return text.substr(0, i + 1);
    if (text[i] == '\\' && text.front() == '"') ++i;
  }
  return {};
}

/// A key and its value on a line of their own, as views of it.
struct PlainLine {
  std::string_view key;
  std::string_view value;
};

std::optional<PlainLine> plain_line(std::string_view line) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  auto value = trimmed(line.substr(equals + 1));
  if (value.starts_with('"') || value.starts_with('\'')) {
    const auto string = string_at(value);
    if (!without_comment(value.substr(string.size())).empty()) return std::nullopt;
    value = string;
  } else {
    value = without_comment(value);
  }
  if (value.empty()) return std::nullopt;
  return PlainLine{trimmed(line.substr(0, equals)), value};
}

/// With their ends.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1));
    text.remove_prefix(lines.back().size());
  }
  return lines;
}

/// The manifest with the members in its plain [baseline] table: each where it stands, new ones after the last
/// of them. The last such line is taken for the header, since an earlier one may stand in a string. Nothing
/// if the table is written otherwise.
std::optional<std::string> with_plain_table(std::string_view manifest, std::vector<Member> members) {
  const std::string line_end(line_end_of(manifest));
  const auto lines = lines_of(manifest);
  std::string_view header;
  for (const std::string_view line : lines) {
    if (without_comment(line) == "[baseline]") header = line;
  }
  if (header.empty()) return std::nullopt;
  std::string result;
  std::string indent;
  std::size_t new_at = 0;  ///< Where members that are new go.
  bool in_table = false;
  for (const std::string_view line : lines) {
    const auto content = without_comment(line);
    const bool is_header = line.data() == header.data();
    if (content.starts_with('[')) in_table = is_header;
    if (!in_table || content.empty()) {
      result += line;
      continue;
    }
    if (is_header) {
      result += line;
    } else {
      const auto plain = plain_line(line);
      const auto member = plain ? std::ranges::find(members, plain->key, &Member::key) : members.end();
      if (member == members.end()) return std::nullopt;
      indent = line.substr(0, line.find_first_not_of(" \t"));
      if (member->value) {
        const auto before = static_cast<std::size_t>(plain->value.data() - line.data());
        result.append(line.substr(0, before)).append(*member->value);
        result += line.substr(before + plain->value.size());
      }
      members.erase(member);
    }
    if (!result.ends_with('\n')) result += line_end;
    new_at = result.size();
  }
  std::string added;
  for (const Member& member : members) {
    if (member.value) added += indent + std::string(member.key) + " = " + *member.value + line_end;
  }
  return result.insert(new_at, added);
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
  auto result = before.manifest.baseline ? with_plain_table(manifest, members)
                                         : std::string(manifest) + new_table(manifest, members);
  if (!result || !has_only_this_change(before, parse_manifest(*result, file), written)) {
    std::string by_hand;
    for (const Member& member : members) {
      if (!member.value) continue;
      by_hand += (by_hand.empty() ? "" : "; ") + std::string(member.key) + " = " + *member.value;
    }
    return fail(unusable({file, 0,
                          "only a plain [baseline] table with a key a line is edited; write by hand, a line "
                          "each below [baseline]: " +
                              by_hand}));
  }
  return *std::move(result);
}

}  // namespace sluice
