#pragma once

#include "common/documents/document.hpp"
#include "coordinator/suite/document_context.hpp"

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
  /// The test with what it leaves open: variables by name, parts of its input by key, and all else by key.
  /// Its metrics are its own, and then those that stand here, but for scored ones of a type that it names
  /// itself. What comes from here has the test's line. `default_test: false` in it wants none.
  DocumentNode apply(const DocumentNode& test) const;

 private:
  DocumentNode::Table node_;  ///< `expected` is a list.
};

}  // namespace sluice
