#include "coordinator/score_files/json_pieces.hpp"

#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/quoted.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

/// What the parser stopped at. It hands out its last text or number and all that came after it.
std::string quoted_end(std::string_view token) {
  const std::size_t behind = behind_text(token);
  const bool is_text = token.starts_with('"') && behind == 0;
  token.remove_prefix(behind);
  if (!is_text && token.size() > 1) {
    // Control characters stand in it as <U+000A>.
    const std::size_t before = token.find_last_of(" ,:[]{}>", token.size() - 2);
    if (before != std::string_view::npos) token.remove_prefix(before + 1);
  }
  return "`" + to_valid_utf8(end_of(token, defaults::quoted_json_bytes)) + "`";
}

/// 1 MiB, 64 GiB
std::string amount(std::uint64_t bytes) {
  const bool is_large = bytes >= std::uint64_t{1} << 30;
  return std::to_string(bytes >> (is_large ? 30 : 20)) + (is_large ? " GiB" : " MiB");
}

}  // namespace

struct JsonPieces::Events {
  JsonPieces& pieces;
  using Kind = JsonNode::Kind;

  bool null() { return pieces.on_value({.kind = Kind::null}); }
  bool boolean(bool given) { return pieces.on_value({.kind = Kind::boolean, .boolean = given}); }
  bool number_integer(std::int64_t number) {
    return pieces.on_value({.kind = Kind::number, .number = static_cast<double>(number), .negative = number});
  }
  bool number_unsigned(std::uint64_t number) {
    return pieces.on_value({.kind = Kind::number, .number = static_cast<double>(number), .whole = number});
  }
  bool number_float(double number, const std::string&) {
    return pieces.on_value({.kind = Kind::number, .number = number});
  }
  bool string(std::string& text) { return pieces.on_value({.kind = Kind::text, .text = std::move(text)}); }
  bool binary(const auto&) { return false; }
  bool start_object(std::size_t) { return pieces.on_value({.kind = Kind::object}); }
  bool start_array(std::size_t) { return pieces.on_value({.kind = Kind::list}); }
  bool key(const std::string& name) { return pieces.on_key(name); }
  bool end_object() { return pieces.on_close(); }
  bool end_array() { return pieces.on_close(); }
  bool parse_error(std::size_t, const std::string& token, const auto& error) {
    constexpr int number_overflow = 406;  // nlohmann's number of the error.
    pieces.on_broken(token, error.id == number_overflow);
    return false;
  }
};

void JsonPieces::read() {
  Events events{*this};
  std::istream text(&source_);
  nlohmann::json::sax_parse(text, &events);
}

bool JsonPieces::begin(std::string_view) {
  return true;
}

bool JsonPieces::is_wanted(std::string_view name) const {
  const std::size_t depth = open_.size();
  // After a problem only what says more than it: another version.
  if (problem()) return depth == 1 && name == "schema_version";
  if (depth > 2 && !open_[1].holds_elements) return true;
  if (depth > 3) return true;
  const std::string_view of = depth == 1 ? std::string_view() : open_.front().key;
  return std::ranges::any_of(shape_.wanted, [&](const Member& member) {
    return member.of == of && (member.name.empty() || member.name == name);
  });
}

bool JsonPieces::Open::has(std::string_view name) {
  if (node->members.size() < defaults::many_json_members) return node->find(name) != nullptr;
  if (names.empty()) {
    for (const auto& [member, value] : node->members) names.insert(member);
  }
  return !names.emplace(name).second;
}

bool JsonPieces::on_key(std::string_view name) {
  Open& object = open_.back();
  object.key = name;
  const bool is_root = open_.size() == 1;
  if (is_root && !begin(name)) return false;
  const bool is_list = is_root && name == shape_.list;
  object.is_wanted = object.node != nullptr && (is_list || is_wanted(name));
  if (!object.is_wanted) return true;
  if (object.has(name) || (is_list && has_list_)) {
    // Of what is deep inside, the member that it stands in is named.
    const std::size_t depth = open_.size();
    const std::size_t shallow = open_.size() > 1 && open_[1].holds_elements ? 3 : 1;
    problem(line(), depth <= shallow
                        ? "the key `" + place() + "` stands there twice"
                        : "the key " + backquoted(name) + in_place(shallow) + " stands there twice");
    object.is_wanted = false;
  }
  return true;
}

/// Where the value that comes next is kept; null: nowhere.
JsonNode* JsonPieces::place_for_node() {
  Open& open = open_.back();
  if (open.holds_elements) return problem() ? nullptr : &piece_;
  if (open.node == nullptr || (!open.is_list && !open.is_wanted)) return nullptr;
  return &open.node->members.emplace_back(open.is_list ? std::string() : open.key, JsonNode()).second;
}

bool JsonPieces::on_value(JsonNode node) {
  node.line = line();
  const bool opens = node.opens();
  const bool is_list = node.kind == JsonNode::Kind::list;
  if (open_.empty()) {
    if (node.kind != JsonNode::Kind::object) {
      return problem(node.line, "holds " + shown(node) + ", expected a JSON object");
    }
    open_.push_back({.node = &root_});
    return true;
  }
  if (opens && open_.size() == shape_.max_depth) {
    const std::size_t shallow = open_[1].holds_elements ? 3 : 1;
    return problem(node.line, "is nested deeper than " + std::to_string(shape_.max_depth) + " levels" +
                                  in_place(shallow));
  }
  const bool is_of_root = open_.size() == 1;
  if (is_of_root && is_list && open_.back().key == shape_.list) {
    has_list_ = true;
    open_.push_back({.is_list = true, .holds_elements = open_.back().is_wanted});
    return true;
  }
  if (is_of_root) has_list_ = has_list_ || open_.back().key == shape_.list;
  if (open_.back().holds_elements) values_ = 0;
  JsonNode* const kept = place_for_node();
  if (kept != nullptr) {
    if (++values_ > shape_.max_values) {
      return problem(node.line, "holds more than " + std::to_string(shape_.max_values) + " values" +
                                    in_place(2) + ", which no " + std::string(shape_.kind) + " does");
    }
    *kept = std::move(node);
  }
  if (opens) {
    open_.push_back({.is_list = is_list, .node = kept});
  } else {
    on_whole_value();
  }
  return true;
}

bool JsonPieces::on_close() {
  open_.pop_back();
  root_closed_ = open_.empty();
  if (!open_.empty()) on_whole_value();
  return true;
}

void JsonPieces::on_whole_value() {
  Open& open = open_.back();
  if (open.holds_elements && !problem()) {
    const JsonAt root(root_);
    take(JsonAt::element(root, shape_.list, taken_, piece_));
    ++taken_;
  }
  ++open.index;
}

void JsonPieces::on_broken(std::string_view token, bool out_of_range) {
  broken_ = true;
  if (problem()) return;
  const bool in_character = stops_in_character(token);
  const std::string at = in_character ? "a character that is not ASCII" : quoted_end(token);
  const std::string kind(shape_.kind);
  std::string message;
  if (source_.end() == JsonSource::End::unreadable) {
    message = "cannot be read to its end";
  } else if (source_.end() == JsonSource::End::text_too_long) {
    message = "holds more than " + amount(shape_.limits.text_bytes) + ", which no " + kind + " does";
  } else if (source_.end() == JsonSource::End::piece_too_long) {
    message = "holds more than " + amount(shape_.limits.piece_bytes) + " in one piece" + in_place();
  } else if (root_closed_) {
    message = "goes on after the end of its JSON object with " + at + ": remove what follows it";
  } else if (out_of_range) {
    message = "holds the number " + at + in_place() +
              ", which is too large for any score; expected a number from 0 to 1";
  } else if (source_.blank()) {
    message = "is empty, expected a " + kind + " as " + std::string(shape_.written_by) + " writes it";
  } else if (source_.end() == JsonSource::End::whole) {
    message = "ends too early" + in_place() + ": it was cut off; copy it again, or " +
              std::string(shape_.how_to_write);
  } else if (!in_character && invalid_utf8_at(token)) {
    message = "is not UTF-8 text at " + at + in_place();
  } else if (open_.empty()) {
    message = "is not JSON, " + std::string(shape_.if_not_json);
  } else {
    message = "is not JSON at " + at + in_place();
  }
  problem(line(), std::move(message));
}

/// Of the value that is read, as far as it stands in so many objects and lists.
std::string JsonPieces::place(std::size_t depth) const {
  std::string text;
  for (std::size_t i = 0; i < std::min(depth, open_.size()); ++i) {
    const Open& open = open_[i];
    if (open.is_list) text += "[" + std::to_string(open.index) + "]";
    if (!open.is_list && !open.key.empty()) text += (text.empty() ? "" : ".") + escaped_excerpt(open.key);
  }
  return text;
}

std::string JsonPieces::in_place(std::size_t depth) const {
  const std::string text = place(depth);
  return text.empty() ? "" : " in `" + text + "`";
}

}  // namespace sluice
