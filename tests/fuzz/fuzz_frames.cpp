// Frames as they come from the network. The first four bytes of an input are the header. What is accepted
// must encode to something that is accepted again and encodes to the same bytes.
#include "common/wire/codec.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

template <class Decode>
void check(std::string_view header, std::string_view body, Decode decode) {
  const auto message = decode(header, body);
  if (!message) return;
  const auto first = sluice::wire::encode(*message);
  const auto again = decode(first.header, first.body);
  if (!again) std::abort();
  if (sluice::wire::encode(*again).body != first.body) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto header = input.substr(0, 4);
  const auto body = input.size() > 4 ? input.substr(4) : std::string_view{};
  check(header, body, sluice::wire::decode_to_coordinator);
  check(header, body, sluice::wire::decode_to_worker);
  if (const auto result = sluice::wire::decode_result(body)) {
    const auto bytes = sluice::wire::encode_result(*result);
    const auto again = sluice::wire::decode_result(bytes);
    if (!again || !(*again == *result)) std::abort();
  }
  return 0;
}
