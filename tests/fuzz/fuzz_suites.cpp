#include "common/defaults.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/canonical_case.hpp"
#include "coordinator/suite/documents/json_document.hpp"
#include "coordinator/suite/documents/yaml_document.hpp"
#include "coordinator/suite/expectations/label_sets.hpp"
#include "coordinator/suite/prompts/arm_reader.hpp"
#include "coordinator/suite/prompts/arms.hpp"
#include "coordinator/suite/test_files/test_parser.hpp"
#include "coordinator/suite/test_files/test_templates.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// Read once: they are no part of what is fuzzed.
std::shared_ptr<sluice::SuiteRubrics> shipped_rubrics() {
  static const auto shipped = [] {
    auto rubrics = std::make_shared<sluice::SuiteRubrics>();
    std::vector<sluice::Finding> findings;
    rubrics->add_shipped(findings);
    if (!findings.empty()) __builtin_trap();
    return rubrics;
  }();
  return shipped;
}

sluice::Result<std::string> no_file(const std::string&, std::vector<sluice::FileIdentity>*) {
  return sluice::fail(sluice::Reason::file_unreadable, "cannot be read: there are no files here");
}

void check_findings(const std::vector<sluice::Finding>& findings) {
  for (const auto& finding : findings) {
    if (finding.line == 0 || finding.message.empty()) __builtin_trap();
  }
}

/// A test that is read keeps the promises of Case; one that is not has findings with lines.
void check_test(const sluice::DocumentNode& node, sluice::Notation notation,
                const std::shared_ptr<const sluice::SuitePrompts>& prompts) {
  sluice::CheckCompiler checker;
  sluice::TestSource source;
  source.file = "suite.yaml";
  source.notation = notation;
  source.read_file = no_file;
  source.checker = &checker;
  source.rubrics = shipped_rubrics();
  source.prompts = prompts;
  const auto parsed = sluice::parse_test(node, source);
  check_findings(parsed.findings);
  if (!parsed.findings.empty()) return;
  const auto& one = parsed.test;
  const bool sound =
      !one.id.empty() && !one.category.empty() && one.weight > 0.0 && !one.expectations.empty();
  if (!sound) __builtin_trap();
  if (!sluice::parse_json(sluice::canonical_case(one))) __builtin_trap();
  sluice::LabelSets labels;
  for (const auto& expectation : one.expectations) labels.add(expectation.what, {0, 1});
  std::vector<sluice::Finding> of_labels;
  labels.find_problems({source.file}, of_labels);
  check_findings(of_labels);
  for (const auto& prompt : one.prompts) {
    if (prompt.prompt.empty() || prompt.prompt.size() > sluice::defaults::max_rendered_bytes)
      __builtin_trap();
  }
}

/// A document as a test, and as a suite with prompts, arms and tests.
void check_document(const sluice::DocumentNode& root, sluice::Notation notation) {
  check_test(root, notation, std::make_shared<sluice::SuitePrompts>());
  const std::string file = "suite.yaml";
  std::vector<sluice::Finding> findings;
  const sluice::DocumentContext context{file, notation, findings};
  const auto prompts = std::make_shared<sluice::SuitePrompts>();
  if (const auto* entry = sluice::find_entry(root, "prompts")) {
    prompts->read(*entry, context, no_file, nullptr);
  }
  if (const auto* entry = sluice::find_entry(root, "arms")) {
    const auto variants = prompts->variants();
    const auto arms = sluice::arms_of(variants, sluice::read_arms(*entry, variants, context));
    for (const auto& arm : arms) {
      if (arm.prompt && *arm.prompt >= variants.size()) __builtin_trap();
    }
    const bool are_few = arms.size() <= sluice::defaults::max_arms;
    if (findings.empty() && are_few && !sluice::check_arms(arms)) __builtin_trap();
  }
  check_findings(findings);
  const auto* tests = sluice::find_entry(root, "tests");
  const auto* list =
      tests != nullptr ? std::get_if<sluice::DocumentNode::Array>(&tests->value.value) : nullptr;
  if (list == nullptr || list->size() > 100) return;
  for (const auto& test : *list) check_test(test, notation, prompts);
}

}  // namespace

/// Any bytes may stand in a suite or a tests file: they are read or named, and never crash.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto yaml = sluice::parse_yaml(text);
  for (const auto& error : yaml.errors) {
    if (error.line == 0 || error.message.empty()) __builtin_trap();
  }
  if (!yaml.root && yaml.errors.empty()) __builtin_trap();
  if (yaml.root) check_document(*yaml.root, sluice::Notation::yaml);
  if (const auto json = sluice::parse_json(text)) check_document(*json, sluice::Notation::json);
  return 0;
}
