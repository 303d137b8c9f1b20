#include "coordinator/corpus/corpus_report.hpp"

#include "common/text/joined.hpp"
#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/text_table.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace sluice {
namespace {

using wording::counted;
using wording::grouped;

std::string shown(const std::string& text, std::size_t columns) {
  return paragraph(printable(text), columns);
}

using Amounts = std::vector<std::pair<std::uint64_t, std::string>>;

/// `12 not text, 3 too long`; without what there is none of.
std::string listed(const Amounts& amounts) {
  std::string list;
  for (const auto& [amount, of] : amounts) {
    if (amount > 0) list += (list.empty() ? "" : ", ") + grouped(amount) + " " + of;
  }
  return list;
}

std::string listed(const std::vector<std::string>& names, std::uint64_t of_all) {
  return joined(names) + (of_all > names.size() ? " and others" : "");
}

std::string languages_of(const Scan& scan) {
  std::map<std::string, std::uint64_t> counts;
  for (const ScannedFile& file : scan.files) ++counts[file.language];
  Amounts amounts;
  for (const auto& [language, count] : counts) amounts.emplace_back(count, language);
  std::ranges::stable_sort(amounts, std::ranges::greater(), &Amounts::value_type::first);
  return listed(amounts);
}

std::string triggers_of(const Scan& scan) {
  Amounts amounts;
  for (const Trigger one : {Trigger::word, Trigger::import, Trigger::name, Trigger::entropy}) {
    const auto count =
        std::ranges::count_if(scan.files, [one](const ScannedFile& file) { return file.triggers.has(one); });
    amounts.emplace_back(static_cast<std::uint64_t>(count), "by " + std::string(to_string(one)));
  }
  return listed(amounts);
}

/// How many claims there were, and why some are no findings.
std::string claims_text(const GeneratedCorpus& corpus, std::size_t columns) {
  const ClaimCounts& claims = corpus.claims;
  const std::string others = listed(Amounts{{claims.unsure, "below " + shortest(corpus.min_confidence)},
                                            {claims.outside_ontology, "outside of the ontology"},
                                            {claims.unsupported, "at lines that the file does not have"},
                                            {claims.secret, "with a number that is a secret"},
                                            {claims.too_long, "with a text too long for a fact"},
                                            {claims.beyond_file, "beyond the first of a file"},
                                            {claims.repeated, "that repeat another"},
                                            {corpus.rejected, "rejected in a review"}});
  return shown(counted(claims.claims, "claim") + " in " + counted(corpus.answers, "answer") +
                   (others.empty() ? "." : "; left out: " + others + "."),
               columns);
}

std::uint64_t sampled_in(const GeneratedCorpus& corpus) {
  std::uint64_t sampled = 0;
  for (const GeneratedCorpus::Category& one : corpus.categories) sampled += one.sampled;
  return sampled;
}

std::string categories_table(const GeneratedCorpus& corpus, std::size_t columns) {
  if (corpus.categories.empty()) return "Nothing to make a fixture of.\n";
  TextTable table;
  table.columns = {{"category", false, false}, {"findings", true, false}, {"sampled", true, false}};
  for (const GeneratedCorpus::Category& one : corpus.categories)
    table.rows.push_back({printable(one.name), grouped(one.findings), grouped(one.sampled)});
  return drawn(table, columns);
}

}  // namespace

std::string scan_text(const Scan& scan, const std::string& folder, const FileList& list,
                      std::size_t columns) {
  const LeftOut& out = scan.left_out;
  std::string text =
      shown(folder + ": " + counted(list.paths.size(), "file") +
                (list.without_git.empty() ? ", without what git ignores"
                                          : ", without excluded folders, since git does not list it (" +
                                                excerpt(list.without_git, 200) + ")"),
            columns);
  text += shown(grouped(scan.files.size()) + " to ask about" +
                    (scan.files.empty() ? "" : ": " + languages_of(scan) + "; " + triggers_of(scan)) + "; " +
                    grouped(scan.tokens) + " tokens at most, without the prompt around each.",
                columns);
  const std::string others = listed(Amounts{{out.without_trigger, "without a trigger"},
                                            {out.same_text, "with the text of another"},
                                            {out.other_languages, "of no language of the rules"},
                                            {out.not_text, "that are no UTF-8 text"},
                                            {out.unreadable, "that are no readable files of the tree"},
                                            {out.too_long, "beyond max_tokens_per_file"},
                                            {out.beyond_scan, "beyond max_tokens_per_scan"}});
  if (!others.empty()) text += shown("Left out: " + others + ".", columns);
  if (!out.longest.empty())
    text += shown("Too long by the upper bound of their tokens: " + listed(out.longest, out.too_long) + ".",
                  columns);
  return text;
}

std::string nothing_to_ask_about(const Scan& scan, const std::string& folder) {
  const LeftOut& out = scan.left_out;
  const std::string beyond = listed(Amounts{{out.too_long, "beyond --max-tokens-per-file"},
                                            {out.beyond_scan, "beyond --max-tokens-per-scan"}});
  if (!beyond.empty())
    return "no file below " + folder + " fits into what the scan may take: " + beyond +
           " (see above); raise that, or name another folder";
  return "no file below " + folder +
         " is worth asking about by these rules (see above); name another folder, or rules of your own with "
         "--triggers FILE";
}

std::string sample_text(const GeneratedCorpus& corpus, std::size_t columns) {
  const std::uint64_t files = corpus.answers + corpus.error_count;
  return shown("The caches answer for " + wording::counted_of(corpus.answers, files, "file") +
                   ", which give " + counted(sampled_in(corpus), "fixture") + " (seed " +
                   std::to_string(corpus.seed) + "):",
               columns) +
         claims_text(corpus, columns) + categories_table(corpus, columns);
}

std::string corpus_text(const GeneratedCorpus& corpus, std::size_t columns) {
  std::string text = claims_text(corpus, columns);
  if (corpus.error_count > 0)
    text += shown(counted(corpus.error_count, "file") +
                      " without an answer: " + listed(corpus.errors, corpus.error_count),
                  columns);
  text += categories_table(corpus, columns);
  if (corpus.categories.empty()) return text;
  const WrittenFixtures& written = corpus.written;
  text += shown(counted(sampled_in(corpus), "fixture") + " in " + corpus.folder +
                    ", sampled by category (seed " + std::to_string(corpus.seed) + "): " +
                    listed(Amounts{{written.added, "new"},
                                   {written.renewed, "made anew"},
                                   {written.unchanged, "as they were"},
                                   {written.left_out, "left out, since they would not load"},
                                   {written.kept.size(), "left as somebody made them"}}) +
                    ".",
                columns);
  if (!written.kept.empty()) {
    auto some = written.kept;
    some.resize(std::min(some.size(), defaults::listed_files));
    text += shown("Left alone: " + listed(some, written.kept.size()) + ".", columns);
  }
  const std::uint64_t masked = corpus.claims.masked;
  if (masked > 0)
    text += shown(counted(masked, "finding") + (masked == 1 ? " has" : " have") +
                      " a secret replaced in the code: see in the review whether the claim still shows.",
                  columns);
  return text + shown("Next: sluice review " + corpus.folder, columns);
}

}  // namespace sluice
