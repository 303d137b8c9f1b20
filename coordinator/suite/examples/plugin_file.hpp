#pragma once

#include "common/documents/finding.hpp"
#include "common/text/template.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// What floors differ by. In an override an empty part stands for any; of a case it is not known.
struct TaskTriple {
  std::string task_class;
  std::string language;
  std::string build_system;
  friend auto operator<=>(const TaskTriple&, const TaskTriple&) = default;
};

/// Similarities from which an example is a hit, or a near match: 0..1, and the high one above the other.
struct Floors {
  double high = 0.0;
  double degraded = 0.0;
  friend bool operator==(const Floors&, const Floors&) = default;
};

/// A plugin file (plugins/NAME/plugin.yaml): how solved examples are used (docs/retrieval.md).
struct Plugin {
  struct Override {
    TaskTriple of;
    Floors floors;
    std::uint32_t line = 0;
  };

  std::string name;
  double drift_envelope = 0.0;
  Floors floors;
  std::vector<Override> overrides;
  Template few_shot;  ///< With {{input}} and {{answer}}.
  std::string low_confidence;
  std::string text;  ///< As it was read: two with the same are the same.

  /// The floors of the override that names most of the triple; of those that name as much, of one that names
  /// the task class, then the language. Those of the file where none fits.
  const Floors& floors_of(const TaskTriple& triple) const;
};

/// Whether an override for `rule` is meant for the triple.
bool fits(const TaskTriple& rule, const TaskTriple& triple);
/// `task class "bump", language "java"`, or `any case`.
std::string in_words(const TaskTriple& triple);

/// Reads the YAML text; `name` is that of its folder, `origin` the findings' file. Either the plugin or
/// everything that is wrong: unknown keys, floors out of 0..1, crossed, or so near to each other that the
/// drift between machines could turn a hit into a miss; templates that do not show the example.
tl::expected<Plugin, std::vector<Finding>> parse_plugin(std::string_view yaml, std::string name,
                                                        const std::string& origin);

/// The built-in one, config/plugins/default/plugin.yaml: what other files leave out is as in it.
const Plugin& shipped_plugin();

/// Why floors may not be used together; empty if they may. A clause: `are crossed: ...`.
std::string problem_with(const Floors& floors, double drift_envelope);

}  // namespace sluice
