#include "common/wire/archive.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sluice::wire {

void TextTable::add(const SharedText& text) {
  if (!text || by_address_.contains(text.get())) return;
  const auto [entry, is_new] = by_content_.try_emplace(*text, static_cast<std::uint32_t>(texts.size()));
  if (is_new) texts.push_back(text);
  by_address_.emplace(text.get(), entry->second);
}

std::uint32_t TextTable::position(const SharedText& text) const {
  return by_address_.at(text.get());
}

// --- Writer

void Writer::put(double value) {
  // Always 9 bytes: the packer would turn 2.0 into an integer, and lose the sign of -0.0.
  const auto bits = std::bit_cast<std::uint64_t>(value);
  char bytes[9] = {'\xcb'};
  for (int i = 0; i < 8; ++i) bytes[i + 1] = static_cast<char>(bits >> (56 - 8 * i) & 0xFF);
  sink_.write(bytes, sizeof bytes);
}

void Writer::put(const Digest& digest) {
  packer_.pack_bin(static_cast<std::uint32_t>(digest.size()));
  packer_.pack_bin_body(reinterpret_cast<const char*>(digest.data()),
                        static_cast<std::uint32_t>(digest.size()));
}

void Writer::put(const ClaimValue& value) {
  std::visit([this](const auto& held) { put(held); }, value);
}

void Writer::put(const TextTable& table) {
  packer_.pack_array(static_cast<std::uint32_t>(table.texts.size()));
  for (const auto& text : table.texts) put(std::string_view(*text));
}

void Writer::put(const SharedText& text) {
  if (text) {
    put(texts->position(text));
  } else {
    packer_.pack_nil();
  }
}

void Writer::put_prose(const std::string& text) {
  if (invalid_utf8_at(text)) {
    put(std::string_view(to_valid_utf8(text)));
  } else {
    put(std::string_view(text));
  }
}

void Writer::put_excerpt(const std::string& text, std::size_t max_bytes) {
  if (invalid_utf8_at(text)) {
    put(beginning(to_valid_utf8(text), max_bytes));
  } else {
    put(beginning(text, max_bytes));
  }
}

// --- Reader

std::string Reader::problem() const {
  std::string text = "field ";
  for (auto position = path_.rbegin(); position != path_.rend(); ++position) {
    if (position != path_.rbegin()) text += '.';
    text += std::to_string(*position);
  }
  if (path_.empty()) text = "the message";
  text += ": ";
  return text + (problem_ ? problem_ : "nothing wrong");
}

bool Reader::unsigned_number(const Object& object, std::uint64_t max, std::uint64_t& value) {
  if (object.type != msgpack::type::POSITIVE_INTEGER) return refuse("a number of at least 0 was expected");
  if (object.via.u64 > max) return refuse("a smaller number was expected");
  value = object.via.u64;
  return true;
}

bool Reader::get(const Object& object, bool& value) {
  if (object.type != msgpack::type::BOOLEAN) return refuse("true or false was expected");
  value = object.via.boolean;
  return true;
}

bool Reader::get(const Object& object, std::int64_t& value) {
  if (object.type == msgpack::type::NEGATIVE_INTEGER) {
    value = object.via.i64;
    return true;
  }
  std::uint64_t number = 0;
  if (!unsigned_number(object, std::numeric_limits<std::int64_t>::max(), number)) return false;
  value = static_cast<std::int64_t>(number);
  return true;
}

bool Reader::get(const Object& object, double& value) {
  if (object.type != msgpack::type::FLOAT64) return refuse("a 64-bit float was expected");
  if (!std::isfinite(object.via.f64)) return refuse("a finite number was expected");
  value = object.via.f64;
  return true;
}

bool Reader::get(const Object& object, std::string& text) {
  if (object.type != msgpack::type::STR) return refuse("a text was expected");
  const std::string_view view(object.via.str.ptr, object.via.str.size);
  if (invalid_utf8_at(view)) return refuse("valid UTF-8 was expected");
  text = view;
  return true;
}

bool Reader::get(const Object& object, Digest& digest) {
  if (object.type != msgpack::type::BIN || object.via.bin.size != digest.size()) {
    return refuse("a digest of 32 bytes was expected");
  }
  std::copy_n(reinterpret_cast<const std::uint8_t*>(object.via.bin.ptr), digest.size(), digest.begin());
  return true;
}

bool Reader::get(const Object& object, ClaimValue& value) {
  switch (object.type) {
    case msgpack::type::BOOLEAN:
      return get(object, value.emplace<bool>());
    case msgpack::type::FLOAT64:
      return get(object, value.emplace<double>());
    case msgpack::type::STR:
      return get(object, value.emplace<std::string>());
    default:
      return refuse("true, false, a 64-bit float or a text was expected");
  }
}

bool Reader::get(const Object& object, TextTable& texts) {
  std::vector<std::string> list;
  if (!get(object, list)) return false;
  texts.texts.clear();
  for (auto& text : list) texts.texts.push_back(share(std::move(text)));
  return true;
}

bool Reader::get(const Object& object, SharedText& text) {
  text.reset();
  if (object.type == msgpack::type::NIL) return true;
  std::uint32_t position = 0;
  if (!get(object, position)) return false;
  if (position >= table.texts.size()) return refuse("the position of a shared text was expected");
  text = table.texts[position];
  return true;
}

bool Reader::get(const Object& object, std::chrono::milliseconds& value) {
  std::uint64_t number = 0;
  if (!unsigned_number(object, max_duration_ms, number)) return false;
  value = std::chrono::milliseconds(number);
  return true;
}

bool Reader::get(const Object& object, const Ratio<double>& field) {
  if (!get(object, field.value)) return false;
  return (field.value >= 0.0 && field.value <= 1.0) || refuse("a number in 0..1 was expected");
}

bool Reader::get(const Object& object, const Ratio<std::optional<double>>& field) {
  if (!get(object, field.value)) return false;
  return !field.value || (*field.value >= 0.0 && *field.value <= 1.0) ||
         refuse("a number in 0..1 was expected");
}

bool Reader::get(const Object& object, const Name<std::string>& field) {
  if (!get(object, field.value)) return false;
  return field.value.size() <= max_name_bytes || refuse("a shorter name was expected");
}

bool Reader::get(const Object& object, const Sentence<std::string>& field) {
  if (!get(object, field.value)) return false;
  constexpr std::size_t kept = max_sentence_bytes - 3;  // With the dots behind it.
  if (field.value.size() > max_sentence_bytes) field.value = excerpt(field.value, kept);
  return true;
}

bool Reader::get(const Object& object, const Excerpt<std::string>& field) {
  if (!get(object, field.value)) return false;
  return field.value.size() <= field.max_bytes || refuse("a shorter text was expected");
}

bool Reader::get(const Object& object, const Bytes<std::string>& field) {
  if (object.type != msgpack::type::BIN) return refuse("binary was expected");
  if (object.via.bin.size > field.max_bytes) return refuse("shorter binary was expected");
  field.value.assign(object.via.bin.ptr, object.via.bin.size);
  return true;
}

}  // namespace sluice::wire
