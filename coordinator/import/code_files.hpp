#pragma once

#include "coordinator/import/foreign_program.hpp"
#include "coordinator/import/promptfoo_checks.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// Code of checks that stands beside the suite, once for all of them.
struct CodeFile {
  std::string file;
  std::string text;
};

/// Takes long code that many tests have out of their checks: a suite has a limit, and a copy in each test
/// passes it. Code that shows variables is another in each test, and stays.
class CodeFiles {
 public:
  /// Of checks that so many tests have.
  void count(const std::vector<ImportedCheck>& checks, std::size_t tests);
  /// Lets checks that were counted name the files of their code.
  void name_in(std::vector<ImportedCheck>& checks);
  /// Those that checks name.
  std::vector<CodeFile> take() { return std::move(files_); }

 private:
  using Code = std::pair<ForeignProgram::Language, std::string>;

  /// Empty where the code stays in the checks.
  std::string file_for(const ForeignProgram& program);

  std::map<Code, std::size_t> tests_{};  ///< How many have it.
  std::map<Code, std::string> names_{};
  std::vector<CodeFile> files_{};
};

}  // namespace sluice
