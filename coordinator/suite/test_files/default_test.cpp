#include "coordinator/suite/test_files/default_test.hpp"

#include "common/model/metrics.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/examples/examples_key.hpp"
#include "coordinator/suite/expectations/expectation_reader.hpp"
#include "coordinator/suite/expectations/metric_types.hpp"
#include "coordinator/suite/fixtures/fixture.hpp"
#include "coordinator/suite/test_files/test_parser.hpp"
#include "coordinator/suite/test_files/test_templates.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

/// A metric that any answer can be judged by, in place of metrics that cannot be read: else each test would
/// lack them.
DocumentNode any_metric(std::uint32_t line) {
  return {DocumentNode::Table{{"text", line, {std::string("?"), line, {}}},
                              {"type", line, {std::string("must_contain"), line, {}}}},
          line,
          {}};
}

DocumentNode::Array as_list(DocumentNode node) {
  if (auto* list = std::get_if<DocumentNode::Array>(&node.value)) return std::move(*list);
  DocumentNode::Array list;
  list.push_back(std::move(node));
  return list;
}

void set_lines(DocumentNode& node, std::uint32_t line) {
  node.line = line;
  if (auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    for (DocumentEntry& entry : *table) {
      entry.line = line;
      set_lines(entry.value, line);
    }
  } else if (auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
    for (DocumentNode& one : *list) set_lines(one, line);
  }
}

void sort_by_key(DocumentNode::Table& table) {
  std::ranges::stable_sort(table, {}, &DocumentEntry::key);
}

DocumentEntry* find(DocumentNode::Table& table, std::string_view key) {
  const auto found = std::ranges::find(table, key, &DocumentEntry::key);
  return found != table.end() ? &*found : nullptr;
}

/// Adds the entries whose keys the table lacks.
void add_missing(DocumentNode& into, const DocumentNode& from) {
  auto* table = std::get_if<DocumentNode::Table>(&into.value);
  const auto* added = std::get_if<DocumentNode::Table>(&from.value);
  if (table == nullptr || added == nullptr) return;
  for (const DocumentEntry& entry : *added) {
    if (find(*table, entry.key) == nullptr) table->push_back(entry);
  }
  sort_by_key(*table);
}

/// Empty where there is no such text.
std::string_view text_at(const DocumentNode& metric, std::string_view key) {
  const DocumentEntry* entry = find_entry(metric, key);
  const auto* text = entry != nullptr ? std::get_if<std::string>(&entry->value.value) : nullptr;
  return text != nullptr ? std::string_view(*text) : std::string_view();
}

std::optional<MetricId> metric_of(const DocumentNode& metric) {
  return metric_called(text_at(metric, "type"));
}

/// Both expect a label, at the same place of an answer.
bool are_of_one_label(const DocumentNode& one, const DocumentNode& other) {
  return metric_of(one) == MetricId::label && metric_of(other) == MetricId::label &&
         text_at(one, "path") == text_at(other, "path");
}

/// Two expectations of one score.
bool are_of_one_score(const DocumentNode& one, const DocumentNode& other) {
  const auto metric = metric_of(one);
  return metric && info(*metric).kind == MetricKind::scored && metric_of(other) == metric &&
         text_at(one, "name") == text_at(other, "name");
}

/// A test has each score once, and an answer one label; the test's own goes first.
bool is_replaced(const DocumentNode& metric, const DocumentNode::Array& own) {
  return std::ranges::any_of(own, [&](const DocumentNode& one) {
    return are_of_one_label(one, metric) || are_of_one_score(one, metric);
  });
}

void add_metrics(DocumentNode& own, const DocumentNode& from) {
  DocumentNode::Array list = as_list(own);
  DocumentNode::Array all = list;
  for (const DocumentNode& one : std::get<DocumentNode::Array>(from.value)) {
    if (!is_replaced(one, list)) all.push_back(one);
    // The labels that there are are written once, for all tests.
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (are_of_one_label(list[i], one)) add_missing(all[i], one);
    }
  }
  own.value = std::move(all);
}

class DefaultTestReader {
 public:
  DefaultTestReader(const TestSource& source, const DocumentContext& context,
                    std::vector<UnfilledVariable>& unfilled)
      : source_(source), context_(context), unfilled_(unfilled) {}

  DocumentNode::Table read(const DocumentNode& node) {
    const std::size_t before = context_.findings.size();
    TableReader reader = context_.reader(node, "default_test");
    reader.word("category");
    reader.texts("tags", Need::optional, true);
    reader.text("language");
    read_weight(reader);
    const DocumentEntry* vars = reader.entry("vars");
    const DocumentEntry* examples = reader.entry("examples");
    const DocumentNode* input = reader.table("input", Need::optional, R"({"system": "Answer in one word."})");
    const DocumentEntry* expected = reader.entry("expected");
    for (const std::string_view key : {std::string_view("id"), std::string_view("name")}) {
      if (reader.refused_entry(key) != nullptr) reader.add_wrong(key, "is a test's own: take it out");
    }
    reader.finish([](std::string_view key) {
      const bool is_of_one_test = key == "prompt" || key == "description";
      return is_of_one_test ? "" : place_of_foreign_key(key);
    });
    const Variables variables = vars != nullptr ? read_variables(*vars, context_) : Variables();
    if (examples != nullptr) read_case_examples(*examples, source_.examples, context_);
    if (input != nullptr) read_input(context_.reader(*input, "default_test.input"));
    const DocumentNode metrics = expected != nullptr ? read_expected(*expected) : DocumentNode{};
    DocumentNode::Table table = std::get<DocumentNode::Table>(node.value);
    if (context_.findings.size() != before) table = without_what_is_wrong(variables, node.line);
    if (expected != nullptr) {
      std::erase_if(table, [](const DocumentEntry& entry) { return entry.key == "expected"; });
      table.push_back({"expected", expected->line, metrics});
      sort_by_key(table);
    }
    return table;
  }

 private:
  /// What tests would lack: each would have a finding of its own for it.
  static DocumentNode::Table without_what_is_wrong(const Variables& variables, std::uint32_t line) {
    DocumentNode::Table vars;
    for (const auto& [name, value] : variables) vars.push_back({name, line, {value, line, {}}});
    return {{"vars", line, {std::move(vars), line, {}}}};
  }

  static void read_input(TableReader reader) {
    reader.texts("context");
    reader.text("system");
    for (const std::string_view key : {std::string_view("prompt"), std::string_view("file")}) {
      if (reader.refused_entry(key) == nullptr) continue;
      reader.add_wrong(key, "cannot stand here: a prompt for every test stands in the suite's \"prompts\"");
    }
    reader.finish();
  }

  /// As a list. What is wrong with it is said once, here.
  DocumentNode read_expected(const DocumentEntry& expected) const {
    const std::size_t before = context_.findings.size();
    Case probe;
    std::vector<NamedTool> tools;  // Each test has its own.
    read_expectations(expected, source_, context_, probe, unfilled_, tools);
    DocumentNode list{DocumentNode::Array(), expected.line, {}};
    list.value = context_.findings.size() == before ? as_list(expected.value)
                                                    : DocumentNode::Array{any_metric(expected.line)};
    return list;
  }

  const TestSource& source_;
  const DocumentContext& context_;
  std::vector<UnfilledVariable>& unfilled_;
};

}  // namespace

DefaultTest DefaultTest::read(const DocumentEntry& entry, const TestSource& source,
                              const DocumentContext& context) {
  DefaultTest result;
  if (!std::holds_alternative<DocumentNode::Table>(entry.value.value)) {
    context.add(entry.line, "\"default_test\" must be a mapping with what holds for every test, not " +
                                std::string(type_name(entry.value, context.notation)));
    return result;
  }
  result.node_ = DefaultTestReader(source, context, result.unfilled_).read(entry.value);
  return result;
}

bool DefaultTest::is_for(const DocumentNode& test) const {
  const DocumentEntry* wanted = find_entry(test, "default_test");
  const auto* is_wanted = wanted != nullptr ? std::get_if<bool>(&wanted->value.value) : nullptr;
  return !empty() && (is_wanted == nullptr || *is_wanted);
}

DocumentNode DefaultTest::apply(const DocumentNode& test) const {
  DocumentNode merged = test;
  auto* table = std::get_if<DocumentNode::Table>(&merged.value);
  if (table == nullptr || !is_for(test)) return merged;
  for (DocumentEntry entry : node_) {
    entry.line = test.line;
    set_lines(entry.value, test.line);
    DocumentEntry* own = find(*table, entry.key);
    if (own == nullptr) {
      table->push_back(std::move(entry));
    } else if (entry.key == "expected") {
      add_metrics(own->value, entry.value);
    } else if (entry.key == "vars" || entry.key == "input") {
      add_missing(own->value, entry.value);
    }
  }
  sort_by_key(*table);
  return merged;
}

DocumentNode::Array DefaultTest::replaced_by(const DocumentNode& test) const {
  DocumentNode::Array replaced;
  const auto shared = std::ranges::find(node_, "expected", &DocumentEntry::key);
  const DocumentEntry* own = find_entry(test, "expected");
  if (shared == node_.end() || own == nullptr || !is_for(test)) return replaced;
  const DocumentNode::Array list = as_list(own->value);
  std::ranges::copy_if(std::get<DocumentNode::Array>(shared->value.value), std::back_inserter(replaced),
                       [&](const DocumentNode& metric) {
                         return text_at(metric, "name").empty() &&
                                std::ranges::any_of(list, [&](const DocumentNode& one) {
                                  return are_of_one_score(one, metric);
                                });
                       });
  return replaced;
}

}  // namespace sluice
