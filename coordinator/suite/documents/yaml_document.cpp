#include "coordinator/suite/documents/yaml_document.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/documents/yaml_scalar.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace sluice {
namespace {

std::uint32_t line_of(const YAML::Mark& mark) {
  return mark.is_null() ? 1 : static_cast<std::uint32_t>(mark.line) + 1;
}

/// Ends the parsing from within the parser's callbacks: the parser recurses, so depth must be refused before
/// it goes on.
struct Refused : std::exception {
  Refused(std::uint32_t at, std::string why) : line(at), message(std::move(why)) {}
  const char* what() const noexcept override { return message.c_str(); }
  std::uint32_t line;
  std::string message;
};

std::size_t count_nodes(const DocumentNode& node, std::size_t& text_bytes) {
  std::size_t count = 1;
  text_bytes += node.written.size();
  if (const auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    for (const DocumentEntry& entry : *table) {
      text_bytes += entry.key.size();
      count += count_nodes(entry.value, text_bytes);
    }
  } else if (const auto* array = std::get_if<DocumentNode::Array>(&node.value)) {
    for (const DocumentNode& one : *array) count += count_nodes(one, text_bytes);
  } else if (const auto* text = std::get_if<std::string>(&node.value)) {
    text_bytes += text->size();
  }
  return count;
}

/// Within braces the parser ends a text at a question mark, which is a part of it in YAML: `{q: How long?}`.
/// Another character stands for it while the parser reads.
class QuestionMarks {
 public:
  /// The text for the parser.
  std::string hide(std::string_view text) {
    // Of those that are for private use, one that the text does not hold, be it by an escape.
    if (!escapes_private_use(text)) choose_sign(text);
    std::string hidden;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!sign_.empty() && text[i] == '?' && is_part_of_text(text, i))
        hidden += sign_;
      else
        hidden += text[i];
    }
    return hidden;
  }

  std::string restored(std::string text) const {
    if (sign_.empty()) return text;
    // Of an unknown escape the parser quotes a byte.
    if (text.ends_with(sign_.front())) text.back() = '?';
    std::string shown;
    std::size_t begin = 0;
    for (auto at = text.find(sign_); at != std::string::npos; at = text.find(sign_, begin)) {
      shown.append(text, begin, at - begin) += '?';
      begin = at + sign_.size();
    }
    return shown.append(text, begin);
  }

 private:
  static bool escapes_private_use(std::string_view text) {
    for (auto at = text.find('\\'); at != text.npos; at = text.find('\\', at + 1)) {
      const std::string escape = to_lower(text.substr(at + 1, 8));
      if (escape.starts_with("ue0") || escape.starts_with("u0000e0")) return true;
    }
    return false;
  }

  void choose_sign(std::string_view text) {
    for (unsigned char last = 0x80; last < 0xc0; ++last) {
      sign_ = {'\xee', '\x80', static_cast<char>(last)};
      if (text.find(sign_) == std::string_view::npos) break;
      sign_.clear();
    }
  }

  /// Where it could begin a key, blanks stand behind it.
  static bool is_part_of_text(std::string_view text, std::size_t at) {
    constexpr std::string_view blanks = " \t\n";
    const char before = at > 0 ? text[at - 1] : '\n';
    const char behind = at + 1 < text.size() ? text[at + 1] : '\n';
    const bool may_begin =
        blanks.find(before) != blanks.npos || before == '{' || before == '[' || before == ',';
    return !may_begin || blanks.find(behind) == blanks.npos;
  }

  std::string sign_;
};

constexpr std::string_view merge_key = "<<";

class YamlTreeBuilder : public YAML::EventHandler {
 public:
  /// Of the text that the parser reads. Folded texts are read as `folded` says (read_yaml).
  YamlTreeBuilder(std::string_view text, const QuestionMarks& marks, std::vector<std::size_t>& folded,
                  ParsedYaml& result)
      : text_(text),
        marks_(marks),
        folded_(folded),
        errors_(result.errors),
        older_numbers_(result.older_numbers) {}

  std::optional<DocumentNode> take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(started_, true)) {
      throw Refused(line_of(mark), "a second document begins here; a suite is one YAML document");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (expects_key()) return set_key(line_of(mark), std::nullopt);
    // The parser stands behind the line break already.
    const std::uint32_t line = in_table() ? open_.back().key.line : line_of(mark);
    add(DocumentNode{DocumentNull{}, line}, anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& read) override {
    const std::uint32_t line = line_of(mark);
    const auto whole = with_whole_characters(marks_.restored(corrected(mark, read)));
    if (!whole) throw Refused(line, "a text is not valid UTF-8");
    const std::string& text = *whole;
    const bool quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    if (!quoted) check_tag(line, tag);
    if (expects_key()) {
      if (anchor != 0) remember(anchor, DocumentNode{text, line});
      if (!quoted && text == merge_key) open_.back().merges = true;
      return set_key(line, text);
    }
    DocumentNode node;
    node.line = line;
    if (quoted) {
      node.value = text;
    } else {
      node.value = resolve_plain_scalar(text);
      if (!std::holds_alternative<std::string>(node.value))
        node.written = text;
      else if (is_older_number(text))
        older_numbers_.push_back({line, text});
    }
    add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const std::uint32_t line = line_of(mark);
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) throw Refused(line, "an alias stands inside of what it names");
    if (expects_key()) {
      const auto* text = std::get_if<std::string>(&known->second.value);
      return set_key(line, text != nullptr ? std::optional(*text) : std::nullopt);
    }
    spend(line, known->second);
    add(DocumentNode(known->second), 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, DocumentNode::Array());
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, DocumentNode::Table());
  }
  void OnMapEnd() override { close(); }

 private:
  /// A table or array that is being read.
  struct Open {
    DocumentNode node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;  ///< A table's next event is the value of `key`.
    bool is_key = false;   ///< Stands where a key should be.
    bool merges = false;   ///< A table with a merge key.
    DocumentEntry key;
  };

  bool in_table() const {
    return !open_.empty() && std::holds_alternative<DocumentNode::Table>(open_.back().node.value);
  }
  bool expects_key() const { return in_table() && !open_.back().has_key; }

  /// The scalar with the line ends that the parser makes others of, or drops.
  std::string corrected(const YAML::Mark& mark, std::string scalar) {
    const std::size_t at = begin_of_scalar(text_, static_cast<std::size_t>(mark.pos));
    const char first = at < text_.size() ? text_[at] : '\0';
    if (first == '>') folded_.push_back(at);
    if (first == '|' && std::ranges::binary_search(folded_, at)) return folded_text(scalar);
    if (first != '"' && first != '\'') return scalar;
    const auto lost = lost_line_ends(text_.substr(at));
    // The parser ends it with the file, and all that stood behind it is a part of it.
    if (!lost) throw Refused(line_of(mark), "not valid YAML: the quote that opens here is closed by nothing");
    return std::move(scalar).append(*lost, '\n');
  }

  static void check_tag(std::uint32_t line, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    throw Refused(line, "the tag \"" + excerpt(to_valid_utf8(tag), 80) + "\" has no meaning in a suite");
  }

  void set_key(std::uint32_t line, std::optional<std::string> text) {
    if (!text) errors_.push_back({line, "a key must be a text"});
    Open& table = open_.back();
    table.key.line = line;
    table.key.key = std::move(text).value_or("");
    table.has_key = true;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            decltype(DocumentNode::value) value) {
    const std::uint32_t line = line_of(mark);
    check_tag(line, tag);
    if (open_.size() == defaults::max_document_depth) {
      throw Refused(line, "is nested more than " + std::to_string(defaults::max_document_depth) + " deep");
    }
    Open opened;
    opened.is_key = expects_key();
    opened.anchor = anchor;
    opened.node.value = std::move(value);
    opened.node.line = line;
    open_.push_back(std::move(opened));
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    if (auto* table = std::get_if<DocumentNode::Table>(&closed.node.value)) {
      sort_entries(*table, errors_);
      if (closed.merges) merge(*table);
    }
    if (closed.is_key) {
      const bool is_table = std::holds_alternative<DocumentNode::Table>(closed.node.value);
      set_key(closed.node.line, std::nullopt);
      if (is_table) errors_.back().message += "; a text that begins with \"{{\" stands in quotes";
      return;
    }
    add(std::move(closed.node), closed.anchor);
  }

  /// What the merge key names goes to its place in the table where this says nothing itself; of several the
  /// first counts.
  void merge(DocumentNode::Table& table) {
    const auto found = std::ranges::find(table, merge_key, &DocumentEntry::key);
    const std::uint32_t line = found->line;
    const std::uint32_t place = found->place;
    DocumentNode named = std::move(found->value);
    table.erase(found);
    DocumentNode::Array sources;
    if (auto* list = std::get_if<DocumentNode::Array>(&named.value))
      sources = std::move(*list);
    else
      sources.push_back(std::move(named));
    std::set<std::string> taken;
    for (const DocumentEntry& entry : table) taken.insert(entry.key);
    DocumentNode::Table merged;
    for (DocumentNode& source : sources) {
      auto* entries = std::get_if<DocumentNode::Table>(&source.value);
      if (entries == nullptr) {
        errors_.push_back({line, "the merge key \"<<\" takes a mapping, or a list of mappings"});
        continue;
      }
      std::ranges::stable_sort(*entries, {}, &DocumentEntry::place);
      for (DocumentEntry& entry : *entries) {
        if (taken.insert(entry.key).second) merged.push_back(std::move(entry));
      }
    }
    std::ranges::stable_sort(table, {}, &DocumentEntry::place);
    const auto behind =
        std::ranges::find_if(table, [place](const DocumentEntry& entry) { return entry.place > place; });
    table.insert(behind, std::make_move_iterator(merged.begin()), std::make_move_iterator(merged.end()));
    for (std::size_t i = 0; i < table.size(); ++i) table[i].place = static_cast<std::uint32_t>(i);
    std::ranges::stable_sort(table, {}, &DocumentEntry::key);
  }

  void add(DocumentNode node, YAML::anchor_t anchor) {
    spend_nodes(node.line, 1);
    if (anchor != 0) remember(anchor, node);
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (auto* array = std::get_if<DocumentNode::Array>(&parent.node.value)) {
      array->push_back(std::move(node));
      return;
    }
    parent.key.value = std::move(node);
    std::get<DocumentNode::Table>(parent.node.value).push_back(std::move(parent.key));
    parent.key = {};
    parent.has_key = false;
  }

  void remember(YAML::anchor_t anchor, const DocumentNode& node) {
    spend(node.line, node);
    anchors_.insert_or_assign(anchor, node);
  }

  /// Counts a copy: aliases of aliases would grow beyond any memory.
  void spend(std::uint32_t line, const DocumentNode& copied) {
    std::size_t bytes = 0;
    spend_nodes(line, count_nodes(copied, bytes));
    copied_bytes_ += bytes;
    if (copied_bytes_ > defaults::max_aliased_bytes) throw Refused(line, "its aliases repeat too much text");
  }

  void spend_nodes(std::uint32_t line, std::size_t nodes) {
    nodes_ += nodes;
    if (nodes_ > defaults::max_document_nodes) {
      throw Refused(line, "holds more than " + std::to_string(defaults::max_document_nodes) +
                              " values, counting those that aliases repeat; put tests into a \"tests_file\"");
    }
  }

  std::string_view text_;
  const QuestionMarks& marks_;
  std::vector<std::size_t>& folded_;
  std::vector<DocumentError>& errors_;
  std::vector<DocumentError>& older_numbers_;
  std::optional<DocumentNode> root_;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, DocumentNode> anchors_;
  std::size_t nodes_ = 0;
  std::size_t copied_bytes_ = 0;
  bool started_ = false;
};

/// Bytes that YAML does not allow; the parser takes some of them for its own signs.
std::optional<DocumentError> foreign_byte(std::string_view text) {
  if (const auto bad = invalid_utf8_at(text))
    return DocumentError{line_of_offset(text, *bad), "not valid UTF-8" + std::string(how_to_reach_utf8)};
  const auto bad = std::ranges::find_if(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
  });
  if (bad == text.end()) return std::nullopt;
  const auto offset = static_cast<std::size_t>(bad - text.begin());
  return DocumentError{line_of_offset(text, offset), "not valid YAML: a control character stands here"};
}

/// The parser has no word of its own for most tabs that it stumbles over.
bool is_indented_with_tab(std::string_view text, std::uint32_t line) {
  std::size_t begin = 0;
  for (std::uint32_t at = 1; at < line; ++at) {
    const auto end = text.find('\n', begin);
    if (end == std::string_view::npos) return false;
    begin = end + 1;
  }
  const auto end = std::min(text.find_first_not_of(" -\t", begin), text.size());
  return text.substr(begin, end - begin).find('\t') != std::string_view::npos;
}

/// What to look for, by the parser's words.
std::string hint_for(std::string_view message) {
  const auto says = [message](std::string_view words) { return message.find(words) != message.npos; };
  if (says("unknown token")) return "; a text that begins with @, % or ` stands in quotes";
  std::string hint;
  if (says("map not found") || says("sequence not found") || says("map value") || says("block entry")) {
    hint =
        "; look at the indentation here and above: the entries of a list, and the keys of a mapping, begin "
        "in one column";
  }
  // Most of what is open at the end, or no value, is a text that YAML reads as its own signs.
  if (says("flow") || says("map"))
    hint += "; a text with \": \", \" ? \", braces or brackets in it stands in quotes";
  return hint;
}

DocumentError syntax_error(const YAML::Exception& error, std::string_view text, const QuestionMarks& marks) {
  const std::uint32_t line = line_of(error.mark);
  if (is_indented_with_tab(text, line)) {
    return {line, "not valid YAML: a tab stands in the indentation, which takes spaces alone"};
  }
  return {line,
          "not valid YAML: " + excerpt(to_valid_utf8(marks.restored(error.msg)), defaults::quoted_bytes) +
              hint_for(error.msg)};
}

/// The parser gets line ends of folded texts wrong, and those of literal ones right. So where folded ones
/// begin is noted in `folded`; those that it names have `|` in the text, and are folded here.
ParsedYaml read_yaml(const std::string& text, const QuestionMarks& marks, std::vector<std::size_t>& folded) {
  ParsedYaml result;
  try {
    std::istringstream in(text);
    YamlTreeBuilder builder(text, marks, folded, result);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
    result.root = builder.take_root();
    if (!result.root) result.root = DocumentNode{DocumentNull{}, 1};
  } catch (const Refused& refused) {
    result.errors.push_back({refused.line, marks.restored(refused.message)});
  } catch (const YAML::Exception& error) {
    result.errors.push_back(syntax_error(error, text, marks));
  } catch (const std::exception& error) {
    result.errors.push_back({1, "not valid YAML: " + std::string(error.what())});
  }
  return result;
}

}  // namespace

ParsedYaml parse_yaml(std::string_view given) {
  // The parser passes over one more, and counts places from there.
  for (auto bare = without_byte_order_mark(given); bare.size() < given.size();
       bare = without_byte_order_mark(given))
    given = bare;
  const std::string text = with_unix_line_ends(std::string(given));
  if (auto error = foreign_byte(text)) return {std::nullopt, {std::move(*error)}};
  QuestionMarks marks;
  std::string hidden = marks.hide(text);
  std::vector<std::size_t> folded;
  ParsedYaml result = read_yaml(hidden, marks, folded);
  if (!result.root || folded.empty()) return result;
  for (const std::size_t at : folded) hidden[at] = '|';
  return read_yaml(hidden, marks, folded);
}

}  // namespace sluice
