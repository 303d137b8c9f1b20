#include "coordinator/perturb/perturbation.hpp"

#include "common/text/text.hpp"
#include "coordinator/perturb/transforms.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {

namespace {

constexpr std::array catalogue{
    Perturbation{"trailing-whitespace", 2, "two blanks at the end of each line"},
    Perturbation{"tabs-to-spaces", 2, "tabs outside strings become blanks up to the tab stop"},
    Perturbation{"spaces-to-tabs", 1, "indentation by blanks becomes indentation by tabs"},
    Perturbation{"comment-on-top", 1, "a comment without content above the first line"},
    Perturbation{"comments-removed", 2, "comments that no tool reads are taken out"},
    Perturbation{"crlf", 1, "lines end with CR LF"},
    Perturbation{"blank-lines", 2, "an empty line after every third line"},
    Perturbation{"final-newline", 2, "the line end at the end of the text is taken away, or added"},
    Perturbation{"double-spaces", 2, "two blanks between sentences", true},
    Perturbation{"typos", 2, "two neighbouring letters within a few words change places", true},
    Perturbation{"lowercase-start", 3, "sentences begin with a small letter", true},
    Perturbation{"final-stop", 2, "the full stop at the end of the text is taken away", true},
    Perturbation{"curly-apostrophes", 2, "apostrophes within words become typographic ones", true},
};

/// In the catalogue's order. What a run recorded of its trials goes by it: new ones stand at the end.
constexpr std::array transforms{
    &add_trailing_whitespace, &tabs_to_spaces, &spaces_to_tabs,   &add_comment_on_top,
    &remove_comments,         &to_crlf,        &add_blank_lines,  &toggle_final_newline,
    &double_spaces,           &add_typos,      &lowercase_starts, &remove_final_stop,
    &curl_apostrophes};
static_assert(transforms.size() == catalogue.size());

constexpr std::array catalogue_names = [] {
  std::array<std::string_view, catalogue.size()> result;
  std::ranges::transform(catalogue, result.begin(), &Perturbation::name);
  return result;
}();

std::size_t index_of(const Perturbation& perturbation) {
  const auto found = std::ranges::find(catalogue_names, perturbation.name);
  return static_cast<std::size_t>(found - catalogue_names.begin());
}

/// The last line end may belong to a block scalar, a here-document or a script's own data, as far as what
/// begins these can tell: shells, Perl, Ruby, PHP and Dockerfiles begin here-documents alike.
bool may_end_in_text(std::string_view language, std::string_view text) {
  const auto has = [text](std::string_view word) { return text.find(word) != std::string_view::npos; };
  const auto name = to_lower(language);
  if (name == "yaml" || name == "yml") return has("|") || has(">");
  return language_named(name) != Language::prose && (has("<<") || has("__DATA__") || has("__END__"));
}

/// A text of which nothing is known but that it is one: only its very end may change, and not a line that
/// goes on by a backslash.
Perturbed toggle_unknown_final_newline(std::string_view language, std::string_view text) {
  const bool ended = text.ends_with('\n');
  auto content = text;
  if (ended) content.remove_suffix(text.ends_with("\r\n") ? 2 : 1);
  if (content.ends_with('\\')) return skipped("the last line ends with a backslash");
  if (may_end_in_text(language, text))
    return skipped("the last line end may belong to a block scalar, a here-document or a script's data");
  if (ended) return changed_from(text, std::string(content));
  return changed_from(text,
                      std::string(text) + (text.find("\r\n") != std::string_view::npos ? "\r\n" : "\n"));
}

Perturbed perturb_unknown(std::size_t index, std::string_view language, std::string_view text) {
  if (transforms[index] == &toggle_final_newline) return toggle_unknown_final_newline(language, text);
  if (transforms[index] == &tabs_to_spaces && text.find('\t') == std::string_view::npos) return {};
  if (language.empty())
    return skipped(
        "it changes source code, and this text counts as prose; code is known by the \"language\" of a "
        "fixture, or by the ending of a prompt's own file");
  return skipped("sluice does not know the comments and strings of \"" + excerpt(language, 40) + "\"");
}

std::string words_of(const LexicalDoubt& doubt) {
  return doubt.line == 0 ? doubt.what : "line " + std::to_string(doubt.line) + ": " + doubt.what;
}

}  // namespace

Perturbed changed_from(std::string_view before, std::string after) {
  if (before == after) return {};
  return {PerturbationOutcome::changed, std::move(after), {}};
}

Perturbed skipped(std::string reason) {
  return {PerturbationOutcome::skipped, {}, std::move(reason)};
}

std::span<const Perturbation> perturbations() {
  return catalogue;
}

Result<const Perturbation*> perturbation_named(std::string_view name) {
  const auto found = std::ranges::find(catalogue, name, &Perturbation::name);
  if (found != catalogue.end()) return &*found;
  std::string message = "there is no perturbation \"" + excerpt(name, 80) + "\"";
  message += did_you_mean(name, catalogue_names);
  message += " (there are all";
  for (const auto known : catalogue_names) message.append(", ").append(known);
  return fail(Reason::usage_invalid, message + ")");
}

Result<std::vector<const Perturbation*>> perturbations_named(std::string_view list) {
  std::vector<const Perturbation*> result;
  if (list == "all") {
    for (const auto& perturbation : catalogue) result.push_back(&perturbation);
    return result;
  }
  for (auto rest = list;;) {
    const auto comma = rest.find(',');
    const auto found = perturbation_named(rest.substr(0, comma));
    if (!found) return fail(found.error());
    result.push_back(*found);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

Perturbed perturb(const Perturbation& perturbation, std::string_view language, std::string_view text) {
  const auto index = index_of(perturbation);
  if (index == transforms.size()) return skipped("it is not one of the catalogue");
  const auto known = language_named(language);
  const bool is_prose = known == Language::prose;
  const bool changes_prose = catalogue[index].of_prose;
  if (changes_prose && !known)
    return skipped("it changes prose alone, and \"" + excerpt(language, 40) + "\" is not known to be prose");
  if (changes_prose && !is_prose) return skipped("it changes prose alone");
  if (!changes_prose && (is_prose || !known)) return perturb_unknown(index, language, text);
  auto segmentation = cut_into_segments(*known, text);
  if (segmentation.doubt) return skipped(words_of(*segmentation.doubt));
  const auto source = make_source(*known, text, std::move(segmentation));
  if (changes_prose) {
    if (const auto word = word_about_form(source); !word.empty())
      return skipped("it speaks of letters, spelling or punctuation (\"" + std::string(word) + "\")");
  }
  return transforms[index](source);
}

}  // namespace sluice
