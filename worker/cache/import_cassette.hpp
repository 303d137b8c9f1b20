#pragma once

#include "common/cache_tools.hpp"
#include "worker/cache/answer_cache.hpp"
#include "worker/cache/cassette_reader.hpp"

#include <vector>

namespace sluice {

/// Merges a cassette that was verified into an open cache, as import_cassette does (cache_tools.hpp): what is
/// in the cache afterwards, and which answers are pinned, depends neither on the order of imports nor on
/// their number. `others` are further caches of the home, in which a pinned answer may lie. `file` and `home`
/// of the options are not looked at.
Result<ImportedCassette> merge_cassette(CassetteReader& cassette, AnswerCache& cache,
                                        const std::vector<AnswerCache>& others,
                                        const CassetteImport& options);

}  // namespace sluice
