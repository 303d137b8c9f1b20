#include "common/documents/plain_toml.hpp"

#include "common/text/number.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

constexpr int max_depth = 8;
/// What headers are looked for among, summed up: each among all that stands before it.
constexpr std::size_t max_looked_at = 100'000;
/// The parser of the whole language refuses numbers of more than 126 characters.
constexpr std::size_t max_word_bytes = 100;

/// True if a string's value is its text: no characters that TOML forbids, no carriage returns, and where a
/// backslash would begin an escape, none.
bool is_verbatim(std::string_view body, bool has_escapes) {
  // Eight bytes at a time. Sums of their lower seven bits reach no other byte.
  constexpr std::uint64_t each = 0x0101010101010101;
  constexpr std::uint64_t lower = 0x7f * each;
  constexpr std::uint64_t highest = 0x80 * each;
  const auto are = [](std::uint64_t word, std::uint64_t byte) {
    const std::uint64_t differs = word ^ (byte * each);
    return ~(((differs & lower) + lower) | differs) & highest;
  };
  std::uint64_t found = 0;
  for (std::size_t at = 0; at < body.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = ' ' * each;  // Verbatim behind the end.
    std::memcpy(&word, body.data() + at, std::min(sizeof word, body.size() - at));
    const std::uint64_t below_space = ~(((word & lower) + 0x60 * each) | word) & highest;
    found |= below_space & ~(are(word, '\n') | are(word, '\t'));
    found |= are(word, 0x7f);
    if (has_escapes) found |= are(word, '\\');
  }
  return found == 0;
}

bool is_bare(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/// True if the text is decimal digits, without a zero before others.
bool is_decimal(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit) && (text.size() == 1 || text.front() != '0');
}

template <class Number>
bool read_number(std::string_view text, DocumentNode& node) {
  const auto number = number_from<Number>(text);
  if (number) node.value = *number;
  return number.has_value();
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<DocumentNode> read() {
    DocumentNode root;
    root.value = DocumentNode::Table();
    root_ = &std::get<DocumentNode::Table>(root.value);
    open_ = root_;
    while (at_ < text_.size()) {
      skip_blanks();
      if (!read_statement() || !end_line()) return std::nullopt;
    }
    if (!put_in_order(root)) return std::nullopt;
    return root;
  }

 private:
  bool read_statement() {
    const char c = peek();
    if (c == '\n' || c == '#' || at_ == text_.size()) return true;
    return c == '[' ? read_header() : read_entry(*open_, max_depth);
  }

  /// Nul at the end of the text, which has none that is plain.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }

  bool skip_comment() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const bool is_good = is_verbatim(text_.substr(at_, end - at_), false);
    at_ = end;
    return is_good;
  }

  bool end_line() {
    skip_blanks();
    if (peek() == '#' && !skip_comment()) return false;
    if (at_ == text_.size()) return true;
    if (!take('\n')) return false;
    ++line_;
    return true;
  }

  /// Between the elements of an array.
  bool skip_lines() {
    while (true) {
      skip_blanks();
      if (peek() == '#' && !skip_comment()) return false;
      if (!take('\n')) return true;
      ++line_;
    }
  }

  std::string_view bare_key() {
    const std::size_t start = at_;
    while (is_bare(peek())) ++at_;
    return text_.substr(start, at_ - start);
  }

  /// The value of a new entry, which is an empty table as yet.
  DocumentNode& add(DocumentNode::Table& table, std::string_view key) const {
    DocumentNode& node = table.emplace_back(DocumentEntry{std::string(key), line_, {}}).value;
    node.line = line_;
    return node;
  }

  // --- headers ---

  bool read_header() {
    ++at_;
    const bool is_array = take('[');
    const std::size_t start = at_;
    open_ = root_;
    for (int depth = max_depth; depth > 0; --depth) {
      const auto key = bare_key();
      if (key.empty()) return false;
      const auto path = text_.substr(start, at_ - start);
      const bool is_last = peek() == ']';
      looked_at_ += open_->size() + known_headers_.size() + arrays_.size();
      if (looked_at_ > max_looked_at) return false;
      if (!is_array ? !open_table(key, path, is_last)
                    : !(is_last ? add_to_array(key, path) : open_element(key, path)))
        return false;
      if (is_last) return take(']') && (!is_array || take(']'));
      if (!take('.')) return false;
    }
    return false;
  }

  DocumentEntry* find_open(std::string_view key) const {
    const auto found = std::ranges::find(*open_, key, &DocumentEntry::key);
    return found != open_->end() ? &*found : nullptr;
  }

  static bool is_among(const std::vector<std::string_view>& paths, std::string_view path) {
    return std::ranges::find(paths, path) != paths.end();
  }

  /// One that stands there already may only be gone through, and only if headers made it.
  bool open_table(std::string_view key, std::string_view path, bool is_last) {
    if (DocumentEntry* there = find_open(key)) {
      if (is_last || !is_among(known_headers_, path)) return false;
      open_ = &std::get<DocumentNode::Table>(there->value.value);
      return true;
    }
    known_headers_.push_back(path);
    open_ = &std::get<DocumentNode::Table>(add(*open_, key).value);
    return true;
  }

  /// The last one of an array of tables.
  bool open_element(std::string_view key, std::string_view path) {
    DocumentEntry* there = find_open(key);
    if (there == nullptr || !is_among(arrays_, path)) return false;
    auto& tables = std::get<DocumentNode::Array>(there->value.value);
    open_ = &std::get<DocumentNode::Table>(tables.back().value);
    return true;
  }

  bool add_to_array(std::string_view key, std::string_view path) {
    DocumentEntry* there = find_open(key);
    if (there != nullptr && !is_among(arrays_, path)) return false;
    if (there == nullptr) arrays_.push_back(path);
    DocumentNode& node = there != nullptr ? there->value : add(*open_, key);
    if (there == nullptr) node.value = DocumentNode::Array();
    DocumentNode& table = std::get<DocumentNode::Array>(node.value).emplace_back();
    table.line = line_;
    open_ = &std::get<DocumentNode::Table>(table.value);
    // The new element has none of the arrays that the one before it has.
    std::erase_if(arrays_, [&](std::string_view known) {
      return known.size() > path.size() && known.starts_with(path) && known[path.size()] == '.';
    });
    return true;
  }

  // --- values ---

  bool read_entry(DocumentNode::Table& table, int depth) {
    const auto key = bare_key();
    if (key.empty()) return false;
    skip_blanks();
    if (!take('=')) return false;
    skip_blanks();
    return read_value(add(table, key), depth);
  }

  bool read_value(DocumentNode& node, int depth) {
    node.line = line_;
    switch (peek()) {
      case '"':
      case '\'':
        return read_string(node);
      case '[':
        return depth > 0 && read_array(node, depth - 1);
      case '{':
        return depth > 0 && read_inline_table(node, depth - 1);
      default:
        return read_word(node);
    }
  }

  bool read_array(DocumentNode& node, int depth) {
    auto& array = node.value.emplace<DocumentNode::Array>();
    ++at_;
    while (true) {
      if (!skip_lines()) return false;
      if (take(']')) return true;
      if (!read_value(array.emplace_back(), depth) || !skip_lines()) return false;
      if (peek() != ']' && !take(',')) return false;
    }
  }

  bool read_inline_table(DocumentNode& node, int depth) {
    auto& table = node.value.emplace<DocumentNode::Table>();
    ++at_;
    skip_blanks();
    if (take('}')) return true;
    while (true) {
      skip_blanks();
      if (!read_entry(table, depth)) return false;
      skip_blanks();
      if (take('}')) return true;
      if (!take(',')) return false;
    }
  }

  /// A number or a boolean.
  bool read_word(DocumentNode& node) {
    const std::size_t start = at_;
    while (is_bare(peek()) || peek() == '.' || peek() == '+' || peek() == ':') ++at_;
    const auto word = text_.substr(start, at_ - start);
    if (word.size() > max_word_bytes) return false;
    if (word == "true" || word == "false") {
      node.value = word == "true";
      return true;
    }
    const auto digits = word.starts_with('-') ? word.substr(1) : word;
    if (is_decimal(digits)) return read_number<std::int64_t>(word, node);
    const std::size_t point = digits.find('.');
    if (point == std::string_view::npos || !is_decimal(digits.substr(0, point))) return false;
    const auto fraction = digits.substr(point + 1);
    if (fraction.empty() || !std::ranges::all_of(fraction, is_digit)) return false;
    return read_number<double>(word, node);
  }

  bool read_string(DocumentNode& node) {
    const char quote = peek();
    const std::string_view fence = quote == '"' ? R"(""")" : "'''";
    if (text_.substr(at_).starts_with(fence)) return read_long_string(node, fence);
    std::string value;
    for (++at_; !take(quote);) {
      if (quote == '"' && take('\\')) {
        const auto meant = short_escape();
        if (!meant) return false;
        value += *meant;
      } else if (!take_verbatim(quote, value)) {
        return false;
      }
    }
    node.value = std::move(value);
    return true;
  }

  /// Up to the closing quote, or to an escape.
  bool take_verbatim(char quote, std::string& value) {
    const std::size_t start = at_;
    while (peek() != quote && peek() != '\n' && peek() != '\0' && !(quote == '"' && peek() == '\\')) ++at_;
    const auto piece = text_.substr(start, at_ - start);
    value += piece;
    return !piece.empty() && is_verbatim(piece, false);
  }

  std::optional<char> short_escape() {
    constexpr std::string_view letters = "\"\\bfnrt";
    constexpr std::string_view meanings = "\"\\\b\f\n\r\t";
    const auto which = letters.find(peek());
    if (which == std::string_view::npos) return std::nullopt;
    ++at_;
    return meanings[which];
  }

  bool read_long_string(DocumentNode& node, std::string_view fence) {
    const std::size_t start = at_ + fence.size();
    const std::size_t end = text_.find(fence, start);
    if (end == std::string_view::npos) return false;
    std::string_view body = text_.substr(start, end - start);
    at_ = end + fence.size();
    // A quote behind the fence is a part of the string.
    if (peek() == fence.front() || !is_verbatim(body, fence.front() == '"')) return false;
    // Lines are longer than what a search for their ends takes to begin with.
    for (auto at = body.find('\n'); at != std::string_view::npos; at = body.find('\n', at + 1)) ++line_;
    if (body.starts_with('\n')) body.remove_prefix(1);
    node.value = std::string(body);
    return true;
  }

  /// False if a key stands twice.
  static bool put_in_order(DocumentNode& node) {
    if (auto* array = std::get_if<DocumentNode::Array>(&node.value)) {
      return std::ranges::all_of(*array, put_in_order);
    }
    auto* table = std::get_if<DocumentNode::Table>(&node.value);
    if (table == nullptr) return true;
    std::vector<DocumentError> twice;
    sort_entries(*table, twice);
    return twice.empty() &&
           std::ranges::all_of(*table, [](DocumentEntry& entry) { return put_in_order(entry.value); });
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  DocumentNode::Table* root_ = nullptr;
  DocumentNode::Table* open_ = nullptr;  ///< What entries go into.
  std::size_t looked_at_ = 0;
  std::vector<std::string_view> known_headers_;  ///< Dotted paths of tables that headers made.
  std::vector<std::string_view> arrays_;         ///< The same of arrays of tables, in what is open.
};

}  // namespace

std::optional<DocumentNode> read_plain_toml(std::string_view text) {
  return Reader(text).read();
}

}  // namespace sluice
