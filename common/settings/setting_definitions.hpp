#pragma once

#include "common/settings/setting_values.hpp"
#include "common/settings/settings.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

/// Where a value comes from: the Setting's two other fields.
struct Stamp {
  Origin origin = Origin::default_value;
  std::string where;
};

/// Tables of the settings file that hold settings.
inline constexpr std::string_view eval_section = "eval";
inline constexpr std::string_view judge_section = "judge";
inline constexpr std::string_view redaction_section = "redaction";
inline constexpr std::string_view ledger_section = "ledger";

/// All there is to know about one setting of `Owner`.
template <class Owner>
struct Definition {
  std::string_view key;   ///< Of the setting; the variable is SLUICE_ and this in upper case.
  std::string_view flag;  ///< Empty if there is none.
  bool in_file = true;    ///< False for what only flags and the environment set.
  std::string_view section = eval_section;  ///< The table of the file that holds it.
  std::string_view section_key{};           ///< What it is called there; empty: `key`.
  std::string_view value;                   ///< What a value looks like, for help texts.
  std::string_view doc;                     ///< One sentence without a full stop.
  std::string_view bare;                    ///< What the flag means without a value; empty: it needs one.
  std::string_view off_flag{};        ///< A flag without a value that means `off`; empty: there is none.
  std::string_view off{};             ///< What that flag stands for.
  std::string_view other_variable{};  ///< Read behind the setting's own, as other harnesses call it.
  /// Stores the value, or says what is wrong with it ("must be ...").
  std::function<std::optional<std::string>(Owner&, const RawValue&, const Stamp&)> set;
  std::function<std::string(const Owner&)> show;  ///< The value as a text.
  std::function<Stamp(const Owner&)> stamp;       ///< Where it came from.

  std::string_view name_in_file() const { return section_key.empty() ? key : section_key; }
};

using SettingDefinition = Definition<Settings>;
using ProviderDefinition = Definition<ProviderConfig>;

/// The settings of [eval], [judge] and [redaction], and those that only flags and the environment set.
std::span<const SettingDefinition> setting_definitions();
/// The keys of [providers.NAME].
std::span<const ProviderDefinition> provider_definitions();

/// The table of the settings file that a key belongs in, with its name there if that is another: `[judge]
/// as "samples"`. Empty for what the file does not have.
std::string place_in_settings_file(std::string_view key);

/// `SLUICE_` and the key in upper case.
std::string variable_of(std::string_view key);

/// A key that has another name now: refused with the new one, since the old one may get another meaning.
struct RenamedKey {
  std::string_view old_key;
  std::string_view key;
  std::string_view run_budget;  ///< The setting for the whole run that the old name may have meant.
};
std::span<const RenamedKey> renamed_eval_keys();
/// How that refusal reads: of a key in a file, and of its variable.
std::string renamed_key(const RenamedKey& one);
std::string renamed_variable(const RenamedKey& one);

}  // namespace sluice
