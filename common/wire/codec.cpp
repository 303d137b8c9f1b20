#include "common/wire/codec.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "common/wire/archive.hpp"
#include "common/wire/layout.hpp"
#include "common/wire/shape.hpp"

#include <utility>
#include <variant>

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

/// What the header says of it.
template <class Message>
constexpr MessageType type_of_message = MessageType{};
template <>
constexpr MessageType type_of_message<Hello> = MessageType::hello;
template <>
constexpr MessageType type_of_message<Ready> = MessageType::ready;
template <>
constexpr MessageType type_of_message<Heartbeat> = MessageType::heartbeat;
template <>
constexpr MessageType type_of_message<Report> = MessageType::report;
template <>
constexpr MessageType type_of_message<Goodbye> = MessageType::goodbye;
template <>
constexpr MessageType type_of_message<Seek> = MessageType::seek;
template <>
constexpr MessageType type_of_message<Lent> = MessageType::lent;
template <>
constexpr MessageType type_of_message<Stored> = MessageType::stored;
template <>
constexpr MessageType type_of_message<Welcome> = MessageType::welcome;
template <>
constexpr MessageType type_of_message<Work> = MessageType::work;
template <>
constexpr MessageType type_of_message<Ack> = MessageType::ack;
template <>
constexpr MessageType type_of_message<Grants> = MessageType::grants;
template <>
constexpr MessageType type_of_message<Drain> = MessageType::drain;
template <>
constexpr MessageType type_of_message<Reject> = MessageType::reject;
template <>
constexpr MessageType type_of_message<Lend> = MessageType::lend;
template <>
constexpr MessageType type_of_message<Found> = MessageType::found;
template <>
constexpr MessageType type_of_message<Withdraw> = MessageType::withdraw;

template <class Message>
Frames frames(const Message& message, std::uint8_t version) {
  static_assert(type_of_message<Message> != MessageType{}, "a message without a number");
  Frames result;
  result.header = magic;
  result.header += static_cast<char>(version);
  result.header += static_cast<char>(type_of_message<Message>);
  result.body.reserve(expected_bytes(message));
  Writer writer(result.body);
  writer.version = version;
  layout(writer, message);
  return result;
}

tl::unexpected<Error> malformed(std::string_view what, const std::string& problem) {
  return fail(Reason::message_malformed, "malformed " + std::string(what) + ": " + problem);
}

template <class Value>
Result<Value> decode_value(std::string_view what, std::string_view bytes,
                           std::uint8_t version = protocol_version) {
  auto parsed = read_value(bytes);
  if (!parsed) return malformed(what, parsed.error().message);
  Reader reader(parsed->get());
  reader.version = version;
  Value value;
  if (!reader.read(value)) return malformed(what, reader.problem());
  return value;
}

struct Header {
  MessageType type{};
  std::uint8_t version = protocol_version;
};

template <class Variant, class Message>
Result<Variant> decode_as(const Header& header, std::string_view body) {
  auto message = decode_value<Message>(to_string(header.type), body, header.version);
  if (!message) return fail(std::move(message.error()));
  if constexpr (requires { message->protocol; }) message->protocol = header.version;
  return Variant(std::in_place_type<Message>, std::move(*message));
}

/// Who says HELLO in whatever version, and the version of its sluice, as far as they can be read. They stand
/// in a sentence that is logged and sent back.
std::pair<std::string, std::string> sender_of_hello(std::string_view body) {
  constexpr std::uint32_t name = 1;
  constexpr std::uint32_t version = 3;
  constexpr std::size_t most_shown_bytes = 100;
  if (body.size() > defaults::max_frame_bytes) return {"a worker", ""};
  const auto parsed = read_value(body);
  if (!parsed || parsed->get().type != msgpack::type::ARRAY || parsed->get().via.array.size <= version)
    return {"a worker", ""};
  const auto text = [&](std::uint32_t field) {
    std::string value;
    return Reader(parsed->get().via.array.ptr[field]).read(value) ? excerpt(value, most_shown_bytes)
                                                                  : std::string();
  };
  const std::string shown = text(name);
  return {shown.empty() ? "a worker" : "worker " + shown, text(version)};
}

bool is_header(std::string_view header) {
  return header.size() == header_bytes && header.starts_with(magic);
}

Result<Header> read_header(std::string_view header, std::string_view body, bool from_worker) {
  if (!is_header(header)) return malformed("message", "its first frame is not a header of this protocol");
  const Header read{static_cast<MessageType>(header[3]), static_cast<std::uint8_t>(header[2])};
  if (!is_spoken(read.version)) {
    std::pair<std::string, std::string> sender(from_worker ? "a worker" : "the coordinator", "");
    if (from_worker && read.type == MessageType::hello) sender = sender_of_hello(body);
    return fail(Reason::protocol_mismatch, unspoken_version(sender.first, sender.second, read.version,
                                                            from_worker ? "the coordinator" : "this worker"));
  }
  if (body.size() > defaults::max_frame_bytes) {
    return malformed("message", "its body has " + std::to_string(body.size()) + " bytes, more than " +
                                    std::to_string(defaults::max_frame_bytes));
  }
  return read;
}

tl::unexpected<Error> unexpected_type(MessageType type, std::string_view receiver) {
  const auto name = to_string(type);
  if (name.empty()) return malformed("message", "unknown type " + std::to_string(static_cast<int>(type)));
  return malformed(name, "this message is not for a " + std::string(receiver));
}

/// The message that the header names, if it is one of those that `Variant` holds from `at` on.
template <class Variant, std::size_t at = 0>
Result<Variant> decode_one_of(const Header& header, std::string_view body, std::string_view receiver) {
  if constexpr (at == std::variant_size_v<Variant>) {
    return unexpected_type(header.type, receiver);
  } else {
    using Message = std::variant_alternative_t<at, Variant>;
    if (header.type == type_of_message<Message>) return decode_as<Variant, Message>(header, body);
    return decode_one_of<Variant, at + 1>(header, body, receiver);
  }
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

Frames encode(const ToCoordinator& message, std::uint8_t version) {
  return std::visit([version](const auto& held) { return frames(held, version); }, message);
}

Frames encode(const ToWorker& message, std::uint8_t version) {
  return std::visit([version](const auto& held) { return frames(held, version); }, message);
}

std::optional<std::uint8_t> version_of(std::string_view header) {
  return is_header(header) ? std::optional(static_cast<std::uint8_t>(header[2])) : std::nullopt;
}

std::optional<MessageType> type_of(std::string_view header) {
  const auto version = version_of(header);
  return version && is_spoken(*version) ? std::optional(static_cast<MessageType>(header[3])) : std::nullopt;
}

std::optional<Reject> reject_of_any_version(std::string_view header, std::string_view body) {
  if (!is_header(header) || static_cast<MessageType>(header[3]) != MessageType::reject) return std::nullopt;
  if (body.size() > defaults::max_frame_bytes) return std::nullopt;
  auto reject = decode_value<Reject>("REJECT", body);
  return reject ? std::optional(std::move(*reject)) : std::nullopt;
}

Result<ToCoordinator> decode_to_coordinator(std::string_view header, std::string_view body) {
  const auto read = read_header(header, body, true);
  if (!read) return fail(read.error());
  return decode_one_of<ToCoordinator>(*read, body, "coordinator");
}

Result<ToWorker> decode_to_worker(std::string_view header, std::string_view body) {
  const auto read = read_header(header, body, false);
  if (!read) return fail(read.error());
  return decode_one_of<ToWorker>(*read, body, "worker");
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
