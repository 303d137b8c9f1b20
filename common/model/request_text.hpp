#pragma once

#include "common/model/request.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A conversation for people and judges: each message behind its role, the text that is asked where it
/// stands. Of images there is their URL, or their kind and size. The text alone without any messages.
std::string transcript(const std::vector<ChatMessage>& messages, std::string_view asked);

/// All of a request but its system prompt and its sampling, for people: the transcript, and behind it the
/// tools, the form of the answer and the parameters, where there are any. Two that differ in any of it
/// differ.
std::string request_text(const ModelRequest& request);

}  // namespace sluice
