#pragma once

#include "common/documents/document.hpp"
#include "common/text/template.hpp"
#include "coordinator/import/import_source.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// A check that is a program: code in the configuration, or a function of a file beside it. A suite runs it
/// by a program of its own (`promptfoo_check`), which reads answers as sluice has them and calls it.
struct ForeignProgram {
  enum class Language : std::uint8_t { javascript, python };

  Language language = Language::javascript;
  bool is_negated = false;
  std::string code;         ///< As it is written, which is a template; empty: that of the file.
  std::string code_file{};  ///< In the suite's folder, with the code, where many checks have it (CodeFiles).
  std::string file{};       ///< As a suite's command finds it.
  std::string function{};   ///< Of the file; empty: the one that it is for.
  std::vector<std::string> transforms{};  ///< JavaScript that makes what the code judges, in this order;
  std::string transform_file{};           ///< or a function of a file that does.
  std::string transform_function{};
  bool is_trimmed = false;  ///< In Python: before that function, white space at the answer's ends goes.
  std::optional<DocumentNode> config{};
  std::optional<double> threshold{};
  std::set<std::string, std::less<>> variables{};       ///< That the code shows,
  std::set<std::string, std::less<>> json_variables{};  ///< and as JSON.
};

/// What reads answers for programs of this language, in the suite's folder; and what runs it.
std::string runner_of(ForeignProgram::Language language);
std::string interpreter_of(ForeignProgram::Language language);
/// A file of code that many checks have, the `number`th of its kind.
std::string code_file_of(ForeignProgram::Language language, std::size_t number);

/// Whether a check of this type (without `not-`) is a program that can be run.
bool is_program_type(std::string_view type);

/// Reads an assertion of such a type. The error is a clause that says why it cannot be taken over.
tl::expected<ForeignProgram, std::string> read_program(const DocumentNode& assertion, std::string_view type,
                                                       bool is_negated, const ImportFile& from);

/// Lets a program judge what a `transform` makes of the answer, before any that it has. What is returned is a
/// clause that says why that cannot be; empty if it can.
std::string add_transform(ForeignProgram& program, const DocumentNode& transform, const ImportFile& from);

/// What a program reads beside the answer.
struct ProgramInput {
  DocumentNode vars;     ///< A table: the test's variables by name; its texts are templates of a suite.
  Variables json{};      ///< Their values as JSON.
  bool is_json = false;  ///< The answer is JSON, which the program gets as the value that it is.
};

/// The entry of `expected`.
DocumentNode expectation_of(const ForeignProgram& program, const ProgramInput& input);

}  // namespace sluice
