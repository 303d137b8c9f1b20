#pragma once

#include "common/error.hpp"
#include "common/wire/messages.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Messages to frames and back, as docs/protocol.md describes them. Thread-safe: no state.
namespace sluice::wire {

/// A message as it crosses: two frames of one multipart message.
struct Frames {
  std::string header;  ///< 'S', 'L', protocol version, message type.
  std::string body;    ///< A msgpack array of the message's fields.
};

/// The fourth byte of the header. A number keeps its meaning for good.
enum class MessageType : std::uint8_t {
  hello = 0x01,
  ready = 0x02,
  heartbeat = 0x03,
  report = 0x04,
  goodbye = 0x05,
  seek = 0x06,
  lent = 0x07,
  stored = 0x08,
  welcome = 0x11,
  work = 0x12,
  ack = 0x13,
  grants = 0x14,
  drain = 0x15,
  reject = 0x16,
  lend = 0x17,
  found = 0x18,
  withdraw = 0x19,
};

/// `HELLO`, ...: as docs/protocol.md writes it.
std::string_view to_string(MessageType type);

/// A message of either side, by its own name too: encode(Hello{...}). A text that several requests of one
/// WORK share is written once. REQUIRES: is_spoken(version).
Frames encode(const ToCoordinator& message, std::uint8_t version = protocol_version);
Frames encode(const ToWorker& message, std::uint8_t version = protocol_version);

/// The version that a header names, spoken or not; nothing if it is none of this protocol.
std::optional<std::uint8_t> version_of(std::string_view header);
/// What a message says it is, whatever it holds; nothing without a header of a version that is spoken.
std::optional<MessageType> type_of(std::string_view header);
/// A REJECT of any version, spoken or not: its layout is the same in all.
std::optional<Reject> reject_of_any_version(std::string_view header, std::string_view body);

/// Reads what a worker sent. Errors: protocol_mismatch for a header of a version that is not spoken (naming
/// who sent it, if it is a HELLO: its first four fields are the same in all), message_malformed for all else,
/// with a message that names the field. Trusts nothing in the bytes; never throws.
Result<ToCoordinator> decode_to_coordinator(std::string_view header, std::string_view body);
/// Reads what the coordinator sent; errors as above. Requests of one WORK share their texts.
Result<ToWorker> decode_to_worker(std::string_view header, std::string_view body);

/// The error of a decode as the code of the REJECT that answers it.
RejectCode reject_code(const Error& error);

/// One result in REPORT's layout: the form of the ledger's rows.
std::string encode_result(const UnitResult& result);
/// Reads what encode_result wrote. Error: message_malformed.
Result<UnitResult> decode_result(std::string_view bytes);
/// UnitResult::key alone, of what encode_result of any version wrote: all layouts begin with unit and key.
/// Error: message_malformed.
Result<Digest> key_of_result(std::string_view bytes);

}  // namespace sluice::wire
