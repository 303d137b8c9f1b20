#include "common/text/text.hpp"
#include "coordinator/perturb/cursor.hpp"
#include "coordinator/perturb/fences.hpp"
#include "coordinator/perturb/transforms.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace sluice {

namespace {

struct Word {
  std::size_t begin = 0;
  std::size_t end = 0;
};

bool is_beyond_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

bool is_one_of(std::string_view list, char c) {
  return list.find(c) != std::string_view::npos;
}

bool is_alphanumeric(char c) {
  return is_letter(c) || is_digit(c);
}

/// Of the character beyond ASCII that begins the text, if it is punctuation or a blank, else 0: U+0080 to
/// U+00BF, U+2000 to U+207F, U+3000 to U+303F.
std::size_t bytes_of_mark(std::string_view text) {
  if (text.starts_with('\xC2')) return text.size() > 1 && continues_utf8(text[1]) ? 2 : 1;
  const auto start = text.substr(0, 2);
  const bool is_mark = start == "\xE2\x80" || start == "\xE2\x81" || start == "\xE3\x80";
  return is_mark ? std::min<std::size_t>(3, text.size()) : 0;
}

/// Letters, with the apostrophes and hyphens between them.
std::size_t end_of_word(std::string_view text, std::size_t at, std::size_t end) {
  const auto is_joint = [&](std::size_t i) {
    return is_one_of("'-", text[i]) && i + 1 < end && is_letter(text[i + 1]);
  };
  while (at < end && (is_letter(text[at]) || is_joint(at))) ++at;
  return at;
}

/// Those that may change, in order.
std::vector<Word> words_of(const Source& source) {
  std::vector<Word> words;
  for (const auto& segment : source.segments) {
    if (segment.kind != SegmentKind::code) continue;
    for (auto at = segment.begin; at < segment.end;) {
      if (!is_letter(source.text[at])) {
        ++at;
        continue;
      }
      words.push_back({at, end_of_word(source.text, at, segment.end)});
      at = words.back().end;
    }
  }
  return words;
}

/// What may change, with `rewritten(i)` in place of each byte i for which it is not empty.
template <class Rewritten>
Perturbed with_bytes(const Source& source, Rewritten rewritten) {
  std::string result;
  for (const auto& segment : source.segments) {
    for (auto i = segment.begin; i < segment.end; ++i) {
      const std::string_view other = segment.kind == SegmentKind::code ? rewritten(i) : std::string_view();
      other.empty() ? result.append(1, source.text[i]) : result.append(other);
    }
  }
  return changed_from(source.text, std::move(result));
}

/// Nothing else of its line stands before, a mark of a list or heading apart.
bool begins_line(std::string_view text, std::size_t at) {
  while (at > 0 && is_one_of(" \t-*+#", text[at - 1])) --at;
  return at == 0 || text[at - 1] == '\n';
}

/// A sentence begins with a line where the one before has ended, or is empty.
bool ends_before_line(std::string_view text, std::size_t at) {
  std::size_t line_ends = 0;
  for (; at > 0 && is_one_of(" \t\r\n", text[at - 1]); --at) line_ends += text[at - 1] == '\n' ? 1 : 0;
  return line_ends > 1 || at == 0 || is_one_of(".?!:", text[at - 1]);
}

/// Names follow them: the full stop behind them ends no sentence.
constexpr auto abbreviations = std::to_array<std::string_view>(
    {"Dr", "Fr", "Hr", "Mme", "Mr", "Mrs", "Ms", "Mt", "Nr", "Prof", "Sr", "Sra", "St", "vs"});

/// A mark that ends a sentence stands at `at`: an ellipsis and an abbreviation end none.
bool is_end_mark(std::string_view text, std::size_t at) {
  if (!is_one_of(".?!", text[at]) || (at > 0 && text[at - 1] == '.')) return false;
  auto begin = at;
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  return text[at] != '.' ||
         std::ranges::find(abbreviations, text.substr(begin, at - begin)) == abbreviations.end();
}

bool begins_sentence(std::string_view text, std::size_t word) {
  while (word > 0 && text[word - 1] == '(') --word;
  auto at = word;
  while (at > 0 && is_blank(text[at - 1])) --at;
  if (at == 0) return true;
  if (text[at - 1] == '\n') return ends_before_line(text, at);
  if (at == word) return false;
  return is_end_mark(text, at - 1) || begins_line(text, at);
}

/// Words of the language, not of the world: in small letters they mean the same. `He` is helium as well, and
/// what follows does not tell.
constexpr auto usual_starts = std::to_array<std::string_view>(
    {"What",      "Which",     "Who",   "Whom",    "Whose",    "When", "Where", "Why",  "How",
     "Is",        "Are",       "Was",   "Were",    "Do",       "Does", "Did",   "Can",  "Could",
     "Should",    "Would",     "Has",   "Have",    "Please",   "The",  "This",  "That", "These",
     "Those",     "There",     "It",    "Its",     "If",       "In",   "On",    "At",   "For",
     "From",      "With",      "To",    "Of",      "As",       "You",  "Your",  "We",   "They",
     "She",       "Give",      "Write", "Explain", "Describe", "List", "Name",  "Tell", "Answer",
     "Summarize", "Translate", "Use",   "Find",    "Compare",  "And",  "But"});

/// Of these, chemical symbols before a verb or another symbol: `In is a metal`.
constexpr auto symbols = std::to_array<std::string_view>({"As", "At", "In"});
constexpr auto behind_symbols = std::to_array<std::string_view>({"and", "has", "is", "or", "was"});

bool is_symbol(std::string_view text, const Word& word) {
  const auto name = text.substr(word.begin, word.end - word.begin);
  if (std::ranges::find(symbols, name) == symbols.end() || !text.substr(word.end).starts_with(' '))
    return false;
  const auto next = word.end + 1;
  return std::ranges::find(behind_symbols, text.substr(next, end_of_word(text, next, text.size()) - next)) !=
         behind_symbols.end();
}

/// In small letters, a blank around each.
constexpr std::string_view words_about_form =
    " "
    "acronym acronyms alphabet alphabetic alphabetical alphabetically anagram anagrams apostrophe "
    "apostrophes ascii backward backwards base64 buchstabe buchstaben buchstabiere buchstabieren "
    "capitalisation capitalise capitalised capitalization capitalize capitalized capitals character "
    "characters checksum cipher comma commas consonant consonants correct corrected correction corrections "
    "decode decoded decoding encode encoded encoding error errors exactly gram\u00E1tica grammaire grammar "
    "grammatical grammatik gro\u00DFbuchstaben hyphen hyphens initials kleinbuchstaben leerzeichen letra "
    "letras letter letters lettre lettres lower lowercase majuscule majuscules may\u00FAsculas "
    "min\u00FAsculas minuscule minuscules misspelled misspelling misspellings misspelt mistake mistakes "
    "orthographe ortograf\u00EDa ortografia ortograf\u00CDa palindrome palindromes proofread proofreading "
    "punctuation rechtschreibfehler rechtschreibung reverse reversed rhyme rhymes rot13 spaces spacing "
    "spell spelled spelling substring syllable syllables typo typos unicode upper uppercase verbatim vowel "
    "vowels whitespace zeichensetzung ";

/// Of these a swap makes another word that there is, or may (`marital`, `martial`).
constexpr auto unswapped = std::to_array<std::string_view>(
    {"belated", "bleated",  "braking",   "bugled",   "bugles",   "bugling",    "bulged",     "bulges",
     "bulging", "casually", "causally",  "coroner",  "coroners", "crating",    "craving",    "crevices",
     "crooner", "crooners", "dairies",   "diaries",  "framers",  "framing",    "gliding",    "graters",
     "gustier", "gustiest", "gutsier",   "gutsiest", "marital",  "minuets",    "minutes",    "pasties",
     "patsies", "prating",  "prefect",   "retired",  "retires",  "retried",    "signed",     "signer",
     "signers", "signing",  "singed",    "singer",   "singers",  "singing",    "slating",    "slavers",
     "slaving", "slivered", "slivering", "slivers",  "solider",  "solitaires", "solitaries", "tilted",
     "tilting", "titled",   "titling",   "trailed",  "trailing", "trialed",    "trialing"});

/// Where in the word two letters may change places: neither is the first or the last, and they differ.
/// Preferably consonants, since next to none of these swaps make another word; else the word is a long one.
std::vector<std::size_t> swaps_of(std::string_view word) {
  constexpr std::size_t least = 6;
  constexpr std::string_view vowels = "aeiouy";
  std::vector<std::size_t> any;
  std::vector<std::size_t> of_consonants;
  if (word.size() < least || !std::ranges::all_of(word, is_small) ||
      std::ranges::find(unswapped, word) != unswapped.end())
    return any;
  for (std::size_t i = 1; i + 2 < word.size(); ++i) {
    if (word[i] == word[i + 1]) continue;
    any.push_back(i);
    if (!is_one_of(vowels, word[i]) && !is_one_of(vowels, word[i + 1])) of_consonants.push_back(i);
  }
  if (!of_consonants.empty()) return of_consonants;
  return word.size() > least ? any : of_consonants;
}

/// FNV-1a of the word and of how many that may have a typo stand before it: which words have one must not
/// change from one version to the next.
std::uint64_t lot_of(std::string_view word, std::uint64_t ordinal) {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  const auto add = [&](std::uint8_t byte) { hash = (hash ^ byte) * 1'099'511'628'211U; };
  for (const char c : word) add(static_cast<std::uint8_t>(c));
  for (int shift = 0; shift < 64; shift += 8) add(static_cast<std::uint8_t>(ordinal >> shift));
  hash = (hash ^ (hash >> 33)) *
         18'397'679'294'719'823'053U;  // Its last bits alone depend on few of the word's.
  return hash ^ (hash >> 33);
}

/// Behind what marks an item or a heading.
std::string_view content_of(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t-*+#"), line.size()));
  const auto number = end_of_list_mark(line);
  return line.substr(std::min(line.find_first_not_of(" \t", number), line.size()));
}

/// Nothing else stands in the line: it is no sentence, but one of several words to choose from, say.
bool is_alone(const Source& source, const SourceLine& line, std::string_view word) {
  const auto content = content_of(source.text.substr(line.begin, line.end - line.begin));
  return content.substr(0, content.find_last_not_of(" \t\r") + 1) == word;
}

/// A capital begins its first word, or what is quoted, linked or marked up does.
bool begins_as_sentence(std::string_view line) {
  if (line.empty()) return false;
  const auto is_capital = [&](std::size_t i) { return i < line.size() && line[i] >= 'A' && line[i] <= 'Z'; };
  if (is_beyond_ascii(line[0]) || is_one_of("\"'([{<`_", line[0])) return true;
  // `SELECT` and `RUN` begin statements.
  return is_capital(0) && !is_capital(1);
}

/// A mark that ends a sentence stands in it, behind a word.
bool holds_end_of_sentence(std::string_view line) {
  for (std::size_t i = 1; i < line.size(); ++i) {
    const bool is_behind_word = is_alphanumeric(line[i - 1]) || is_one_of("\"')]}`*_>", line[i - 1]);
    const bool is_last = i + 1 == line.size() || is_one_of(" \t\"')*_", line[i + 1]);
    if (is_one_of(".?!", line[i]) && is_behind_word && is_last) return true;
  }
  return false;
}

/// For each line whether a sentence stands in it, or goes on in it. Words alone are none: a command and a
/// statement are made of words, too.
std::vector<bool> lines_with_sentences(const Source& source, const std::vector<Word>& words) {
  std::vector<bool> result;
  result.reserve(source.lines.size());
  auto word = words.begin();
  bool goes_on = false;
  for (const auto& line : source.lines) {
    const auto text = content_of(source.text.substr(line.begin, line.end - line.begin));
    const bool has_words = word != words.end() && word->begin < line.end;
    while (word != words.end() && word->begin < line.end) ++word;
    result.push_back(has_words && (goes_on || begins_as_sentence(text) || holds_end_of_sentence(text)));
    goes_on = result.back() && !is_one_of(".?!:", text[text.find_last_not_of(" \t\r")]);
  }
  return result;
}

struct Typo {
  std::uint64_t lot = 0;
  std::size_t at = 0;  ///< Of the first of the two letters.
};

/// One for each word that may have one.
std::vector<Typo> possible_typos(const Source& source) {
  std::vector<Typo> typos;
  const auto words = words_of(source);
  const auto has_sentence = lines_with_sentences(source, words);
  std::size_t line = 0;
  for (const auto& [begin, end] : words) {
    while (source.lines[line].next <= begin) ++line;
    const auto word = source.text.substr(begin, end - begin);
    const auto swaps = swaps_of(word);
    if (swaps.empty() || !has_sentence[line] || begins_sentence(source.text, begin)) continue;
    const auto lot = lot_of(word, typos.size());
    typos.push_back({lot, begin + swaps[(lot >> 8) % swaps.size()]});
  }
  return typos;
}

}  // namespace

/// In the whole text: what may not change can ask for it as well.
std::string_view word_about_form(const Source& source) {
  const auto text = source.text;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = at;
    while (at < text.size() && is_alphanumeric(text[at]) && bytes_of_mark(text.substr(at)) == 0) ++at;
    const auto word = " " + to_lower(text.substr(begin, at - begin)) + " ";
    if (const auto found = words_about_form.find(word); found != std::string_view::npos)
      return words_about_form.substr(found + 1, word.size() - 2);
    if (at < text.size()) at += std::max<std::size_t>(bytes_of_mark(text.substr(at)), 1);
  }
  return {};
}

Perturbed double_spaces(const Source& source) {
  const auto text = source.text;
  return with_bytes(source, [&](std::size_t i) -> std::string_view {
    if (text[i] != ' ' || i < 2 || i + 1 == text.size() || !is_end_mark(text, i - 1)) return {};
    // An initial and a number end no sentence.
    const bool ends = is_small(text[i - 2]) || is_beyond_ascii(text[i - 2]) || text[i - 2] == ')';
    const bool begins = is_letter(text[i + 1]) && !is_small(text[i + 1]);
    return ends && begins ? "  " : "";
  });
}

Perturbed add_typos(const Source& source) {
  constexpr std::uint64_t every = 8;
  const auto typos = possible_typos(source);
  if (typos.empty()) return {};
  // Whatever the lots, there is one.
  const auto first = *std::ranges::min_element(typos, {}, &Typo::lot);
  const bool is_any_drawn = std::ranges::any_of(typos, [](const Typo& one) { return one.lot % every == 0; });
  std::string text(source.text);
  for (const auto& [lot, at] : typos) {
    if (is_any_drawn ? lot % every == 0 : at == first.at) std::swap(text[at], text[at + 1]);
  }
  return changed_from(source.text, std::move(text));
}

Perturbed lowercase_starts(const Source& source) {
  std::string text(source.text);
  std::size_t line = 0;
  for (const Word& word : words_of(source)) {
    const auto& [begin, end] = word;
    while (source.lines[line].next <= begin) ++line;
    const auto name = source.text.substr(begin, end - begin);
    const bool is_usual = std::ranges::find(usual_starts, name) != usual_starts.end();
    const bool is_label = end < text.size() && text[end] == ':';
    if (!is_usual || is_label || !begins_sentence(source.text, begin)) continue;
    if (is_alone(source, source.lines[line], name) || is_symbol(source.text, word)) continue;
    text[begin] = static_cast<char>(text[begin] - 'A' + 'a');
  }
  return changed_from(source.text, std::move(text));
}

Perturbed remove_final_stop(const Source& source) {
  const auto last = source.text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos || last == 0 || source.text[last] != '.') return {};
  const char before = source.text[last - 1];
  const bool is_of_word = is_small(before) || is_beyond_ascii(before) || before == ')';
  const bool may_change = std::ranges::any_of(source.segments, [&](const Segment& segment) {
    return segment.kind == SegmentKind::code && segment.begin <= last && last < segment.end;
  });
  if (!is_of_word || !may_change) return {};
  return changed_from(source.text, std::string(source.text).erase(last, 1));
}

Perturbed curl_apostrophes(const Source& source) {
  const auto text = source.text;
  return with_bytes(source, [&](std::size_t i) -> std::string_view {
    const bool is_inner = i > 0 && i + 1 < text.size() && is_letter(text[i - 1]) && is_letter(text[i + 1]);
    return text[i] == '\'' && is_inner ? "\u2019" : "";
  });
}

}  // namespace sluice
