#include "coordinator/suite/prompts/prompt_files.hpp"

#include "coordinator/suite/file_glob.hpp"
#include "coordinator/suite/prompts/arms.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

namespace sluice {
namespace {

const std::string* file_of(const DocumentNode& prompt) {
  const DocumentEntry* file = find_entry(prompt, "file");
  return file != nullptr ? std::get_if<std::string>(&file->value.value) : nullptr;
}

/// The prompt with the file for its own. `is_one_of_several`: an id that is there is not the file's alone.
DocumentNode with_file(const DocumentNode& prompt, const std::string& name, bool is_one_of_several) {
  DocumentNode result = prompt;
  auto& table = std::get<DocumentNode::Table>(result.value);
  std::ranges::find(table, "file", &DocumentEntry::key)->value.value = name;
  const std::string stem = arm_name_of(std::filesystem::path(name).stem().generic_string());
  const auto id = std::ranges::find(table, "id", &DocumentEntry::key);
  if (id == table.end()) {
    table.push_back({"id", prompt.line, {stem, prompt.line, {}}});
    std::ranges::stable_sort(table, {}, &DocumentEntry::key);
  } else if (const auto* text = std::get_if<std::string>(&id->value.value);
             text != nullptr && is_one_of_several) {
    id->value.value = *text + "-" + stem;
  }
  return result;
}

}  // namespace

DocumentEntry with_prompt_files(const DocumentEntry& prompts, const SuiteFolder& folder) {
  DocumentEntry result = prompts;
  auto* list = std::get_if<DocumentNode::Array>(&result.value.value);
  if (list == nullptr) return result;
  DocumentNode::Array all;
  for (const DocumentNode& prompt : *list) {
    const std::string* file = file_of(prompt);
    if (file == nullptr) {
      all.push_back(prompt);
    } else if (const auto names = find_files(folder, *file)) {
      for (const std::string& name : *names) all.push_back(with_file(prompt, name, true));
    } else {
      all.push_back(with_file(prompt, *file, false));
    }
  }
  *list = std::move(all);
  return result;
}

}  // namespace sluice
