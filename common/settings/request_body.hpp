#pragma once

#include "common/model/run_settings.hpp"
#include "common/settings/setting_values.hpp"
#include "common/settings/settings.hpp"

#include <string>
#include <string_view>
#include <vector>

/// What [providers.NAME] says of the kinds `http` and `exec` (docs/providers.md).
namespace sluice {

/// Whether the value of a name in a body is no text: the name is the whole of a text, which the value takes
/// the place of.
bool is_structured(std::string_view variable);
/// The name, if the text is nothing but {{name}}; else empty.
std::string_view sole_variable(std::string_view text);

/// A table with texts that are templates, as JSON with keys as written.
Parsed<std::string> parse_body(const RawValue& raw);
Parsed<AnswerPointers> parse_pointers(const RawValue& raw);
/// A list: the program, then its arguments.
Parsed<std::vector<std::string>> parse_command(const RawValue& raw);
std::string show_value(const AnswerPointers& value);

/// Whether a key of [providers.NAME] means anything to the kind.
bool belongs_to(std::string_view key, ProviderKind kind);
/// The keys that a kind cannot be without.
std::vector<std::string_view> required_keys(ProviderKind kind);

/// Of body and pointers: 16 hex digits.
std::string identity_of_format(const std::string& body, const AnswerPointers& answer);
/// Of the arguments, and of the contents of the files that they name; of a file over
/// defaults::max_program_bytes, and of one that cannot be read, size and time.
std::string identity_of_command(const std::vector<std::string>& command);
/// Of the same files, what is another once one is changed or replaced, without reading them; empty if the
/// arguments name none.
std::string state_of_command(const std::vector<std::string>& command);

}  // namespace sluice
