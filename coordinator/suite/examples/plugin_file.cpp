#include "coordinator/suite/examples/plugin_file.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "config/embedded_config.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/documents/yaml_document.hpp"
#include "coordinator/suite/test_files/test_templates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace sluice {
namespace {

constexpr std::array<std::pair<const char*, std::string TaskTriple::*>, 3> parts{
    {{"task_class", &TaskTriple::task_class},
     {"language", &TaskTriple::language},
     {"build_system", &TaskTriple::build_system}}};

/// More parts first; of as many, the task class before the language before the build system.
int specificity(const TaskTriple& rule) {
  int named = 0;
  int which = 0;
  for (const auto& [name, part] : parts) {
    const bool is_named = !(rule.*part).empty();
    named += is_named ? 1 : 0;
    which = 2 * which + (is_named ? 1 : 0);
  }
  return 8 * named + which;
}

/// The text without the line ends at its end, which block texts of YAML have.
std::string without_last_lines(std::string text) {
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

class PluginReader {
 public:
  PluginReader(std::string name, const std::string& origin) : context_{origin, Notation::yaml, findings_} {
    plugin_.name = std::move(name);
  }

  tl::expected<Plugin, std::vector<Finding>> read(std::string_view yaml) {
    plugin_.text = yaml;
    const ParsedYaml document = parse_yaml(yaml);
    for (const DocumentError& error : document.errors) context_.add(error.line, error.message);
    if (document.root) {
      if (std::holds_alternative<DocumentNode::Table>(document.root->value)) {
        read_document(*document.root);
      } else {
        context_.add(document.root->line,
                     "a plugin must be a mapping with \"high_floor\" and \"degraded_floor\", not " +
                         std::string(type_name(*document.root, Notation::yaml)));
      }
    }
    if (findings_.empty()) return std::move(plugin_);
    sort_findings(findings_);
    return tl::unexpected(std::move(findings_));
  }

 private:
  void read_document(const DocumentNode& root) {
    TableReader reader = context_.reader(root, "");
    const auto high = reader.number_in("high_floor", 0.0, 1.0);
    const auto degraded = reader.number_in("degraded_floor", 0.0, 1.0);
    const auto drift = reader.number_in("drift_envelope", 0.0, 1.0);
    const DocumentNode::Array* overrides = reader.array("overrides");
    const auto few_shot = reader.text("few_shot");
    const auto low_confidence = reader.text("low_confidence");
    reader.finish();
    // What a file leaves out is as in the shipped one, which leaves out nothing.
    const auto or_shipped = [](const std::optional<double>& given, double Floors::*floor) {
      return given ? *given : shipped_plugin().floors.*floor;
    };
    plugin_.floors = {or_shipped(high, &Floors::high), or_shipped(degraded, &Floors::degraded)};
    plugin_.drift_envelope = drift ? *drift : shipped_plugin().drift_envelope;
    if (findings_.empty()) check_floors(reader, plugin_.floors);
    if (overrides != nullptr) {
      for (const DocumentNode& one : *overrides) read_override(one);
    }
    plugin_.few_shot = few_shot ? read_few_shot(reader, *few_shot) : shipped_plugin().few_shot;
    plugin_.low_confidence =
        low_confidence ? without_last_lines(*low_confidence) : shipped_plugin().low_confidence;
    if (plugin_.low_confidence.empty())
      reader.add_wrong("low_confidence", "must not be empty: a near match is never shown without it");
  }

  void check_floors(TableReader& reader, const Floors& floors) {
    if (std::string problem = problem_with(floors, plugin_.drift_envelope); !problem.empty())
      reader.add_finding(line_of_floors(reader), "\"degraded_floor\" and \"high_floor\" " + problem);
  }

  static std::uint32_t line_of_floors(const TableReader& reader) {
    return std::max(reader.line_of("high_floor"), reader.line_of("degraded_floor"));
  }

  void read_override(const DocumentNode& node) {
    if (!std::holds_alternative<DocumentNode::Table>(node.value)) {
      return context_.add(node.line,
                          "an override must be a mapping, such as {language: java, high_floor: 0.9}, not " +
                              std::string(type_name(node, Notation::yaml)));
    }
    const std::size_t before = findings_.size();
    TableReader reader = context_.reader(node, "the override");
    Plugin::Override one;
    one.line = node.line;
    for (const auto& [name, part] : parts) one.of.*part = reader.word(name).value_or("");
    const auto high = reader.number_in("high_floor", 0.0, 1.0);
    const auto degraded = reader.number_in("degraded_floor", 0.0, 1.0);
    reader.finish();
    if (findings_.size() > before) return;
    if (one.of == TaskTriple{}) {
      return context_.add(node.line,
                          "the override is for no case in particular: name \"task_class\", \"language\" or "
                          "\"build_system\"");
    }
    if (!high && !degraded) {
      return context_.add(node.line,
                          "the override changes nothing: name \"high_floor\" or \"degraded_floor\"");
    }
    one.floors = {high.value_or(plugin_.floors.high), degraded.value_or(plugin_.floors.degraded)};
    check_floors(reader, one.floors);
    const auto same = std::ranges::find(plugin_.overrides, one.of, &Plugin::Override::of);
    if (same != plugin_.overrides.end()) {
      context_.add(node.line, "there is an override for " + in_words(one.of) + " already, in line " +
                                  std::to_string(same->line) + ": leave one of the two");
    }
    plugin_.overrides.push_back(std::move(one));
  }

  static Template read_few_shot(TableReader& reader, const std::string& text) {
    auto parsed = Template::parse(without_last_lines(text));
    if (!parsed) {
      for (const TemplateProblem& problem : parsed.error()) reader.add_wrong("few_shot", clause(problem));
      return {};
    }
    const auto variables = parsed->variables();
    for (const std::string& name : variables) {
      if (name == "input" || name == "answer") continue;
      reader.add_wrong("few_shot", "uses {{" + excerpt(name, defaults::quoted_bytes) +
                                       "}}, and an example has {{input}} and {{answer}}");
    }
    for (const char* name : {"input", "answer"}) {
      if (std::ranges::find(variables, name) != variables.end()) continue;
      reader.add_wrong("few_shot", "must hold {{" + std::string(name) + "}}, which else is not shown");
    }
    return std::move(*parsed);
  }

  std::vector<Finding> findings_;
  DocumentContext context_;
  Plugin plugin_;
};

}  // namespace

bool fits(const TaskTriple& rule, const TaskTriple& triple) {
  return std::ranges::all_of(parts, [&](const auto& named) {
    const std::string& wanted = rule.*named.second;
    return wanted.empty() || wanted == triple.*named.second;
  });
}

std::string in_words(const TaskTriple& triple) {
  constexpr std::array<const char*, 3> words{"task class", "language", "build system"};
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string& part = triple.*parts[i].second;
    if (part.empty()) continue;
    text += (text.empty() ? "" : ", ") + std::string(words[i]) + " \"" +
            excerpt(part, defaults::quoted_bytes) + "\"";
  }
  return text.empty() ? "any case" : text;
}

const Floors& Plugin::floors_of(const TaskTriple& triple) const {
  const Override* best = nullptr;
  for (const Override& one : overrides) {
    if (!fits(one.of, triple)) continue;
    if (best == nullptr || specificity(one.of) > specificity(best->of)) best = &one;
  }
  return best != nullptr ? best->floors : floors;
}

std::string problem_with(const Floors& floors, double drift_envelope) {
  const std::string both = shortest(floors.degraded) + " and " + shortest(floors.high);
  if (floors.degraded > floors.high) return "are crossed: " + both + "; a hit needs more than a near match";
  // In billionths, as similarities are compared.
  const auto billionths = [](double number) { return std::llround(number * 1e9); };
  if (billionths(floors.high) - billionths(floors.degraded) > billionths(drift_envelope)) return "";
  return "are too near to each other: the band between " + both + " must be wider than \"drift_envelope\" (" +
         shortest(drift_envelope) + "), by which similarities differ between machines";
}

const Plugin& shipped_plugin() {
  static const Plugin shipped =
      parse_plugin(embedded::default_plugin, "default", "built-in plugins/default/plugin.yaml").value();
  return shipped;
}

tl::expected<Plugin, std::vector<Finding>> parse_plugin(std::string_view yaml, std::string name,
                                                        const std::string& origin) {
  return PluginReader(std::move(name), origin).read(yaml);
}

}  // namespace sluice
