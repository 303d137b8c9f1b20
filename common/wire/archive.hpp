#pragma once

#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/model/claim.hpp"
#include "common/model/request.hpp"
#include "common/wire/versions.hpp"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <msgpack.hpp>

/// Two archives with one interface, `record(fields...)`: the Writer puts a value into msgpack, the Reader
/// checks and takes one out. A type's layout is written down once, as a function template `layout(archive,
/// value)` that names the fields in order, and serves both directions.
namespace sluice::wire {

/// True for `T` and `const T`: what a layout takes.
template <class M, class T>
concept Of = std::same_as<std::remove_const_t<M>, T>;

// --- Fields with a narrower range than their type
// ------------------------------------------------------------
/// A number in 0..1; `double` or `std::optional<double>`.
template <class T>
struct Ratio {
  using is_field = void;
  T& value;
};
template <class T>
Ratio(T&) -> Ratio<T>;

/// A text of at most `max_name_bytes`.
template <class T>
struct Name {
  using is_field = void;
  T& value;
};
template <class T>
Name(T&) -> Name<T>;
inline constexpr std::size_t max_name_bytes = 1024;

/// A text for people, which may quote foreign bytes: mended to valid UTF-8 when written, since a receiver
/// would refuse the whole message for it, every time that it is sent.
template <class T>
struct Prose {
  using is_field = void;
  T& value;
};
template <class T>
Prose(T&) -> Prose<T>;

/// The same for a sentence that logs and reports show. One that is too long is cut when read, and not
/// refused: who sends it may mean well, and whoever logs it must not be kept busy by it.
template <class T>
struct Sentence {
  using is_field = void;
  T& value;
};
template <class T>
Sentence(T&) -> Sentence<T>;
inline constexpr std::size_t max_sentence_bytes = 8192;

/// Foreign bytes shown to people, mended like Prose and cut to `max_bytes` at a character's end when written:
/// a sender's slip must not become a message that is refused for ever.
template <class T>
struct Excerpt {
  using is_field = void;
  T& value;
  std::size_t max_bytes;
};
template <class T>
Excerpt(T&, std::size_t) -> Excerpt<T>;

/// Bytes that are no text; at most `max_bytes`.
template <class T>
struct Bytes {
  using is_field = void;
  T& value;
  std::size_t max_bytes;
};
template <class T>
Bytes(T&, std::size_t) -> Bytes<T>;

/// Whether an enum read from the wire is one of its enumerators; specialised beside the layouts.
template <class E>
bool is_known(E value) = delete;

/// Longest duration on the wire: a year.
inline constexpr std::uint64_t max_duration_ms = 366ull * 24 * 3600 * 1000;

/// The distinct texts that the requests of one message share, each written once and named by its position.
class TextTable {
 public:
  /// Enters the text (null is not entered); equal texts get one position.
  void add(const SharedText& text);
  /// Position of a text that was entered.
  std::uint32_t position(const SharedText& text) const;

  std::vector<SharedText> texts;

 private:
  std::unordered_map<const std::string*, std::uint32_t> by_address_;
  std::unordered_map<std::string_view, std::uint32_t> by_content_;
};

/// Appends msgpack to a string. Never fails: what cannot be written is not expressible in the types.
class Writer {
 public:
  static constexpr bool reading = false;

  explicit Writer(std::string& out) : sink_{out}, packer_(sink_) {}

  template <class... Ts>
  bool record(const Ts&... fields) {
    packer_.pack_array(sizeof...(Ts));
    (put(fields), ...);
    return true;
  }

  /// Set while a message with shared texts is written.
  const TextTable* texts = nullptr;
  /// Of the protocol that is written: a layout leaves out what an older one lacks.
  std::uint8_t version = protocol_version;

 private:
  struct Sink {
    std::string& out;
    void write(const char* bytes, std::size_t size) { out.append(bytes, size); }
  };

  void put(bool value) { value ? packer_.pack_true() : packer_.pack_false(); }
  void put(std::uint8_t value) { packer_.pack_uint8(value); }
  void put(std::uint32_t value) { packer_.pack_uint32(value); }
  void put(std::uint64_t value) { packer_.pack_uint64(value); }
  void put(std::int64_t value) { packer_.pack_int64(value); }
  void put(double value);
  void put(std::string_view text) {
    packer_.pack_str(static_cast<std::uint32_t>(text.size()));
    packer_.pack_str_body(text.data(), static_cast<std::uint32_t>(text.size()));
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(const Digest& digest);
  void put(const ClaimValue& value);
  void put(const TextTable& table);
  void put(const SharedText& text);
  void put(std::chrono::milliseconds value) {
    packer_.pack_uint64(static_cast<std::uint64_t>(value.count()));
  }
  template <class E>
  requires std::is_enum_v<E>
  void put(E value) { packer_.pack_uint16(static_cast<std::uint16_t>(value)); }
  template <class T>
  void put(const std::optional<T>& value) {
    if (value) {
      put(*value);
    } else {
      packer_.pack_nil();
    }
  }
  template <class T>
  void put(const std::vector<T>& values) {
    packer_.pack_array(static_cast<std::uint32_t>(values.size()));
    for (const auto& value : values) put(value);
  }
  template <class T>
  void put(const Ratio<T>& field) {
    put(field.value);
  }
  template <class T>
  void put(const Name<T>& field) {
    put(std::string_view(field.value));
  }
  template <class T>
  void put(const Prose<T>& field) {
    put_prose(field.value);
  }
  template <class T>
  void put(const Sentence<T>& field) {
    put_prose(field.value);
  }
  void put_prose(const std::string& text);
  template <class T>
  void put(const Excerpt<T>& field) {
    put_excerpt(field.value, field.max_bytes);
  }
  void put_excerpt(const std::string& text, std::size_t max_bytes);
  template <class T>
  void put(const Bytes<T>& field) {
    packer_.pack_bin(static_cast<std::uint32_t>(field.value.size()));
    packer_.pack_bin_body(field.value.data(), static_cast<std::uint32_t>(field.value.size()));
  }
  template <class T>
  requires std::is_class_v<T>
  void put(const T& value) { layout(*this, value); }

  Sink sink_;
  msgpack::packer<Sink> packer_;
};

/// Takes values out of a parsed msgpack value. The first thing that does not fit ends the reading;
/// `problem()` names what it was and where (positions of the fields, from the outermost).
class Reader {
 public:
  static constexpr bool reading = true;

  explicit Reader(const msgpack::object& value) : current_(&value) {}

  /// Reads the value as a T; false if it does not fit.
  template <class T>
  bool read(T& value) {
    return get(*current_, value);
  }

  template <class... Ts>
  bool record(Ts&&... fields) {
    const auto& object = *current_;
    if (object.type != msgpack::type::ARRAY) return refuse("an array was expected");
    if (object.via.array.size != sizeof...(Ts)) return refuse("an array of another size was expected");
    std::uint32_t position = 0;
    return ((get(object.via.array.ptr[position], fields) ? (++position, true) : at(position)) && ...);
  }

  /// How many fields the record at hand has; 0 if it is none.
  std::size_t field_count() const {
    return current_->type == msgpack::type::ARRAY ? current_->via.array.size : 0;
  }

  /// Notes what does not fit; false, for `return`.
  bool refuse(const char* what) {
    problem_ = what;
    return false;
  }
  /// E.g. "field 3.0.5: text was expected".
  std::string problem() const;

  /// Shared texts of the message, once read.
  TextTable table;
  /// Of the protocol that is read.
  std::uint8_t version = protocol_version;

 private:
  using Object = msgpack::object;

  bool at(std::uint32_t position) {
    path_.push_back(position);
    return false;
  }

  bool unsigned_number(const Object& object, std::uint64_t max, std::uint64_t& value);

  bool get(const Object& object, bool& value);
  bool get(const Object& object, std::int64_t& value);
  bool get(const Object& object, double& value);
  bool get(const Object& object, std::string& text);
  bool get(const Object& object, Digest& digest);
  bool get(const Object& object, ClaimValue& value);
  bool get(const Object& object, TextTable& texts);
  bool get(const Object& object, SharedText& text);
  bool get(const Object& object, std::chrono::milliseconds& value);
  template <class T>
  requires std::unsigned_integral<T>
  bool get(const Object& object, T& value) {
    std::uint64_t number = 0;
    if (!unsigned_number(object, std::numeric_limits<T>::max(), number)) return false;
    value = static_cast<T>(number);
    return true;
  }
  template <class E>
  requires std::is_enum_v<E>
  bool get(const Object& object, E& value) {
    std::uint64_t number = 0;
    if (!unsigned_number(object, 0xFFFF, number)) return false;
    value = static_cast<E>(number);
    const bool fits = static_cast<std::uint64_t>(value) == number && is_known(value);
    return fits || refuse("a known number was expected");
  }
  template <class T>
  bool get(const Object& object, std::optional<T>& value) {
    value.reset();
    return object.type == msgpack::type::NIL || get(object, value.emplace());
  }
  template <class T>
  bool get(const Object& object, std::vector<T>& values) {
    if (object.type != msgpack::type::ARRAY) return refuse("an array was expected");
    const auto& array = object.via.array;
    values.resize(array.size);
    for (std::uint32_t i = 0; i < array.size; ++i) {
      if (!get(array.ptr[i], values[i])) return at(i);
    }
    return true;
  }
  bool get(const Object& object, const Ratio<double>& field);
  bool get(const Object& object, const Ratio<std::optional<double>>& field);
  bool get(const Object& object, const Name<std::string>& field);
  bool get(const Object& object, const Prose<std::string>& field) { return get(object, field.value); }
  bool get(const Object& object, const Sentence<std::string>& field);
  bool get(const Object& object, const Excerpt<std::string>& field);
  bool get(const Object& object, const Bytes<std::string>& field);
  template <class T>
  requires(std::is_class_v<T> && !requires { typename T::is_field; }) bool get(const Object& object,
                                                                               T& value) {
    const auto* outer = current_;
    current_ = &object;
    const bool fits = layout(*this, value);
    current_ = outer;
    return fits;
  }

  const Object* current_;
  const char* problem_ = nullptr;
  std::vector<std::uint32_t> path_;  ///< Innermost first.
};

}  // namespace sluice::wire
