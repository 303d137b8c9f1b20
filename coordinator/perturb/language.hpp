#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

/// The languages whose comments, strings and line ends are known well enough to change a text around them,
/// and prose.
enum class Language : std::uint8_t {
  python,
  javascript,
  typescript,
  rust,
  go,
  java,
  c,
  cpp,
  makefile,
  toml,
  json,
  prose,  ///< What people write to each other; Markdown is prose.
};

/// By the name that a case gives, or a usual short form of it ("py", "golang", "c++", "tsx"); letters' case
/// does not matter. A text without a name is prose. Nothing for any other language.
std::optional<Language> language_named(std::string_view name);
/// The usual written name, e.g. "Python": for messages.
std::string_view to_string(Language language);

}  // namespace sluice
