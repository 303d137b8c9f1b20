#include "coordinator/import/check_source.hpp"

#include "common/checks/json_schema.hpp"
#include "common/checks/pattern.hpp"
#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/import/foreign_pattern.hpp"
#include "coordinator/import/foreign_template.hpp"
#include "coordinator/import/import_source.hpp"
#include "coordinator/import/trimmed_answer.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

using Reading = CheckSource::Reading;
using Made = tl::expected<DocumentNode, std::string>;

/// Does something with each text of a document. Stops where it says false, and says so itself.
template <typename Node, typename Do>
bool each_text(Node& node, const Do& act) {
  if (auto* text = std::get_if<std::string>(&node.value)) return act(*text);
  if (auto* list = std::get_if<DocumentNode::Array>(&node.value))
    return std::ranges::all_of(*list, [&](auto& one) { return each_text(one, act); });
  auto* table = std::get_if<DocumentNode::Table>(&node.value);
  return table == nullptr ||
         std::ranges::all_of(*table, [&](auto& entry) { return each_text(entry.value, act); });
}

template <typename Check, typename Do>
bool each_text_of(Check& check, const Do& act) {
  return std::ranges::all_of(check.values, act) && (!check.context || act(*check.context)) &&
         (!check.schema || each_text(*check.schema, act));
}

bool has_tag(const std::string& text) {
  return text.find("{{") != std::string::npos;
}

/// What a variable lacks is empty there.
std::string rendered(const std::string& text, Variables values) {
  const auto parsed = Template::parse(text);
  if (!parsed) return text;
  for (const std::string& name : parsed->variables()) values.try_emplace(name);
  std::size_t room = defaults::max_rendered_bytes;
  return parsed->render(values, room).value_or(text);
}

/// Reads its one text as what it is meant to be; an empty clause if all is well.
std::string read_value(ForeignCheck& check, Reading reading) {
  if (reading == Reading::list) {
    auto values = parse_foreign_list(check.values.front());
    if (!values) return std::move(values.error());
    check.values = std::move(*values);
  } else if (reading == Reading::schema) {
    auto node = parse_foreign("schema.json", check.values.front());
    if (!node || !std::holds_alternative<DocumentNode::Table>(node->value))
      return "has a value that is no schema";
    check.values.clear();
    check.schema = std::move(*node);
  }
  return "";
}

DocumentEntry* find_key(DocumentNode& table, std::string_view key) {
  auto& entries = std::get<DocumentNode::Table>(table.value);
  const auto found = std::ranges::find(entries, key, &DocumentEntry::key);
  return found != entries.end() ? &*found : nullptr;
}

/// A pattern that looks for the same and has no `{{name}}`, which a suite takes for a variable of the test.
std::string without_variables(const std::string& pattern) {
  std::string result;
  std::size_t done = 0;
  for (const std::string_view name : variables_in(pattern)) {
    if (name.find_first_not_of("0123456789") == name.npos) continue;  // So often a brace.
    const auto brace = pattern.rfind('{', static_cast<std::size_t>(name.data() - pattern.data()));
    result += pattern.substr(done, brace - done) + '\\';
    done = brace;
  }
  return result + pattern.substr(done);
}

/// A clause on what the entry holds and cannot be used; empty if all is well.
std::string problem_with(DocumentNode& expectation) {
  std::string problem;
  if (DocumentEntry* pattern = find_key(expectation, "pattern")) {
    each_text(pattern->value, [&](const std::string& text) {
      const auto compiled = Pattern::compile(text);
      if (!compiled) problem = "cannot be said: " + compiled.error().message;
      return compiled.has_value();
    });
  }
  if (const DocumentEntry* schema = find_key(expectation, "schema")) {
    const std::string text = canonical_json(in_order(schema->value));
    const auto compiled = JsonSchema::compile(text);
    if (!compiled) problem = "has a schema that cannot be used (" + compiled.error().message + ")";
    if (const auto name = first_variable(text); !name.empty())
      problem = "has a schema with {{" + std::string(name) + "}}, which a suite takes for a variable";
  }
  return problem;
}

/// Writes its patterns as RE2 has them; a clause if one cannot be.
std::string translate_patterns(ForeignCheck& check) {
  if (check.type != "regex") return "";
  for (std::string& value : check.values) {
    auto translated = translate_pattern(value);
    if (!translated) return std::move(translated.error());
    value = std::move(translated->text);
  }
  return "";
}

Made made_of(ForeignCheck check, const CheckSource& source) {
  if (std::string problem = read_value(check, source.reading); !problem.empty())
    return tl::unexpected(std::move(problem));
  if (source.is_trimmed) {
    auto untrimmed = check_of_untrimmed(std::move(check));
    if (!untrimmed)
      return tl::unexpected("judges what a \"transform\" makes of the answer" +
                            std::string(write_as_javascript));
    check = std::move(*untrimmed);
  }
  if (std::string problem = translate_patterns(check); !problem.empty())
    return tl::unexpected(std::move(problem));
  if (check.schema) check.schema = in_order(std::move(*check.schema));
  Made made = expectation_of(check);
  if (!made) return made;
  if (DocumentEntry* pattern = find_key(*made, "pattern")) {
    each_text(pattern->value, [](std::string& text) {
      text = without_variables(text);
      return true;
    });
  }
  if (std::string problem = problem_with(*made); !problem.empty()) return tl::unexpected(std::move(problem));
  return made;
}

/// The texts of an entry are templates, those of its patterns and schemas are none.
void escape_texts(DocumentNode& expectation) {
  for (const std::string_view key : {"text", "criteria", "reference", "context"}) {
    if (DocumentEntry* entry = find_key(expectation, key)) {
      each_text(entry->value, [](std::string& text) {
        text = template_of(text);
        return true;
      });
    }
  }
  if (DocumentEntry* parts = find_key(expectation, "of")) {
    for (DocumentNode& part : std::get<DocumentNode::Array>(parts->value.value)) escape_texts(part);
  }
}

/// Whether a schema asks for a form of texts that is not judged here (docs/metrics.md).
bool names_other_format(const DocumentNode& schema) {
  if (const auto* list = std::get_if<DocumentNode::Array>(&schema.value))
    return std::ranges::any_of(*list, names_other_format);
  const auto* table = std::get_if<DocumentNode::Table>(&schema.value);
  if (table == nullptr) return false;
  return std::ranges::any_of(*table, [](const DocumentEntry& entry) {
    const std::string* text = text_in(entry.value);
    if (entry.key == "format" && text != nullptr)
      return *text != "date" && *text != "time" && *text != "date-time";
    return names_other_format(entry.value);
  });
}

Leniency leniency_of_patterns(const CheckSource& source, const Variables& values) {
  for (const std::string& value : source.check.values) {
    const auto translated = translate_pattern(rendered(value, values));
    if (translated && !translated->difference.empty()) return {translated->difference};
  }
  return {};
}

/// At the ends of an answer and of its own text.
bool ignores_space(const ForeignCheck& check) {
  return check.type == "equals" || check.type == "starts-with" || check.type == "levenshtein";
}

}  // namespace

Leniency leniency_of(const CheckSource& source, const Variables& values) {
  const ForeignCheck& check = source.check;
  if (check.type == "regex")
    return source.has_own_pattern ? Leniency() : leniency_of_patterns(source, values);
  if (check.type == "rouge-n") {
    return {
        "is the F1 of words without their case and punctuation, and there the share of the text's words "
        "that the answer has: look at its threshold anew"};
  }
  if (check.type == "is-refusal") {
    return {
        "knows the provider's own refusals, and answers that begin with words of one such as \"I cannot "
        "help with\"; there more words count, anywhere in the answer, and a blank answer: look at its "
        "pattern anew"};
  }
  if (check.is_negated && (check.type == "llm-rubric" || check.type == "g-eval")) {
    return {
        "asks a judge for the opposite of its criteria, and there the verdict on them is turned round: try "
        "it on answers that you know"};
  }
  if (check.is_negated) return {};  // Less passes here.
  std::string leniency;
  if (check.type == "is-json" || (check.type == "equals" && check.schema))
    leniency = "takes JSON in a code fence as well, which fails there";
  if (check.schema && check.type != "equals" && names_other_format(*check.schema)) {
    leniency += (leniency.empty() ? "" : ", and ") +
                std::string("judges no \"format\" but \"date\", \"time\" and \"date-time\"");
  }
  if (!leniency.empty()) return {std::move(leniency)};
  if (!ignores_space(check)) return {};
  const bool has_tags = std::ranges::any_of(check.values, has_tag);
  const bool has_clean = std::ranges::all_of(
      check.values, [](const std::string& value) { return value.empty() || has_clean_ends(value); });
  if (source.is_trimmed && has_clean && !has_tags) return {};
  // An answer is no other with a line end behind it; a text that asks for white space means it.
  return {"does not count white space at the ends, which counts there",
          has_clean ? Loss::none : Loss::change};
}

tl::expected<CheckSource, std::string> check_source(ForeignCheck check, Reading reading) {
  CheckSource source{std::move(check), reading};
  std::string problem;
  each_text_of(source.check, [&](std::string& text) {
    auto translated = translate_template(text);
    if (!translated) problem = std::move(translated.error());
    if (!translated) return false;
    text = std::move(translated->text);
    source.variables.merge(translated->variables);
    source.json_variables.merge(translated->json_variables);
    return true;
  });
  if (!problem.empty()) return tl::unexpected(std::move(problem));
  if (reading == Reading::schema && !source.json_variables.empty())
    return tl::unexpected(std::string("has a schema with values that a filter writes as JSON"));
  return source;
}

bool needs_values(const CheckSource& source) {
  const auto has_none = [](const std::string& text) { return !has_tag(text); };
  if (each_text_of(source.check, has_none)) return false;
  return source.check.type == "regex" || source.check.type == "word-count" || source.check.schema ||
         source.reading != Reading::text;
}

bool asks_for_space(const CheckSource& source, const Variables& values) {
  return ignores_space(source.check) &&
         std::ranges::any_of(source.check.values, [&](const std::string& text) {
           const std::string shown = rendered(text, values);
           return !shown.empty() && !has_clean_ends(shown);
         });
}

bool depends_on_values(const CheckSource& source, const Variables& values) {
  const auto is_blank = [&](const std::string& text) {
    return has_tag(text) && trimmed(rendered(text, values)).empty();
  };
  const auto has_space = [&](const std::string& text) {
    return source.is_trimmed && has_tag(text) && !has_clean_ends(rendered(text, values));
  };
  return needs_values(source) || std::ranges::any_of(source.check.values, is_blank) ||
         std::ranges::any_of(source.check.values, has_space) ||
         (source.check.context && is_blank(*source.check.context));
}

Made expectation_of(const CheckSource& source) {
  return made_of(source.check, source);
}

Made expectation_of(const CheckSource& source, const Variables& values) {
  ForeignCheck check = source.check;
  each_text_of(check, [&](std::string& text) {
    text = rendered(text, values);
    return true;
  });
  Made made = made_of(std::move(check), source);
  if (made) escape_texts(*made);
  return made;
}

}  // namespace sluice
