#include "coordinator/suite/fingerprint.hpp"
#include "coordinator/suite/json_document.hpp"
#include "coordinator/suite/test_parser.hpp"
#include "coordinator/suite/yaml_document.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
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

/// A test that is read keeps the promises of Case; one that is not has findings with lines.
void check_test(const sluice::DocumentNode& node, sluice::Notation notation) {
  sluice::TextChecker checker;
  sluice::TestSource source;
  source.file = "suite.yaml";
  source.notation = notation;
  source.read_file = [](const std::string&,
                        std::vector<sluice::FileIdentity>*) -> sluice::Result<std::string> {
    return sluice::fail(sluice::Reason::file_unreadable, "cannot be read: there are no files here");
  };
  source.checker = &checker;
  source.rubrics = shipped_rubrics();
  const auto parsed = sluice::parse_test(node, source);
  for (const auto& finding : parsed.findings) {
    if (finding.line == 0 || finding.message.empty()) __builtin_trap();
  }
  if (!parsed.findings.empty()) return;
  const auto& one = parsed.test;
  const bool sound =
      !one.id.empty() && !one.category.empty() && one.weight > 0.0 && !one.expectations.empty();
  if (!sound) __builtin_trap();
  if (!sluice::parse_json(sluice::canonical_case(one))) __builtin_trap();
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
  if (yaml.root) check_test(*yaml.root, sluice::Notation::yaml);
  if (const auto json = sluice::parse_json(text)) check_test(*json, sluice::Notation::json);
  return 0;
}
