#include "coordinator/import/test_nodes.hpp"

#include "common/text/text.hpp"
#include "coordinator/import/ordered_table.hpp"
#include "coordinator/import/program_checks.hpp"

#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {
namespace {

void add_tags(const ImportedTest& test, const ImportedTest& shared, OrderedTable& node) {
  auto metadata = test.metadata;
  metadata.insert(shared.metadata.begin(), shared.metadata.end());
  DocumentNode::Array tags;
  std::set<std::string_view> known;
  for (const auto& [key, texts] : metadata) {
    for (const std::string& text : texts) {
      if (known.insert(text).second) tags.push_back(text_node(text));
    }
  }
  if (!tags.empty()) node.add("tags", {std::move(tags), 1, {}});
}

DocumentNode vars(const ImportedTest& test) {
  OrderedTable node;
  for (const auto& [name, value] : test.vars) node.add(name, text_node(value));
  return node.take();
}

DocumentNode expected(const std::vector<ImportedCheck>& checks) {
  DocumentNode::Array list;
  for (const ImportedCheck& check : checks) list.push_back(check.expectation);
  return {std::move(list), 1, {}};
}

}  // namespace

DocumentNode test_node(const ImportedTest& test, const std::string& id, const ImportedTest& shared,
                       const DocumentNode& input, bool has_templates) {
  OrderedTable node;
  node.add("id", text_node(id));
  if (!one_line(test.name).empty()) node.add("name", text_node(one_line(test.name)));
  add_tags(test, shared, node);
  if (!test.takes_default_checks && !shared.checks.empty()) node.add("default_test", {false, 1, {}});
  // Without any a suite fills in no parameters.
  const bool runs_programs =
      run_programs(test.checks) || (test.takes_default_checks && run_programs(shared.checks));
  if (!test.vars.empty() || has_templates || runs_programs) node.add("vars", vars(test));
  if (!std::get<DocumentNode::Table>(input.value).empty()) node.add("input", input);
  if (!test.checks.empty()) node.add("expected", expected(test.checks));
  return node.take();
}

DocumentNode default_test_node(const ImportedTest& shared) {
  OrderedTable node;
  if (!shared.vars.empty()) node.add("vars", vars(shared));
  if (!shared.checks.empty()) node.add("expected", expected(shared.checks));
  return node.take();
}

}  // namespace sluice
