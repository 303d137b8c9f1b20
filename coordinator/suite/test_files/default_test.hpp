#pragma once

#include "common/documents/document.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/test_files/unfilled_variable.hpp"

#include <vector>

namespace sluice {

struct TestSource;

/// What `default_test` of a suite says for every test (docs/suites.md). Immutable; thread-safe.
class DefaultTest {
 public:
  /// Says nothing.
  DefaultTest() = default;
  /// Reads the mapping; what is wrong becomes findings, here and not at each test.
  static DefaultTest read(const DocumentEntry& entry, const TestSource& source,
                          const DocumentContext& context);

  bool empty() const { return node_.empty(); }
  /// Whether a test has anything from here: it does not say `default_test: false`.
  bool is_for(const DocumentNode& test) const;
  /// What its patterns and schemas hold: whether a test has such variables is not known here.
  const std::vector<UnfilledVariable>& unfilled() const { return unfilled_; }
  /// The test with what it leaves open: variables by name, parts of its input by key, and all else by key.
  /// Its metrics are its own, and then those that stand here, but for scored ones of a type that it names
  /// itself. What comes from here has the test's line.
  DocumentNode apply(const DocumentNode& test) const;
  /// Of its metrics those scored ones without a name that the test has not, having one of the type itself.
  DocumentNode::Array replaced_by(const DocumentNode& test) const;

 private:
  DocumentNode::Table node_;  ///< `expected` is a list.
  std::vector<UnfilledVariable> unfilled_;
};

}  // namespace sluice
