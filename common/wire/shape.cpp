#include "common/wire/shape.hpp"

#include "common/defaults.hpp"

#include <bit>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace sluice::wire {

namespace {

using msgpack::object;

/// Takes the values of a message out of its bytes, in one pass. An array's length is believed as far as bytes
/// are left that its elements could stand in, each byte for one array's alone.
class Parser {
 public:
  Parser(std::string_view bytes, msgpack::zone& zone) : rest_(bytes), room_(bytes.size()), zone_(zone) {}

  bool value(object& out) {
    std::uint64_t head = 0;
    if (!number(1, head)) return false;
    if (head <= 0x7F) return positive(out, head);
    if (head <= 0x8F) return refuse("a map");
    if (head <= 0x9F) return array(out, head & 0x0F);
    if (head <= 0xBF) return text(out, head & 0x1F);
    if (head >= 0xE0) return integer(out, static_cast<std::int8_t>(head));
    std::uint64_t size = 0;
    switch (head) {
      case 0xC0:
        out.type = msgpack::type::NIL;
        return count();
      case 0xC2:
      case 0xC3:
        out.type = msgpack::type::BOOLEAN;
        out.via.boolean = head == 0xC3;
        return count();
      case 0xC4:
      case 0xC5:
      case 0xC6:
        return number(1u << (head - 0xC4), size) && binary(out, size);
      case 0xCA:
        return refuse("a 32-bit float");
      case 0xCB:
        out.type = msgpack::type::FLOAT64;
        if (!number(8, size)) return false;
        out.via.f64 = std::bit_cast<double>(size);
        return count();
      case 0xCC:
      case 0xCD:
      case 0xCE:
      case 0xCF:
        return number(1u << (head - 0xCC), size) && positive(out, size);
      case 0xD0:
        return number(1, size) && integer(out, static_cast<std::int8_t>(size));
      case 0xD1:
        return number(2, size) && integer(out, static_cast<std::int16_t>(size));
      case 0xD2:
        return number(4, size) && integer(out, static_cast<std::int32_t>(size));
      case 0xD3:
        return number(8, size) && integer(out, static_cast<std::int64_t>(size));
      case 0xD9:
      case 0xDA:
      case 0xDB:
        return number(1u << (head - 0xD9), size) && text(out, size);
      case 0xDC:
      case 0xDD:
        return number(2u << (head - 0xDC), size) && array(out, size);
      case 0xDE:
      case 0xDF:
        return refuse("a map");
      case 0xC1:
        return refuse("bytes that are not msgpack");
      default:
        return refuse("an extension type");
    }
  }

  const char* problem() const { return problem_; }
  std::size_t bytes_left() const { return rest_.size(); }

 private:
  bool refuse(const char* what) {
    problem_ = what;
    return false;
  }
  bool count() { return ++values_ <= defaults::max_wire_values || refuse("too many values"); }

  /// The next bytes as a number, the most significant first.
  bool number(std::size_t bytes, std::uint64_t& value) {
    if (rest_.size() < bytes) return refuse("an early end");
    value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(bytes);
    return true;
  }

  bool positive(object& out, std::uint64_t value) {
    out.type = msgpack::type::POSITIVE_INTEGER;
    out.via.u64 = value;
    return count();
  }

  bool integer(object& out, std::int64_t value) {
    if (value >= 0) return positive(out, static_cast<std::uint64_t>(value));
    out.type = msgpack::type::NEGATIVE_INTEGER;
    out.via.i64 = value;
    return count();
  }

  bool taken(std::uint64_t size, const char*& bytes) {
    if (rest_.size() < size) return refuse("an early end");
    bytes = rest_.data();
    rest_.remove_prefix(size);
    return count();
  }

  bool text(object& out, std::uint64_t size) {
    out.type = msgpack::type::STR;
    out.via.str.size = static_cast<std::uint32_t>(size);
    return taken(size, out.via.str.ptr);
  }

  bool binary(object& out, std::uint64_t size) {
    out.type = msgpack::type::BIN;
    out.via.bin.size = static_cast<std::uint32_t>(size);
    return taken(size, out.via.bin.ptr);
  }

  bool array(object& out, std::uint64_t size) {
    if (size > defaults::max_wire_items) return refuse("an array of too many elements");
    if (depth_ == defaults::max_wire_depth) return refuse("too deep a nesting");
    if (!count()) return false;
    if (size > room_) return refuse("an early end");
    room_ -= size;
    out.type = msgpack::type::ARRAY;
    out.via.array.size = static_cast<std::uint32_t>(size);
    out.via.array.ptr = nullptr;
    if (size == 0) return true;
    out.via.array.ptr = static_cast<object*>(zone_.allocate_align(size * sizeof(object), alignof(object)));
    ++depth_;
    for (std::uint64_t i = 0; i < size; ++i) {
      if (!value(*std::construct_at(out.via.array.ptr + i))) return false;
    }
    --depth_;
    return true;
  }

  std::string_view rest_;
  std::size_t room_;  ///< Bytes that no array has laid claim to.
  msgpack::zone& zone_;
  std::uint32_t depth_ = 0;
  std::uint32_t values_ = 0;
  const char* problem_ = nullptr;
};

}  // namespace

Result<msgpack::object_handle> read_value(std::string_view bytes) {
  try {
    auto zone = std::make_unique<msgpack::zone>();
    object value;
    Parser parser(bytes, *zone);
    if (!parser.value(value))
      return fail(Reason::message_malformed, std::string("it has ") + parser.problem());
    if (parser.bytes_left() != 0) {
      return fail(Reason::message_malformed,
                  "it has " + std::to_string(parser.bytes_left()) + " bytes too many");
    }
    return msgpack::object_handle(value, std::move(zone));
  } catch (const std::exception& error) {  // No memory.
    return fail(Reason::message_malformed, std::string("it cannot be unpacked: ") + error.what());
  }
}

}  // namespace sluice::wire
