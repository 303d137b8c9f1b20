#pragma once

#include "common/documents/document.hpp"
#include "common/documents/finding.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A task with its solution, to be shown to a model that has a similar one.
struct SolvedExample {
  std::string id;
  std::string input;
  std::string answer;
  std::vector<std::string> tags;  ///< For people, and for whoever sorts the file.
};

/// Reads solved examples from any number of files (docs/retrieval.md) and collects everything that is wrong
/// with them, with file and line. The findings must outlive it. Not thread-safe.
class SolvedExamplesReader {
 public:
  explicit SolvedExamplesReader(std::vector<Finding>& findings) : findings_(findings) {}

  /// A text of JSON Lines: an example each. Empty lines are passed over.
  void add_json_lines(std::string_view text, const std::string& file);
  /// A YAML text that is one example, whose id is `name` where it names none.
  void add_yaml(std::string_view text, const std::string& file, const std::string& name);

  std::size_t size() const { return examples_.size(); }
  /// By id; the reader is then empty.
  std::vector<SolvedExample> finish();

 private:
  void add(const DocumentNode& node, Notation notation, const std::string& file, const std::string& name);

  std::vector<Finding>& findings_;
  std::vector<SolvedExample> examples_;
  std::map<std::string, std::string, std::less<>> places_;  ///< FILE:LINE by id.
};

/// The example as a line of JSON Lines, with its line end.
std::string json_line(const SolvedExample& example);

}  // namespace sluice
