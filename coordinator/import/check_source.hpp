#pragma once

#include "common/documents/document.hpp"
#include "common/text/template.hpp"
#include "coordinator/import/import_notes.hpp"
#include "coordinator/suite/expectations/foreign_check.hpp"

#include <cstdint>
#include <set>
#include <string>

#include <tl/expected.hpp>

namespace sluice {

/// What an assertion asks for, before a test's values are known. promptfoo renders its value first and reads
/// it as a list, a schema or a pattern then, which a suite does not do.
struct CheckSource {
  /// What the one text of a value is, once it is rendered.
  enum class Reading : std::uint8_t { text, list, schema };

  ForeignCheck check;  ///< Its texts, also those within a schema, are templates of a suite.
  Reading reading = Reading::text;
  std::set<std::string, std::less<>> variables{};
  std::set<std::string, std::less<>> json_variables{};  ///< As TranslatedTemplate::json_variables.
  bool is_trimmed = false;       ///< It judges the answer without the white space at its ends.
  bool has_own_pattern = false;  ///< A pattern is one of ours, and none of the configuration.
};

/// What to do about a check whose transform no metric says; the end of a clause.
inline constexpr std::string_view write_as_javascript =
    ", which no metric says: write it as a check javascript, which runs the transform";

/// What a check lets pass here and not there, or the other way round.
struct Leniency {
  std::string clause{};  ///< Empty: nothing.
  Loss loss = Loss::change;
};

/// With the values of a test where it needs them.
Leniency leniency_of(const CheckSource& source, const Variables& values = {});

/// Translates the texts of a check into templates of a suite. The error is a clause that says which cannot
/// be.
tl::expected<CheckSource, std::string> check_source(ForeignCheck check, CheckSource::Reading reading);

/// Whether the values of these variables must be known for an entry of `expected`: where that would have a
/// template in what is no template there, or in what is split, or an empty text, or white space that a
/// transform takes off.
bool depends_on_values(const CheckSource& source, const Variables& values);
/// Whether these values have white space at an end that decides there, and not here.
bool asks_for_space(const CheckSource& source, const Variables& values);
/// What depends_on_values says whatever the values are.
bool needs_values(const CheckSource& source);

/// The entry of `expected`, which has templates in its texts; or a clause that says why there is none.
/// REQUIRES: !needs_values(source)
tl::expected<DocumentNode, std::string> expectation_of(const CheckSource& source);
/// The same with the values in their places.
tl::expected<DocumentNode, std::string> expectation_of(const CheckSource& source, const Variables& values);

}  // namespace sluice
