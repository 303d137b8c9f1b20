#include "common/documents/table_reader.hpp"

#include "common/defaults.hpp"
#include "common/text/joined.hpp"
#include "common/text/text.hpp"
#include "common/text/words.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice {
namespace {

const TomlNode::Table& entries_of(const TomlNode& node) {
  static const TomlNode::Table none;
  const auto* table = std::get_if<TomlNode::Table>(&node.value);
  return table != nullptr ? *table : none;
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

bool is_in(const std::vector<std::string_view>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// Whether a word is the key with some letters left out, half of them at most and never the first: `expct`.
bool leaves_letters_out(std::string_view word, std::string_view key) {
  constexpr std::size_t fewest_letters = 4;
  if (word.size() < fewest_letters || 2 * word.size() < key.size() || word.front() != key.front())
    return false;
  std::size_t found = 0;
  for (const char c : key) {
    if (found < word.size() && word[found] == c) ++found;
  }
  return found == word.size();
}

/// The known key that is meant; nothing if none is near enough. None that says the opposite.
std::optional<std::string> meant_key(std::string_view word, std::vector<std::string_view> known) {
  std::erase_if(known,
                [count = negations_in(word)](std::string_view key) { return negations_in(key) != count; });
  if (auto found = nearest(word, known)) return found;
  const auto whole =
      std::ranges::find_if(known, [word](std::string_view key) { return leaves_letters_out(word, key); });
  return whole != known.end() ? std::optional<std::string>(*whole) : std::nullopt;
}

/// Of the text, or the first of several, that is one of a template.
std::string blank_template(const TomlNode& node) {
  if (std::holds_alternative<std::string>(node.value))
    return excerpt(one_line(node.written), defaults::quoted_bytes);
  const auto* texts = std::get_if<TomlNode::Array>(&node.value);
  if (texts == nullptr) return {};
  const auto blank = std::ranges::find_if(*texts, [](const TomlNode& one) {
    return std::holds_alternative<std::string>(one.value) && !one.written.empty();
  });
  return blank != texts->end() ? blank_template(*blank) : std::string();
}

}  // namespace

TableReader::TableReader(const TomlNode& node, std::string name, const std::string& file,
                         std::vector<Finding>& findings, Notation notation)
    : entries_(entries_of(node)),
      line_(node.line),
      name_(std::move(name)),
      file_(file),
      findings_(findings),
      notation_(notation) {
  constexpr std::size_t most_keys = 24;  // Of most tables.
  known_.reserve(most_keys);
  for (const TomlEntry& one : entries_) bits_ |= bit_of(one.key);
}

const TomlEntry* TableReader::find(std::string_view key) const {
  if ((bits_ & bit_of(key)) == 0) return nullptr;
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [key](const TomlEntry& candidate) { return candidate.key == key; });
  return found != entries_.end() ? &*found : nullptr;
}

std::string TableReader::quoted(std::string_view key) const {
  std::string text = "\"" + excerpt(key, 80) + "\"";
  return name_.empty() ? text : text + " in " + name_;
}

const TomlEntry* TableReader::entry(std::string_view key, Need need, std::string_view expected) {
  known_.push_back(key);
  const TomlEntry* found = find(key);
  if (found == nullptr && need == Need::required && !is_in(otherwise_named_, key)) {
    add_missing({key}, "missing " + quoted(key) + ": expected " + std::string(expected));
  }
  return found;
}

void TableReader::add_missing(std::vector<std::string_view> keys, std::string message) {
  missing_.push_back({std::move(keys), findings_.size()});
  add_finding(line_, std::move(message));
}

/// The finding that this key is missing, once.
Finding* TableReader::take_missing(std::string_view key) {
  const auto found = std::find_if(missing_.begin(), missing_.end(),
                                  [key](const Missing& one) { return is_in(one.keys, key); });
  if (found == missing_.end()) return nullptr;
  Finding* const finding = &findings_[found->finding];
  missing_.erase(found);
  return finding;
}

const TomlEntry* TableReader::refused_entry(std::string_view key) {
  const TomlEntry* found = find(key);
  if (found != nullptr) refused_.push_back(key);
  return found;
}

void TableReader::refuse_other_name(std::string_view other, std::string_view key) {
  if (refused_entry(other) == nullptr) return;
  otherwise_named_.push_back(key);
  add_wrong(other, "is called \"" + std::string(key) + '"');
}

std::optional<std::string> TableReader::text(std::string_view key, Need need) {
  const TomlEntry* found = entry(key, need, "a string");
  if (found == nullptr) return std::nullopt;
  if (const auto* value = std::get_if<std::string>(&found->value.value)) return *value;
  add_type_finding(*found, "a string");
  return std::nullopt;
}

std::optional<std::string> TableReader::word(std::string_view key, Need need) {
  auto value = text(key, need);
  if (value && value->empty()) {
    add_empty(key);
    return std::nullopt;
  }
  if (value && has_control_character(*value)) {
    add_wrong(key, "must be one line without control characters");
    return std::nullopt;
  }
  return value;
}

std::optional<std::string> TableReader::date(std::string_view key, Need need) {
  const TomlEntry* found = entry(key, need, "a date or a string");
  if (found == nullptr) return std::nullopt;
  if (const auto* value = std::get_if<TomlDate>(&found->value.value)) return value->text;
  if (const auto* value = std::get_if<std::string>(&found->value.value)) return *value;
  add_type_finding(*found, "a date or a string");
  return std::nullopt;
}

std::optional<double> TableReader::number(std::string_view key, Need need) {
  const TomlEntry* found = entry(key, need, "a number");
  if (found == nullptr) return std::nullopt;
  if (const auto* value = std::get_if<std::int64_t>(&found->value.value)) return static_cast<double>(*value);
  const auto* value = std::get_if<double>(&found->value.value);
  if (value == nullptr) {
    add_type_finding(*found, "a number");
    return std::nullopt;
  }
  if (!std::isfinite(*value)) {
    add_wrong(key, "must be a finite number");
    return std::nullopt;
  }
  return *value;
}

std::optional<double> TableReader::number_in(std::string_view key, double low, double high, Need need) {
  const auto value = number(key, need);
  if (!value || (*value >= low && *value <= high)) return value;
  add_wrong(key, "must be from " + in_digits(low) + " to " + in_digits(high) + ", not " + shortest(*value));
  return std::nullopt;
}

std::optional<std::uint64_t> TableReader::count(std::string_view key, Need need) {
  const TomlEntry* found = entry(key, need, "a whole number");
  if (found == nullptr) return std::nullopt;
  const auto* value = std::get_if<std::int64_t>(&found->value.value);
  if (value == nullptr) {
    add_type_finding(*found, "a whole number");
    return std::nullopt;
  }
  if (*value < 0) {
    add_wrong(key, "must not be negative");
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*value);
}

const TomlNode* TableReader::table(std::string_view key, Need need, std::string_view such_as) {
  const TomlEntry* found = entry(key, need, table_name(notation_));
  if (found == nullptr) return nullptr;
  if (std::holds_alternative<TomlNode::Table>(found->value.value)) return &found->value;
  const std::string expected(table_name(notation_));
  add_type_finding(*found, such_as.empty() ? expected : expected + " such as " + std::string(such_as));
  return nullptr;
}

const TomlNode::Array* TableReader::array(std::string_view key, Need need) {
  const TomlEntry* found = entry(key, need, array_name(notation_));
  if (found == nullptr) return nullptr;
  if (const auto* value = std::get_if<TomlNode::Array>(&found->value.value)) return value;
  add_type_finding(*found, array_name(notation_));
  return nullptr;
}

std::optional<std::vector<std::string>> TableReader::texts(std::string_view key, Need need,
                                                           bool may_be_empty) {
  const std::string_view expected =
      notation_ == Notation::yaml ? "a string or a list of strings" : "a string or an array of strings";
  const TomlEntry* found = entry(key, need, expected);
  if (found == nullptr) return std::nullopt;
  if (const auto* one = std::get_if<std::string>(&found->value.value)) return std::vector{*one};
  const auto* array = std::get_if<TomlNode::Array>(&found->value.value);
  if (array == nullptr) {
    add_type_finding(*found, expected);
    return std::nullopt;
  }
  if (array->empty() && !may_be_empty) {
    add_wrong(key, "must not be empty");
    return std::nullopt;
  }
  std::vector<std::string> texts;
  for (const TomlNode& node : *array) {
    if (const auto* text = std::get_if<std::string>(&node.value)) {
      texts.push_back(*text);
    } else {
      add_finding(node.line, quoted(key) + " must hold strings alone, not " + not_a_string(node));
    }
  }
  if (texts.size() != array->size()) return std::nullopt;
  return texts;
}

std::uint32_t TableReader::line_of(std::string_view key) const {
  const TomlEntry* found = find(key);
  return found != nullptr ? found->line : line_;
}

void TableReader::add_finding(std::uint32_t line, std::string message) {
  findings_.push_back({file_, line, std::move(message)});
}

void TableReader::add_wrong(std::string_view key, std::string_view what) {
  findings_.push_back(wrong(key, what));
}

void TableReader::add_empty(std::string_view key) {
  const TomlEntry* found = find(key);
  const std::string blank = found != nullptr ? blank_template(found->value) : std::string();
  add_wrong(key, blank.empty() ? "must not be empty" : "must not be empty: " + blank + " is empty here");
}

Finding TableReader::wrong(std::string_view key, std::string_view what) const {
  return {file_, line_of(key), quoted(key) + " " + std::string(what)};
}

void TableReader::add_type_finding(const TomlEntry& entry, std::string_view expected) {
  const bool text_is_expected = expected.starts_with("a string");
  add_finding(entry.line, quoted(entry.key) + " must be " + std::string(expected) + ", not " +
                              (text_is_expected ? not_a_string(entry.value)
                                                : std::string(type_name(entry.value, notation_))));
}

/// What YAML reads as something else may well have been meant as a text.
std::string TableReader::not_a_string(const TomlNode& node) const {
  std::string text(type_name(node, notation_));
  const bool scalar = !std::holds_alternative<TomlNode::Table>(node.value) &&
                      !std::holds_alternative<TomlNode::Array>(node.value);
  if (notation_ == Notation::yaml && scalar) text += " (put it in quotes)";
  return text;
}

std::string TableReader::known_keys(std::string_view listed_in) const {
  std::vector<std::string_view> keys;  // Some were asked for twice.
  for (const std::string_view key : known_) {
    if (!is_in(keys, key)) keys.push_back(key);
  }
  if (keys.size() > defaults::most_listed_keys) return listed_in.empty() ? "" : "; " + std::string(listed_in);
  return keys.empty() ? "" : "; valid here: " + joined(keys);
}

void TableReader::finish(const std::function<std::string(std::string_view)>& belongs,
                         std::string_view listed_in) {
  for (const TomlEntry& candidate : entries_) {
    if (is_in(known_, candidate.key) || is_in(refused_, candidate.key)) continue;
    const bool table = notation_ == Notation::toml && name_.empty() &&
                       std::holds_alternative<TomlNode::Table>(candidate.value.value);
    std::string advice = belongs && !table ? belongs(candidate.key) : std::string();
    if (!advice.empty()) advice.insert(0, "; ");
    const std::string unknown = std::string("unknown ") + (table ? "table " : "key ") + quoted(candidate.key);
    const auto meant = advice.empty() ? meant_key(candidate.key, known_) : std::nullopt;
    if (Finding* const missing = meant ? take_missing(*meant) : nullptr) {
      *missing = {file_, candidate.line, unknown + "; did you mean \"" + *meant + "\", which is missing?"};
      continue;
    }
    if (meant) advice = "; did you mean \"" + *meant + "\"?";
    if (advice.empty()) advice = known_keys(listed_in);
    add_finding(candidate.line, unknown + advice);
  }
}

std::string quoted_list(const std::vector<std::string>& names, std::string_view conjunction) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0) text += i + 1 == names.size() ? " " + std::string(conjunction) + " " : std::string(", ");
    text += "\"" + names[i] + "\"";
  }
  return text;
}

}  // namespace sluice
