#pragma once

#include "common/hash.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/suite.hpp"
#include "coordinator/suite/suite_folder.hpp"

#include <memory>
#include <vector>

namespace sluice {

/// What `examples:` of a suite came to.
struct ReadExamples {
  std::shared_ptr<const SuiteExamples> suite;  ///< Null where it cannot be used: why is a finding.
  CaseExamples of_tests;                       ///< Of those that say nothing else.
};

/// Reads `examples:` of a suite: the name of a JSON Lines file or of a folder, a list of them, or a mapping
/// with these as `from`, a `plugin`, and the `task_class` and `build_system` of all tests. Everything that is
/// wrong, in the files too, becomes a finding; `opened` gets every file that was read.
ReadExamples read_suite_examples(const DocumentEntry& examples, const DocumentContext& context,
                                 const SuiteFolder& files, std::vector<FileIdentity>& opened);

/// Reads `examples:` of a test: `false`, or a mapping of what is another than for all tests (`of_tests`).
CaseExamples read_case_examples(const DocumentEntry& examples, const CaseExamples& of_tests,
                                const DocumentContext& context);

/// The same for the same examples, used in the same way.
Digest fingerprint_of(const SuiteExamples& examples);

}  // namespace sluice
