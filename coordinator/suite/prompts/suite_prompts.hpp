#pragma once

#include "common/documents/document.hpp"
#include "common/text/template.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/prompts/arm.hpp"
#include "coordinator/suite/suite_folder.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The prompts that `prompts:` of a suite names (docs/suites.md), which every test without a prompt of its
/// own is asked by. Immutable once they are read, and then thread-safe.
class SuitePrompts {
 public:
  /// Reads the list, and the files that it names; `opened` gets these. What is wrong becomes findings.
  void read(const DocumentEntry& prompts, const DocumentContext& context, const ReadNamedFile& read_file,
            std::vector<FileIdentity>* opened);

  bool empty() const { return prompts_.empty(); }
  /// In the order of the file, as they are written.
  std::vector<PromptVariant> variants() const;
  /// Whether any of them may hold the variable: it does, or one of them cannot be read.
  bool use(std::string_view variable) const { return !are_sound_ || variables_.contains(variable); }
  const std::set<std::string, std::less<>>& variables() const { return variables_; }
  /// How messages name the first that has a system prompt; empty if none has.
  std::string first_with_system() const;
  /// Each with a test's variables, or nothing where that is not possible; why is then a finding at the line.
  std::vector<RenderedPrompt> render(const Variables& values, const DocumentContext& test,
                                     std::uint32_t line) const;

 private:
  struct Prompt {
    PromptVariant written;
    Template prompt;
    Template system;
    std::string shown;  ///< `the prompt "short" (suite.yaml:4)`
    bool is_sound = false;
  };

  static Prompt read_one(const DocumentNode& node, std::size_t index, const DocumentContext& context,
                         const ReadNamedFile& read_file, std::vector<FileIdentity>* opened);

  std::vector<Prompt> prompts_;
  std::set<std::string, std::less<>> variables_;  ///< That any of them holds.
  bool are_sound_ = true;
};

}  // namespace sluice
