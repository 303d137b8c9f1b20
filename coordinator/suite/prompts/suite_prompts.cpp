#include "coordinator/suite/prompts/suite_prompts.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/prompts/arms.hpp"
#include "coordinator/suite/test_files/test_templates.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view example = R"({id: short, prompt: "..."})";

/// The template; a finding says why there is none.
std::optional<Template> parse(TableReader& reader, std::string_view key, const std::string& text,
                              const std::string& named = {}) {
  auto parsed = Template::parse(text);
  if (parsed) return std::move(*parsed);
  for (const TemplateProblem& problem : parsed.error()) reader.add_wrong(key, named + clause(problem));
  return std::nullopt;
}

std::set<std::string, std::less<>> set_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

std::optional<std::string> read_prompt_file(TableReader& reader, const std::string& path,
                                            const ReadNamedFile& read_file,
                                            std::vector<FileIdentity>* opened) {
  auto text = read_file(path, opened);
  std::string problem;
  if (!text) {
    problem = text.error().message;
  } else if (invalid_utf8_at(*text)) {
    problem = "is not valid UTF-8" + std::string(how_to_reach_utf8);
  } else if (without_byte_order_mark(*text).empty()) {
    problem = "is empty";
  }
  if (problem.empty()) return with_unix_line_ends(std::string(without_byte_order_mark(*text)));
  reader.add_wrong("file", names_file(path) + problem);
  return std::nullopt;
}

}  // namespace

void SuitePrompts::read(const DocumentEntry& prompts, const DocumentContext& context,
                        const ReadNamedFile& read_file, std::vector<FileIdentity>* opened) {
  const auto* list = std::get_if<DocumentNode::Array>(&prompts.value.value);
  if (list == nullptr || list->empty()) {
    context.add(prompts.line, "\"prompts\" must be a list of prompts, such as " + std::string(example) +
                                  (list != nullptr ? ", and not empty" : ""));
    return;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const DocumentNode& node = (*list)[i];
    Prompt prompt = read_one(node, i, context, read_file, opened);
    const std::string& id = prompt.written.id;
    const auto same = std::ranges::find(prompts_, id, [](const Prompt& one) { return one.written.id; });
    if (!id.empty() && same != prompts_.end()) {
      context.add(node.line, "the id \"" + excerpt(id, defaults::quoted_bytes) + "\" in prompts[" +
                                 std::to_string(i) + "] is that of " + same->shown + ": give it another");
    }
    prompt.shown =
        "the prompt \"" + excerpt(id, 80) + "\" (" + context.file + ":" + std::to_string(node.line) + ")";
    are_sound_ = are_sound_ && prompt.is_sound;
    for (const Template* one : {&prompt.prompt, &prompt.system}) variables_.merge(set_of(one->variables()));
    prompts_.push_back(std::move(prompt));
  }
}

SuitePrompts::Prompt SuitePrompts::read_one(const DocumentNode& node, std::size_t index,
                                            const DocumentContext& context, const ReadNamedFile& read_file,
                                            std::vector<FileIdentity>* opened) {
  Prompt result;
  const std::string name = "prompts[" + std::to_string(index) + "]";
  DocumentNode short_form;
  const DocumentNode* table = &node;
  if (std::holds_alternative<std::string>(node.value)) {
    // A text alone is a prompt whose id is its number.
    short_form.line = node.line;
    short_form.value = DocumentNode::Table{{"id", node.line, {std::to_string(index + 1), node.line, {}}},
                                           {"prompt", node.line, node}};
    table = &short_form;
  } else if (!std::holds_alternative<DocumentNode::Table>(node.value)) {
    context.add(node.line, name + " must be a text or a mapping, such as " + std::string(example) + ", not " +
                               std::string(type_name(node, context.notation)));
    return result;
  }
  TableReader reader = context.reader(*table, name);
  const auto id = reader.word("id", Need::required);
  auto text = reader.text("prompt");
  const auto file = reader.word("file");
  auto system = reader.text("system");
  reader.finish();
  const bool has_prompt = reader.entry("prompt") != nullptr;
  const bool has_file = reader.entry("file") != nullptr;
  if (has_prompt && has_file)
    reader.add_wrong("file", "cannot stand beside \"prompt\": one of them is the prompt");
  if (!has_prompt && !has_file) {
    reader.add_finding(reader.line_of("prompt"), "missing \"prompt\" in " + name +
                                                     ": expected a string, or \"file\" with the path of one");
  }
  if (id) result.written.id = *id;
  if (id && !is_arm_name(*id)) reader.add_wrong("id", not_an_arm_name(*id));
  if (text && text->empty()) reader.add_wrong("prompt", "must not be empty");
  if (text && text->starts_with("file://"))
    reader.add_wrong("prompt", "is the name of a file, which stands in \"file\", without \"file://\"");
  if (!has_prompt && file) text = read_prompt_file(reader, *file, read_file, opened);
  result.written.prompt = std::move(text).value_or("");
  result.written.system = std::move(system).value_or("");
  const std::string named = !has_prompt && file ? names_file(*file) : "";
  const auto prompt_template = parse(reader, has_prompt ? "prompt" : "file", result.written.prompt, named);
  const auto system_template = parse(reader, "system", result.written.system);
  result.is_sound = prompt_template && system_template && !result.written.prompt.empty();
  if (!result.is_sound) return result;
  result.prompt = *prompt_template;
  result.system = *system_template;
  return result;
}

std::vector<PromptVariant> SuitePrompts::variants() const {
  std::vector<PromptVariant> variants;
  for (const Prompt& prompt : prompts_) variants.push_back(prompt.written);
  return variants;
}

std::string SuitePrompts::first_with_system() const {
  const auto found =
      std::ranges::find_if(prompts_, [](const Prompt& one) { return !one.written.system.empty(); });
  return found != prompts_.end() ? found->shown : "";
}

std::vector<RenderedPrompt> SuitePrompts::render(const Variables& values, const DocumentContext& test,
                                                 std::uint32_t line) const {
  std::vector<RenderedPrompt> rendered;
  std::size_t room = defaults::max_rendered_bytes;
  for (const Prompt& prompt : prompts_) {
    if (!prompt.is_sound) continue;
    const auto put = [&](const Template& one, std::string_view part) {
      auto text = one.render(values, room);
      if (text) return std::move(*text);
      for (const TemplateProblem& problem : text.error()) {
        test.add(line, std::string(part) + prompt.shown + " " + clause(problem));
      }
      return std::string();
    };
    const std::size_t findings_before = test.findings.size();
    RenderedPrompt one{put(prompt.system, "the system prompt of "), put(prompt.prompt, "")};
    if (one.prompt.empty() && test.findings.size() == findings_before) {
      test.add(line, prompt.shown + " is empty with the test's \"vars\"");
    }
    rendered.push_back(std::move(one));
  }
  return rendered;
}

}  // namespace sluice
