#pragma once

#include "common/cache_tools.hpp"
#include "worker/cache/answer_cache.hpp"

namespace sluice {

/// Writes the entries of all caches of the home as one cassette. Where caches hold different answers to a
/// key, the pinned one goes in, else the greatest (created_at, digest).
Result<ExportedCassette> export_cassette(const CassetteExport& options);
/// The caches of the home, to be read whole. cache_in_use if somebody writes one, cache_failed if there is
/// none.
Result<std::vector<AnswerCache>> open_to_export(const std::filesystem::path& home);
/// Merges a cassette into the first free cache of the home: of each kind and key the greatest (created_at,
/// digest) stays, and the greatest of a key is pinned. Nothing is written unless the whole cassette is sound.
Result<ImportedCassette> import_cassette(const CassetteImport& options);
/// All caches of the home by name.
Result<std::vector<CacheFacts>> cache_stats(const std::filesystem::path& home);
/// Removes old entries, and damaged ones of any age, from all caches of the home. What is pinned stays, and
/// then embeddings and votes do, too.
Result<PrunedCaches> prune_caches(const CachePrune& options);

/// The answers, or final non-answers, that keys of the caches in the home have with these digests.
Result<std::vector<std::optional<Completion>>> read_answers(const std::filesystem::path& home,
                                                            std::span<const UsedAnswer> wanted);

/// What is wrong with the caches of the home, and with what else lies among them.
Result<CheckedCaches> check_caches(const std::filesystem::path& home);
/// Makes a cache anew of what verifies in it.
Result<RebuiltCache> rebuild_cache(const CacheRebuild& options);
/// Whether a cassette can be read to its end.
Result<void> check_cassette(const std::filesystem::path& file);

/// What CacheFacts and the like count of this kind.
template <class Counts>
std::uint64_t& count_of(Counts& counts, EntryKind kind) {
  return kind == EntryKind::answer      ? counts.answers
         : kind == EntryKind::outcome   ? counts.outcomes
         : kind == EntryKind::embedding ? counts.embeddings
                                        : counts.votes;
}

/// The bytes of all files in the folder; what vanishes meanwhile counts nothing.
std::uint64_t bytes_in(const std::filesystem::path& folder);

/// Which of these answers are in the caches of a home that nobody has open for writing.
Result<HeldAnswers> find_answers(const FindAnswers& wanted);

}  // namespace sluice
