#pragma once

#include "common/checks/pattern.hpp"
#include "common/documents/finding.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// What makes a file worth asking about, as bits.
enum class Trigger : std::uint8_t { name = 1, import = 2, word = 4, entropy = 8 };

/// `name`, `import`, `word` or `random text`.
std::string_view to_string(Trigger trigger);

/// Those that a file has.
class Triggers {
 public:
  void add(Trigger one) { bits_ |= static_cast<std::uint8_t>(one); }
  bool has(Trigger one) const { return (bits_ & static_cast<std::uint8_t>(one)) != 0; }
  bool empty() const { return bits_ == 0; }
  int count() const;

 private:
  std::uint8_t bits_ = 0;
};

/// What makes a file of one language worth asking about.
struct LanguageRules {
  std::string name;
  std::optional<Pattern> names;    ///< Of the file's name in lower case; as for the next two, nothing: none.
  std::optional<Pattern> imports;  ///< Of its text.
  std::optional<Pattern> words;
  double entropy = 0.0;  ///< Bits a character that a run must exceed.
};

/// Which files are asked about (config/triggers.toml). Immutable; thread-safe.
class TriggerRules {
 public:
  /// Every finding in the file `origin`, or the rules.
  static tl::expected<TriggerRules, std::vector<Finding>> parse(std::string_view toml,
                                                                const std::string& origin);

  /// Of the file at a path with '/'; null if it is of none, or excluded by its name.
  const LanguageRules* language_of(std::string_view path) const;
  const std::vector<std::string>& excluded_folders() const { return excluded_folders_; }

 private:
  std::vector<std::string> excluded_folders_;
  std::optional<Pattern> excluded_names_;
  std::vector<LanguageRules> languages_;
  std::map<std::string, std::size_t, std::less<>> by_extension_;  ///< In lower case, without the dot.
  std::map<std::string, std::size_t, std::less<>> by_name_;       ///< Whole names, in lower case.
};

/// What the file has of the rules. Linear in the text.
Triggers triggers_of(const LanguageRules& rules, std::string_view path, std::string_view text);

/// Shannon entropy of the text's bytes, in bits a byte; 0 for an empty one.
double entropy_of(std::string_view text);

}  // namespace sluice
