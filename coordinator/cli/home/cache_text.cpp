#include "coordinator/cli/home/cache_text.hpp"

#include "coordinator/display/display.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <nlohmann/json.hpp>

namespace sluice::cache_text {
namespace {

using wording::counted;
using wording::grouped;

std::string bytes(std::uint64_t number) {
  return grouped(number) + (number == 1 ? " byte" : " bytes");
}

/// Of what was exported, removed, or is there.
template <class Counts>
std::string entries(const Counts& counts) {
  const auto all = counts.answers + counts.outcomes + counts.embeddings + counts.votes;
  return grouped(all) + (all == 1 ? " entry" : " entries") + " (" + counted(counts.answers, "answer") + ", " +
         counted(counts.outcomes, "non-answer") + ", " + counted(counts.embeddings, "embedding") + ", " +
         counted(counts.votes, "vote") + ")";
}

std::string name_of(const CacheFacts& cache) {
  return printable(cache.directory.filename().string());
}

bool is_readable(const CacheFacts& cache) {
  return !cache.in_use && !cache.problem;
}

std::string state_of(const CacheFacts& cache) {
  if (cache.in_use) return "in use";
  if (cache.problem) return "unreadable";
  return cache.damaged == 0 ? "free" : "free, " + grouped(cache.damaged) + " damaged";
}

nlohmann::ordered_json time_or_null(const std::optional<std::int64_t>& unix_ms) {
  return unix_ms ? nlohmann::ordered_json(wording::rfc3339(*unix_ms)) : nlohmann::ordered_json();
}

}  // namespace

std::string exported(const ExportedCassette& done, const std::string& file, bool of_one_run) {
  return "wrote " + printable(file) + ": " + entries(done) + " of " + counted(done.caches, "cache") + ", " +
         counted(done.conflicts, "conflict") + ", " + bytes(done.bytes) + "\n" +
         (of_one_run
              ? ""
              : "It holds the answers of all suites of this home; --run last takes those of one run.\n");
}

std::string imported(const ImportedCassette& done, const std::string& file) {
  std::string text = "imported " + printable(file) + " into " + printable(done.cache.string()) + ": ";
  text += grouped(done.entries) + (done.entries == 1 ? " entry, " : " entries, ") + grouped(done.added) +
          " added, " + grouped(done.already_there) + " already there, " +
          counted(done.replaced + done.kept, "conflict");
  if (done.replaced + done.kept > 0) {
    text += " (" + grouped(done.replaced) + " replaced by the cassette's, " + grouped(done.kept) + " kept)";
  }
  if (done.mended > 0) text += ", " + grouped(done.mended) + " damaged and mended";
  return text + "\n";
}

std::string pruned(const PrunedCaches& done, bool dry_run) {
  std::string text = dry_run ? "would remove " : "removed ";
  text += entries(done) + " of " + counted(done.caches, "cache");
  if (done.damaged > 0) text += ", and " + grouped(done.damaged) + " damaged";
  if (done.spared > 0) {
    text += "; " + grouped(done.spared) + " as old " + (done.spared == 1 ? "stays, being" : "stay, being") +
            " pinned by the ledger (--pinned removes them too)";
  }
  if (!dry_run) text += "; " + bytes(done.bytes_before) + " before, " + bytes(done.bytes_after) + " after";
  return text + "\n";
}

std::string stats_text(const std::vector<CacheFacts>& caches) {
  std::string text;
  for (const auto& cache : caches) {
    text += name_of(cache) + ": " + state_of(cache) + ", " + bytes(cache.bytes) + "\n";
    if (is_readable(cache)) text += "  " + entries(cache) + "\n";
    if (cache.oldest_ms && cache.newest_ms)
      text += "  from " + wording::date(*cache.oldest_ms) + " to " + wording::date(*cache.newest_ms) + "\n";
  }
  return text.empty() ? "no caches\n" : text;
}

std::string stats_json(const std::vector<CacheFacts>& caches) {
  using Json = nlohmann::ordered_json;
  auto list = Json::array();
  for (const auto& cache : caches) {
    const auto number = [&](std::uint64_t count) { return is_readable(cache) ? Json(count) : Json(); };
    list.push_back({{"name", name_of(cache)},
                    {"directory", without_controls(cache.directory.string())},
                    {"in_use", cache.in_use},
                    {"problem", cache.problem ? Json(without_controls(cache.problem->message)) : Json()},
                    {"answers", number(cache.answers)},
                    {"non_answers", number(cache.outcomes)},
                    {"embeddings", number(cache.embeddings)},
                    {"votes", number(cache.votes)},
                    {"damaged", number(cache.damaged)},
                    {"bytes", cache.bytes},
                    {"oldest", time_or_null(cache.oldest_ms)},
                    {"newest", time_or_null(cache.newest_ms)}});
  }
  return Json{{"caches", std::move(list)}}.dump(2) + "\n";
}

}  // namespace sluice::cache_text
