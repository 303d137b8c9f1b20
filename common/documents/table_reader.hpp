#pragma once

#include "common/documents/document.hpp"
#include "common/documents/finding.hpp"
#include "common/documents/toml_document.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Whether a key's absence is a finding.
enum class Need : std::uint8_t { optional, required };

/// Reads one table key by key and collects everything that is wrong with it. Every key that was asked for is
/// a known one; `finish` turns all others into findings. Holds references only: the document, the file name
/// and the findings must outlive it. Not thread-safe.
class TableReader {
 public:
  /// `name` is how messages call the table, e.g. "[metadata]"; empty for the document itself.
  TableReader(const TomlNode& node, std::string name, const std::string& file, std::vector<Finding>& findings,
              Notation notation = Notation::toml);

  /// The entry of any type.
  const TomlEntry* entry(std::string_view key, Need need = Need::optional,
                         std::string_view expected = "a value");
  /// The value if it has the type; another type is a finding and yields nothing.
  std::optional<std::string> text(std::string_view key, Need need = Need::optional);
  /// A string that is not empty and holds no control characters: ids, names, categories.
  std::optional<std::string> word(std::string_view key, Need need = Need::optional);
  /// A string or a TOML date, as written.
  std::optional<std::string> date(std::string_view key, Need need = Need::optional);
  /// A finite number, whole or not.
  std::optional<double> number(std::string_view key, Need need = Need::optional);
  /// A finite number from `low` to `high`.
  std::optional<double> number_in(std::string_view key, double low, double high, Need need = Need::optional);
  /// A whole number that is not negative.
  std::optional<std::uint64_t> count(std::string_view key, Need need = Need::optional);
  /// A node that is a table, or an array. `such_as`: what a finding of another type proposes to write.
  const TomlNode* table(std::string_view key, Need need = Need::optional, std::string_view such_as = {});
  /// A string, or an array of strings, which is not empty unless that may be; one string counts as an array
  /// of one.
  std::optional<std::vector<std::string>> texts(std::string_view key, Need need = Need::optional,
                                                bool may_be_empty = false);
  const TomlNode::Array* array(std::string_view key, Need need = Need::optional);

  /// How messages call the table.
  const std::string& name() const { return name_; }
  /// Line of the key, or of the table if the key is not there.
  std::uint32_t line_of(std::string_view key) const;
  void add_finding(std::uint32_t line, std::string message);
  /// `"key" in [table] must be ...` at the key's line.
  void add_wrong(std::string_view key, std::string_view what);
  /// That the value must not be empty, with the template that its variables left so.
  void add_empty(std::string_view key);
  /// What add_wrong adds.
  Finding wrong(std::string_view key, std::string_view what) const;
  /// One of the keys (each asked for) must be there, and none is: a finding with this message, unless
  /// `finish` finds a key that is near to one of them, and says both.
  void add_missing(std::vector<std::string_view> keys, std::string message);
  /// The entry of a key that is known only to be refused by name: no message offers it.
  const TomlEntry* refused_entry(std::string_view key);
  /// Where a key stands by the name that others call it: a finding says its own, and none that it is missing.
  void refuse_other_name(std::string_view other, std::string_view key);
  /// Reports the keys that nobody asked for: with what `belongs` returns for the key (a clause such as "it
  /// belongs in [eval]"; empty: nothing), else with the nearest known one, else with all known ones. Where
  /// they are too many for a line, `listed_in` is named instead (a clause; empty: nothing is). If the nearest
  /// is missing, one finding says both. REQUIRES: nobody has taken or moved findings since the reader was
  /// made.
  void finish(const std::function<std::string(std::string_view)>& belongs = {},
              std::string_view listed_in = {});

 private:
  const TomlEntry* find(std::string_view key) const;
  std::string quoted(std::string_view key) const;
  void add_type_finding(const TomlEntry& entry, std::string_view expected);
  std::string not_a_string(const TomlNode& node) const;
  std::string known_keys(std::string_view listed_in) const;
  Finding* take_missing(std::string_view key);

  /// A finding that there is already, and may be replaced.
  struct Missing {
    std::vector<std::string_view> keys;
    std::size_t finding;
  };

  /// A bit that differs between most keys.
  static std::uint64_t bit_of(std::string_view key) {
    constexpr std::size_t bits = 64;
    const std::size_t first = key.empty() ? 0 : static_cast<unsigned char>(key.front());
    return std::uint64_t{1} << ((first + 7 * key.size()) % bits);
  }

  const TomlNode::Table& entries_;
  std::uint64_t bits_ = 0;  ///< Of its keys: most that are asked for are not there.
  std::uint32_t line_;
  std::string name_;
  const std::string& file_;
  std::vector<Finding>& findings_;
  Notation notation_;
  std::vector<std::string_view> known_;
  std::vector<std::string_view> refused_;
  std::vector<std::string_view> otherwise_named_;
  std::vector<Missing> missing_;
};

/// `a, b and c`, each in quotes: the known names in a message.
std::string quoted_list(const std::vector<std::string>& names, std::string_view conjunction = "and");

}  // namespace sluice
