#include "coordinator/suite/test_files/test_templates.hpp"

#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

namespace sluice {
namespace {

/// What a scalar is as a text; nothing if it is none, or null.
std::optional<std::string> text_of(const DocumentNode& node) {
  if (const auto* text = std::get_if<std::string>(&node.value)) return *text;
  const auto* boolean = std::get_if<bool>(&node.value);
  const auto* whole = std::get_if<std::int64_t>(&node.value);
  const auto* real = std::get_if<double>(&node.value);
  if (boolean == nullptr && whole == nullptr && real == nullptr) return std::nullopt;
  if (!node.written.empty()) return node.written;
  if (boolean != nullptr) return *boolean ? "true" : "false";
  return whole != nullptr ? std::to_string(*whole) : shortest(*real);
}

class TestRenderer {
 public:
  TestRenderer(const DocumentNode& test, const Variables& values, const DocumentContext& context,
               std::span<const std::string> places)
      : values_(values), context_(context), places_(places) {
    result_.node = test;
  }

  RenderedTest run() {
    for (DocumentEntry& entry : std::get<DocumentNode::Table>(result_.node.value)) {
      if (entry.key == "input") {
        render_keys(entry.value, "input", of_input);
        render_messages(entry.value);
      }
      if (entry.key == "expected") render_expected(entry.value);
    }
    return std::move(result_);
  }

 private:
  static constexpr std::array<std::string_view, 3> of_input{"prompt", "context", "system"};
  static constexpr std::array<std::string_view, 5> of_metric{"text", "label", "reference", "criteria",
                                                             "context"};
  static constexpr std::array<std::string_view, 3> of_message{"content", "text", "image"};
  using Keys = std::span<const std::string_view>;

  /// The texts of each message: its content, or those of its parts.
  void render_messages(DocumentNode& input) {
    auto* keys = std::get_if<DocumentNode::Table>(&input.value);
    if (keys == nullptr) return;
    const auto entry = std::ranges::find(*keys, "messages", &DocumentEntry::key);
    auto* messages = entry != keys->end() ? std::get_if<DocumentNode::Array>(&entry->value.value) : nullptr;
    if (messages == nullptr) return;
    for (std::size_t i = 0; i < messages->size(); ++i) {
      const std::string name = "input.messages[" + std::to_string(i) + "]";
      render_keys((*messages)[i], name, of_message);
      auto* message = std::get_if<DocumentNode::Table>(&(*messages)[i].value);
      if (message == nullptr) continue;
      const auto content = std::ranges::find(*message, "content", &DocumentEntry::key);
      auto* parts =
          content != message->end() ? std::get_if<DocumentNode::Array>(&content->value.value) : nullptr;
      if (parts == nullptr) continue;
      for (DocumentNode& part : *parts) render_keys(part, name + ".content", of_message);
    }
  }

  void render_expected(DocumentNode& expected) {
    auto* list = std::get_if<DocumentNode::Array>(&expected.value);
    if (list == nullptr) return render_metric(expected, "expected");
    for (std::size_t i = 0; i < list->size(); ++i) {
      render_metric((*list)[i], place_of_metric(places_, i));
    }
  }

  /// With its parts, if it is a group, or the calls that it lists.
  void render_metric(DocumentNode& metric, const std::string& name) {
    render_keys(metric, name, of_metric);
    auto* table = std::get_if<DocumentNode::Table>(&metric.value);
    if (table == nullptr) return;
    for (DocumentEntry& entry : *table) {
      const std::string shown = "\"" + entry.key + "\" in " + name + " ";
      if (entry.key == "parameters") render_all(entry.value, shown);
      if (entry.key != "arguments") continue;
      take_values(entry.value);
      render_all(entry.value, shown);
    }
    for (const std::string_view key : {"of", "calls"}) {
      const auto parts = std::ranges::find(*table, key, &DocumentEntry::key);
      auto* list = parts != table->end() ? std::get_if<DocumentNode::Array>(&parts->value.value) : nullptr;
      if (list == nullptr) continue;
      for (std::size_t i = 0; i < list->size(); ++i)
        render_metric((*list)[i], name + "." + std::string(key) + "[" + std::to_string(i) + "]");
    }
  }

  void render_keys(DocumentNode& node, const std::string& name, Keys keys) {
    auto* table = std::get_if<DocumentNode::Table>(&node.value);
    if (table == nullptr) return;
    for (DocumentEntry& entry : *table) {
      if (std::ranges::find(keys, entry.key) == keys.end()) continue;
      const std::string shown = "\"" + entry.key + "\" in " + name + " ";
      render(entry.value, entry.line, shown);
      auto* list = std::get_if<DocumentNode::Array>(&entry.value.value);
      if (list == nullptr) continue;
      for (DocumentNode& one : *list) render(one, one.line, shown);
    }
  }

  /// A text that is a variable alone becomes its value where that is a number or a boolean: what a tool is
  /// called with has a type.
  void take_values(DocumentNode& node) {
    if (const auto* text = std::get_if<std::string>(&node.value)) {
      const std::string name(first_variable(*text));
      std::string bare = *text;
      std::erase(bare, ' ');
      const DocumentEntry* vars = find_entry(result_.node, "vars");
      const DocumentEntry* value = vars != nullptr ? find_entry(vars->value, name) : nullptr;
      const bool is_alone = value != nullptr && bare == "{{" + name + "}}";
      if (!is_alone || std::holds_alternative<std::string>(value->value.value)) return;
      result_.used.insert(name);
      node = value->value;
    } else if (auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
      for (DocumentNode& one : *list) take_values(one);
    } else if (auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
      for (DocumentEntry& entry : *table) take_values(entry.value);
    }
  }

  /// Each text, however deep.
  void render_all(DocumentNode& node, const std::string& shown) {
    render(node, node.line, shown);
    if (auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
      for (DocumentNode& one : *list) render_all(one, shown);
    }
    if (auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
      for (DocumentEntry& entry : *table) render_all(entry.value, shown);
    }
  }

  /// A node that is a text.
  void render(DocumentNode& node, std::uint32_t line, const std::string& shown) {
    auto* text = std::get_if<std::string>(&node.value);
    if (is_full_ || text == nullptr) return;
    const auto parsed = Template::parse(*text);
    if (!parsed) {
      result_.is_sound = false;
      return add(parsed.error(), line, shown);
    }
    for (std::string& name : parsed->variables()) result_.used.insert(std::move(name));
    auto rendered = parsed->render(values_, room_);
    if (!rendered) {
      is_full_ = room_ == 0;
      if (is_full_) result_.is_sound = false;
      return add(rendered.error(), line, shown);
    }
    if (trimmed(*rendered).empty() && !parsed->variables().empty()) node.written = std::move(*text);
    *text = std::move(*rendered);
  }

  void add(const std::vector<TemplateProblem>& problems, std::uint32_t line, const std::string& shown) {
    for (const TemplateProblem& problem : problems) context_.add(line, shown + clause(problem));
  }

  const Variables& values_;
  const DocumentContext& context_;
  std::span<const std::string> places_;
  std::size_t room_ = defaults::max_rendered_bytes;
  bool is_full_ = false;  ///< That is said once.
  RenderedTest result_;
};

/// Instead of what is no value of a variable; people know these from other tools.
std::string what_to_write_for(const DocumentNode& value) {
  if (std::holds_alternative<DocumentNode::Array>(value.value))
    return ": write a test for each of its entries, or all of them as one text";
  if (std::holds_alternative<DocumentNode::Table>(value.value))
    return ": write its JSON as a text, or a variable for each of its members (\"NAME.MEMBER\")";
  return std::holds_alternative<DocumentNull>(value.value) ? ": write \"\" for an empty text" : "";
}

}  // namespace

std::string clause(const TemplateProblem& problem) {
  if (problem.line == 1) return problem.message;
  return problem.message + " (line " + std::to_string(problem.line) + " of the text)";
}

std::string names_file(std::string_view path) {
  return "names \"" + excerpt(path, defaults::quoted_bytes) + "\", which ";
}

Variables read_variables(const DocumentEntry& vars, const DocumentContext& context) {
  Variables values;
  const auto* table = std::get_if<DocumentNode::Table>(&vars.value.value);
  if (table == nullptr) {
    context.add(vars.line, "\"vars\" must be " + std::string(table_name(context.notation)) +
                               " of names with values, not " +
                               std::string(type_name(vars.value, context.notation)));
    return values;
  }
  for (const DocumentEntry& entry : *table) {
    const std::string shown = "\"" + excerpt(entry.key, defaults::quoted_bytes) + "\" in vars ";
    auto text = text_of(entry.value);
    if (!is_variable_name(entry.key)) {
      context.add(entry.line, shown +
                                  "cannot be a variable's name: these are of letters, digits, \"_\", \"-\" "
                                  "and \".\", and begin with none of the last two");
    } else if (!text) {
      context.add(entry.line, shown + "must be a string, a number or a boolean, not " +
                                  std::string(type_name(entry.value, context.notation)) +
                                  what_to_write_for(entry.value));
    }
    values.emplace(entry.key, std::move(text).value_or(stand_in_value));
  }
  return values;
}

std::string json_of_variables(const DocumentEntry& vars) {
  DocumentNode node = vars.value;
  auto* table = std::get_if<DocumentNode::Table>(&node.value);
  if (table == nullptr) return "";
  for (DocumentEntry& entry : *table) {
    if (!has_only_json_values(entry.value)) entry.value.value = text_of(entry.value).value_or("");
  }
  return canonical_json(node);
}

RenderedTest render_test(const DocumentNode& test, const Variables& values, const DocumentContext& context,
                         std::span<const std::string> places) {
  return TestRenderer(test, values, context, places).run();
}

std::string place_of_metric(std::span<const std::string> places, std::size_t i) {
  return i < places.size() ? places[i] : "expected[" + std::to_string(i) + "]";
}

}  // namespace sluice
