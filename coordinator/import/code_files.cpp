#include "coordinator/import/code_files.hpp"

#include "common/defaults.hpp"
#include "common/text/template.hpp"
#include "coordinator/import/defaults.hpp"
#include "coordinator/import/foreign_template.hpp"

#include <optional>

namespace sluice {
namespace {

bool may_stand_in_file(const ForeignProgram& program) {
  return program.variables.empty() && program.code.size() > defaults::max_short_code_bytes;
}

/// The code as the suite would hand it over: without what marks a template's own braces.
std::optional<std::string> text_of_code(const std::string& code) {
  const auto translated = translate_template(code);
  if (!translated) return std::nullopt;
  const auto parsed = Template::parse(translated->text);
  if (!parsed) return std::nullopt;
  std::size_t room = defaults::max_rendered_bytes;
  auto text = parsed->render({}, room);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

}  // namespace

void CodeFiles::count(const std::vector<ImportedCheck>& checks, std::size_t tests) {
  for (const ImportedCheck& check : checks) {
    count(check.parts, tests);
    if (check.program && may_stand_in_file(*check.program))
      tests_[{check.program->language, check.program->code}] += tests;
  }
}

void CodeFiles::name_in(std::vector<ImportedCheck>& checks) {
  for (ImportedCheck& check : checks) {
    name_in(check.parts);
    if (!check.program || !may_stand_in_file(*check.program)) continue;
    std::string file = file_for(*check.program);
    if (file.empty()) continue;
    ForeignProgram program = *check.program;
    program.code_file = std::move(file);
    check.program = std::make_shared<const ForeignProgram>(std::move(program));
  }
}

std::string CodeFiles::file_for(const ForeignProgram& program) {
  const Code code{program.language, program.code};
  if (tests_[code] * program.code.size() <= defaults::max_repeated_code_bytes) return "";
  const auto [name, is_new] = names_.try_emplace(code);
  if (!is_new) return name->second;
  auto text = text_of_code(program.code);
  if (!text) return "";
  name->second = code_file_of(program.language, files_.size() + 1);
  files_.push_back({name->second, std::move(*text) + "\n"});
  return name->second;
}

}  // namespace sluice
