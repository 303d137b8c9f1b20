#include "coordinator/import/trimmed_answer.hpp"

#include "common/checks/pattern.hpp"
#include "common/text/text.hpp"
#include "coordinator/import/defaults.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// A part of a pattern, and white space at the ends of what it finds: it begins (and ends) with none, or
/// finds the same with less of it.
struct PatternPart {
  bool begins_clean = true;
  bool ends_clean = true;
  bool may_be_empty = true;
};

/// Of characters of one class.
PatternPart part_of_class(bool may_be_space, bool may_be_none) {
  const bool is_clean = !may_be_space || may_be_none;  // Of any number of them fewer will do.
  return {is_clean, is_clean, may_be_none};
}

PatternPart part_of_row(const std::vector<PatternPart>& row) {
  PatternPart whole;
  for (const PatternPart& part : row) {
    if (whole.may_be_empty) whole.begins_clean = whole.begins_clean && part.begins_clean;
    whole.may_be_empty = whole.may_be_empty && part.may_be_empty;
  }
  for (auto part = row.rbegin(); part != row.rend(); ++part) {
    whole.ends_clean = whole.ends_clean && part->ends_clean;
    if (!part->may_be_empty) break;
  }
  return whole;
}

bool is_one_of(char c, std::string_view characters) {
  return characters.find(c) != std::string_view::npos;
}

/// Reads a pattern and writes it anew, with white space allowed at its anchors.
class PatternReader {
 public:
  explicit PatternReader(std::string_view pattern) : text_(pattern) {}

  std::optional<std::string> read() {
    take_if("(?i)");
    const PatternPart whole = alternatives();
    if (failed_ || at_ < text_.size() || !whole.begins_clean || !whole.ends_clean) return std::nullopt;
    return std::move(out_);
  }

 private:
  PatternPart alternatives() {
    if (++depth_ > defaults::max_pattern_depth) failed_ = true;
    PatternPart whole = row();
    while (!failed_ && take_if("|")) {
      const PatternPart other = row();
      whole.begins_clean = whole.begins_clean && other.begins_clean;
      whole.ends_clean = whole.ends_clean && other.ends_clean;
      whole.may_be_empty = whole.may_be_empty || other.may_be_empty;
    }
    --depth_;
    return whole;
  }

  PatternPart row() {
    std::vector<PatternPart> parts;
    while (!failed_ && at_ < text_.size() && text_[at_] != '|' && text_[at_] != ')')
      parts.push_back(part(parts.empty()));
    return part_of_row(parts);
  }

  PatternPart part(bool is_first) {
    if (text_[at_] == '^' || text_[at_] == '$') return anchor(is_first);
    if (take_if("\\b")) return {};
    if (text_[at_] == '(') return group();
    const bool may_be_space = characters();
    return part_of_class(may_be_space, takes_none());
  }

  /// Elsewhere than at the ends of the pattern, or of an alternative, it would look at another place.
  PatternPart anchor(bool is_first) {
    const std::string space = "\\s*";
    const bool is_start = text_[at_++] == '^';
    const bool is_last = at_ == text_.size() || text_[at_] == '|';
    if (depth_ > 1 || !(is_start ? is_first : is_last)) failed_ = true;
    out_ += is_start ? "^" + space : space + "$";
    return {};
  }

  PatternPart group() {
    if (!take_if("(?:")) {
      take_if("(");
      // A name, and nothing that looks around or sets flags.
      if (at_ < text_.size() && text_[at_] == '?') {
        const auto end = text_.find('>', at_);
        const std::string_view start = text_.substr(at_).starts_with("?P<") ? "?P<" : "?<";
        const std::string_view name = text_.substr(at_, end == text_.npos ? 0 : end + 1 - at_);
        const bool is_name = name.starts_with(start) && name.find_first_of("=!") == name.npos;
        if (!is_name) failed_ = true;
        take(is_name ? name.size() : 0);
      }
    }
    PatternPart whole = failed_ ? PatternPart{} : alternatives();
    if (!take_if(")")) failed_ = true;
    whole.may_be_empty = takes_none() || whole.may_be_empty;
    return whole;
  }

  /// One character, or a class of them: whether it may be white space.
  bool characters() {
    const char first = text_[at_];
    if (first == '[') return char_class();
    if (first == '\\') return escape();
    if (is_one_of(first, "*+?{")) failed_ = true;
    take(1);
    while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xc0) == 0x80) take(1);
    return first == '.' || is_one_of(first, " \t\r\n\f\v");
  }

  bool escape() {
    const char kind = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    const bool may_mean_more = is_ascii_letter(kind) || is_digit(kind) || kind == '\0';
    if (may_mean_more && !is_one_of(kind, "dwsDWSnrtfv")) failed_ = true;
    take(failed_ ? 0 : 2);
    return is_one_of(kind, " sDWnrtfv");
  }

  bool char_class() {
    take(1);
    const bool is_negated = take_if("^");
    bool has_space = false;
    bool excludes_space = false;
    while (!failed_ && at_ < text_.size() && text_[at_] != ']') {
      excludes_space = excludes_space || text_.substr(at_).starts_with("\\s");
      if (text_.substr(at_).starts_with("[:")) failed_ = true;
      const bool is_escape = text_[at_] == '\\';
      const char first = text_[at_];
      has_space = (is_escape ? escape() : take_plain()) || has_space;
      const bool is_range = at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']';
      if (!is_range || failed_) continue;
      take(1);
      const char last = text_[at_];
      has_space = has_space || is_escape || last == '\\' || !is_printable(first) || !is_printable(last);
      if (last == '\\')
        escape();
      else
        take_plain();
    }
    if (!take_if("]")) failed_ = true;
    return is_negated ? !excludes_space : has_space;
  }

  bool take_plain() {
    const bool is_space = is_one_of(text_[at_], " \t\r\n\f\v");
    take(1);
    return is_space;
  }

  /// Between two of these lies no white space.
  static bool is_printable(char c) { return c > ' ' && c < '\x7f'; }

  /// A quantifier, if there is one: whether it allows for nothing at all.
  bool takes_none() {
    bool may_be_none = take_if("*") || take_if("?");
    if (!may_be_none && !take_if("+")) {
      const std::string_view counts = counts_in_braces();
      if (counts.empty()) return false;
      may_be_none = counts.substr(0, counts.find(',')).find_first_not_of('0') == counts.npos;
      take(counts.size() + 2);
    }
    take_if("?");
    return may_be_none;
  }

  /// Of `{2}` or `{2,3}`, which comes next; empty if it does not. A brace may be one of the text.
  std::string_view counts_in_braces() const {
    const auto end = text_.find('}', at_);
    if (end == text_.npos || text_[at_] != '{') return {};
    const std::string_view counts = text_.substr(at_ + 1, end - at_ - 1);
    const bool is_count = counts.find_first_not_of("0123456789,") == counts.npos && !counts.starts_with(',');
    return is_count ? counts : std::string_view();
  }

  void take(std::size_t count) {
    out_ += text_.substr(at_, count);
    at_ += count;
  }

  bool take_if(std::string_view start) {
    if (!text_.substr(at_).starts_with(start)) return false;
    take(start.size());
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::string out_;
  bool failed_ = false;
};

bool finds(const std::string& pattern, std::string_view text) {
  const auto compiled = Pattern::compile(pattern);
  return compiled && compiled->find(text);
}

}  // namespace

bool has_clean_ends(std::string_view text) {
  static const auto space_at_an_end = [] {
    const std::string space(foreign_space);
    return Pattern::compile("^" + space + "|" + space + "$");
  }();
  return !text.empty() && !(space_at_an_end && space_at_an_end->find(text));
}

std::optional<std::string> pattern_of_untrimmed(std::string_view pattern) {
  // The reader knows white space of ASCII alone.
  constexpr const char* other_space =
      R"([\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}])";
  if (finds(other_space, pattern)) return std::nullopt;
  return PatternReader(pattern).read();
}

std::optional<ForeignCheck> check_of_untrimmed(ForeignCheck check) {
  const bool is_pattern = check.type == "regex";
  const bool holds_texts = (check.type.starts_with("contains") && check.type != "contains-json") ||
                           check.type.starts_with("icontains");
  for (std::string& value : check.values) {
    if (holds_texts && !has_clean_ends(value)) return std::nullopt;
    if (!is_pattern) continue;
    auto pattern = pattern_of_untrimmed(value);
    if (!pattern) return std::nullopt;
    value = std::move(*pattern);
  }
  return check;
}

}  // namespace sluice
