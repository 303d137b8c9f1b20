#include "common/wire/codec.hpp"

#include "common/defaults.hpp"
#include "common/wire/archive.hpp"
#include "common/wire/layout.hpp"
#include "common/wire/shape.hpp"

#include <utility>

namespace sluice::wire {

namespace {

constexpr std::string_view magic = "SL";
constexpr std::size_t header_bytes = 4;

/// About what a message takes, so that it is seldom moved while it grows.
template <class Message>
std::size_t expected_bytes(const Message&) {
  return defaults::typical_body_bytes;
}

std::size_t expected_bytes(const Report& report) {
  return defaults::typical_body_bytes + report.results.size() * defaults::typical_result_bytes;
}

std::size_t expected_bytes(const Work& work) {
  std::size_t bytes = defaults::typical_body_bytes;
  const std::string* known_system = nullptr;
  for (const auto& unit : work.units) {
    bytes += defaults::typical_expectations_bytes + unit.request.user.size();
    if (const auto* system = unit.request.system.get(); system && system != known_system) {
      bytes += system->size();
      known_system = system;
    }
  }
  return bytes;
}

template <class Message>
Frames frames(MessageType type, const Message& message) {
  Frames result;
  result.header = magic;
  result.header += static_cast<char>(protocol_version);
  result.header += static_cast<char>(type);
  result.body.reserve(expected_bytes(message));
  Writer writer(result.body);
  layout(writer, message);
  return result;
}

tl::unexpected<Error> malformed(std::string_view what, const std::string& problem) {
  return fail(Reason::message_malformed, "malformed " + std::string(what) + ": " + problem);
}

template <class Value>
Result<Value> decode_value(std::string_view what, std::string_view bytes) {
  auto parsed = read_value(bytes);
  if (!parsed) return malformed(what, parsed.error().message);
  Reader reader(parsed->get());
  Value value;
  if (!reader.read(value)) return malformed(what, reader.problem());
  return value;
}

template <class Variant, class Message>
Result<Variant> decode_as(MessageType type, std::string_view body) {
  auto message = decode_value<Message>(to_string(type), body);
  if (!message) return fail(std::move(message.error()));
  return Variant(std::in_place_type<Message>, std::move(*message));
}

Result<MessageType> read_header(std::string_view header, std::string_view body) {
  if (header.size() != header_bytes || !header.starts_with(magic)) {
    return malformed("message", "its first frame is not a header of this protocol");
  }
  const auto version = static_cast<std::uint8_t>(header[2]);
  if (version != protocol_version) {
    return fail(Reason::protocol_mismatch,
                "the other side speaks protocol version " + std::to_string(version) + " and this one " +
                    std::to_string(protocol_version) + "; run the same sluice version on both sides");
  }
  if (body.size() > defaults::max_frame_bytes) {
    return malformed("message", "its body has " + std::to_string(body.size()) + " bytes, more than " +
                                    std::to_string(defaults::max_frame_bytes));
  }
  return static_cast<MessageType>(header[3]);
}

tl::unexpected<Error> unexpected_type(MessageType type, std::string_view receiver) {
  const auto name = to_string(type);
  if (name.empty()) return malformed("message", "unknown type " + std::to_string(static_cast<int>(type)));
  return malformed(name, "this message is not for a " + std::string(receiver));
}

}  // namespace

std::string_view to_string(MessageType type) {
  switch (type) {
    case MessageType::hello:
      return "HELLO";
    case MessageType::ready:
      return "READY";
    case MessageType::heartbeat:
      return "HEARTBEAT";
    case MessageType::report:
      return "REPORT";
    case MessageType::goodbye:
      return "GOODBYE";
    case MessageType::seek:
      return "SEEK";
    case MessageType::lent:
      return "LENT";
    case MessageType::stored:
      return "STORED";
    case MessageType::welcome:
      return "WELCOME";
    case MessageType::work:
      return "WORK";
    case MessageType::ack:
      return "ACK";
    case MessageType::grants:
      return "GRANTS";
    case MessageType::drain:
      return "DRAIN";
    case MessageType::reject:
      return "REJECT";
    case MessageType::lend:
      return "LEND";
    case MessageType::found:
      return "FOUND";
    case MessageType::withdraw:
      return "WITHDRAW";
  }
  return {};
}

Frames encode(const Hello& message) {
  return frames(MessageType::hello, message);
}
Frames encode(const Ready& message) {
  return frames(MessageType::ready, message);
}
Frames encode(const Heartbeat& message) {
  return frames(MessageType::heartbeat, message);
}
Frames encode(const Report& message) {
  return frames(MessageType::report, message);
}
Frames encode(const Goodbye& message) {
  return frames(MessageType::goodbye, message);
}
Frames encode(const Seek& message) {
  return frames(MessageType::seek, message);
}
Frames encode(const Lent& message) {
  return frames(MessageType::lent, message);
}
Frames encode(const Stored& message) {
  return frames(MessageType::stored, message);
}
Frames encode(const Welcome& message) {
  return frames(MessageType::welcome, message);
}
Frames encode(const Work& message) {
  return frames(MessageType::work, message);
}
Frames encode(const Ack& message) {
  return frames(MessageType::ack, message);
}
Frames encode(const Grants& message) {
  return frames(MessageType::grants, message);
}
Frames encode(const Drain& message) {
  return frames(MessageType::drain, message);
}
Frames encode(const Reject& message) {
  return frames(MessageType::reject, message);
}
Frames encode(const Lend& message) {
  return frames(MessageType::lend, message);
}
Frames encode(const Found& message) {
  return frames(MessageType::found, message);
}
Frames encode(const Withdraw& message) {
  return frames(MessageType::withdraw, message);
}

Frames encode(const ToCoordinator& message) {
  return std::visit([](const auto& held) { return encode(held); }, message);
}

Frames encode(const ToWorker& message) {
  return std::visit([](const auto& held) { return encode(held); }, message);
}

std::optional<MessageType> type_of(std::string_view header) {
  const bool is_ours = header.size() == header_bytes && header.starts_with(magic) &&
                       static_cast<std::uint8_t>(header[2]) == protocol_version;
  return is_ours ? std::optional(static_cast<MessageType>(header[3])) : std::nullopt;
}

Result<ToCoordinator> decode_to_coordinator(std::string_view header, std::string_view body) {
  const auto type = read_header(header, body);
  if (!type) return fail(type.error());
  switch (*type) {
    case MessageType::hello:
      return decode_as<ToCoordinator, Hello>(*type, body);
    case MessageType::ready:
      return decode_as<ToCoordinator, Ready>(*type, body);
    case MessageType::heartbeat:
      return decode_as<ToCoordinator, Heartbeat>(*type, body);
    case MessageType::report:
      return decode_as<ToCoordinator, Report>(*type, body);
    case MessageType::goodbye:
      return decode_as<ToCoordinator, Goodbye>(*type, body);
    case MessageType::seek:
      return decode_as<ToCoordinator, Seek>(*type, body);
    case MessageType::lent:
      return decode_as<ToCoordinator, Lent>(*type, body);
    case MessageType::stored:
      return decode_as<ToCoordinator, Stored>(*type, body);
    default:
      return unexpected_type(*type, "coordinator");
  }
}

Result<ToWorker> decode_to_worker(std::string_view header, std::string_view body) {
  const auto type = read_header(header, body);
  if (!type) return fail(type.error());
  switch (*type) {
    case MessageType::welcome:
      return decode_as<ToWorker, Welcome>(*type, body);
    case MessageType::work:
      return decode_as<ToWorker, Work>(*type, body);
    case MessageType::ack:
      return decode_as<ToWorker, Ack>(*type, body);
    case MessageType::grants:
      return decode_as<ToWorker, Grants>(*type, body);
    case MessageType::drain:
      return decode_as<ToWorker, Drain>(*type, body);
    case MessageType::reject:
      return decode_as<ToWorker, Reject>(*type, body);
    case MessageType::lend:
      return decode_as<ToWorker, Lend>(*type, body);
    case MessageType::found:
      return decode_as<ToWorker, Found>(*type, body);
    case MessageType::withdraw:
      return decode_as<ToWorker, Withdraw>(*type, body);
    default:
      return unexpected_type(*type, "worker");
  }
}

RejectCode reject_code(const Error& error) {
  return error.reason == Reason::protocol_mismatch ? RejectCode::protocol_mismatch : RejectCode::malformed;
}

std::string encode_result(const UnitResult& result) {
  std::string bytes;
  bytes.reserve(defaults::typical_body_bytes);
  Writer writer(bytes);
  layout(writer, result);
  return bytes;
}

Result<UnitResult> decode_result(std::string_view bytes) {
  return decode_value<UnitResult>("result", bytes);
}

Result<Digest> key_of_result(std::string_view bytes) {
  const auto byte = [&](std::size_t at) {
    return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0u;
  };
  // msgpack: an array of at most 15 or 65,535 fields, a number of up to 4 bytes, and bytes with their length.
  const bool is_array = (byte(0) & 0xF0u) == 0x90u || byte(0) == 0xDCu;
  std::size_t at = byte(0) == 0xDCu ? 3 : 1;
  const unsigned unit = byte(at);
  const std::size_t unit_bytes = unit < 0x80u                     ? 1
                                 : unit >= 0xCCu && unit <= 0xCEu ? 1 + (1u << (unit - 0xCCu))
                                                                  : 0;
  at += unit_bytes;
  Digest key{};
  if (!is_array || unit_bytes == 0 || byte(at) != 0xC4u || byte(at + 1) != key.size() ||
      bytes.size() < at + 2 + key.size()) {
    return fail(Reason::message_malformed, "result: its key cannot be found");
  }
  std::ranges::copy(bytes.substr(at + 2, key.size()), key.begin());
  return key;
}

}  // namespace sluice::wire
