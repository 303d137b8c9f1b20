#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/import_notes.hpp"
#include "coordinator/suite/suite_folder.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

struct ImportFile;

/// A foreign configuration, as YAML or JSON. A text that older versions of promptfoo take for a number is a
/// note of `from`, if that is given.
tl::expected<DocumentNode, DocumentError> parse_foreign(const std::string& file, std::string_view text,
                                                        const ImportFile* from = nullptr);

/// The value with its keys in the order in which promptfoo writes them, which sends them in it.
DocumentNode as_written(DocumentNode node);
/// The same as JSON.
std::string written_json(const DocumentNode& node);

/// The text of a node that is one; else null.
const std::string* text_in(const DocumentNode& node);
/// The same of a table's entry; null if there is none.
const std::string* text_in(const DocumentNode& table, std::string_view key);
/// A scalar as a text, as promptfoo shows it: a number by its value. Nothing for tables, lists and null.
std::optional<std::string> scalar_text(const DocumentNode& node);
/// A number of a table, also where it is written as a text, which counts as one there.
std::optional<double> number_in(const DocumentNode& table, std::string_view key);

struct ForeignEnvironment;

/// One of the files that an import reads: its own folder bounds what it may name.
struct ImportFile {
  const SuiteFolder& files;
  ImportNotes& notes;
  std::string name;      ///< Relative to the folder; for messages too.
  std::string folder{};  ///< Leads there from the suite's: empty, or with a slash at its end.
  ForeignEnvironment* environment = nullptr;  ///< Null where no text is read.
  std::size_t depth = 0;                      ///< So many names of files lead to it.
  std::vector<std::string> within{};          ///< The files that hold these names.
  /// How many files were followed by names in files that others name; all files of an import share it.
  std::shared_ptr<std::size_t> followed = std::make_shared<std::size_t>(0);

  /// A note of what changes no request and no verdict.
  void note(std::uint32_t line, std::string message) const { notes.add(name, line, std::move(message)); }
  /// A note of a request or a verdict that is another than there.
  void change(std::uint32_t line, std::string message) const { lose(Loss::change, line, std::move(message)); }
  /// A note of what the suite lacks by it.
  void lose(Loss loss, std::uint32_t line, std::string message) const {
    notes.add(name, line, std::move(message), loss);
  }
  /// Another file beside it.
  ImportFile with(std::string other) const {
    ImportFile there{files, notes, std::move(other), folder, environment, depth + 1, within, followed};
    there.within.push_back(name);
    return there;
  }
};

/// The table of an entry that must be one; else null, which is a note unless nothing stands there.
const DocumentNode::Table* mapping_in(const DocumentEntry& entry, const ImportFile& from);

/// The path in `file://PATH`, or of a text that is the name of a file there is (as older configurations write
/// it); empty for any other text. What follows a colon after the extension (`:function`) is taken off.
std::string referenced_file(std::string_view text, const SuiteFolder& files);
/// The names that it stands for: itself, or what fits it as a glob. Nothing is a note, and the `loss`.
std::vector<std::string> files_of(const std::string& name, const ImportFile& from, std::uint32_t line,
                                  Loss loss);
/// A file's text with Unix line ends; nothing is a note at the line that names it, and the `loss`. A file
/// that is there and no text, such as an image, may be another.
std::optional<std::string> read_text_file(const std::string& name, const ImportFile& from, std::uint32_t line,
                                          Loss loss, std::optional<Loss> of_no_text = {});
/// The same as a document; text that is none is a note of the file.
std::optional<DocumentNode> read_document(const std::string& name, const ImportFile& from, std::uint32_t line,
                                          Loss loss);
/// Whether a file whose own names are read as well may be: neither within itself, nor after too many others.
/// Else a note, and the `loss`.
bool may_follow(const std::string& name, const ImportFile& from, std::uint32_t line, Loss loss);
/// The text as an id or a name has it (arm_name_of); empty if nothing of it can stand in one.
std::string id_of(std::string_view text);
inline DocumentNode text_node(std::string text, std::uint32_t line = 1) {
  return {std::move(text), line, {}};
}
/// Lower case, with the dot; empty if there is none.
std::string extension_of(std::string_view name);
/// A program: what it does nobody else can say.
bool is_code_file(std::string_view name);

}  // namespace sluice
