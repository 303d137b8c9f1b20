#pragma once

#include <string_view>

namespace sluice {

/// False for models that are known, or likely, to answer 400 to a temperature of the caller's choice, by
/// their names: OpenAI's o series and GPT 5 and later, Claude Opus 4.7 and later, and Claude 5 and later,
/// also as gateways write them (`openai/gpt-5-mini`, `claude-opus-4.7`). Unknown names are true. Thread-safe.
bool takes_temperature(std::string_view model);

/// What lets answers differ least where one must be sent: 0, or the 1 that the others take.
double steadiest_temperature(std::string_view model);

}  // namespace sluice
