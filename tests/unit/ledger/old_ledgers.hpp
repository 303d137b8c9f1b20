#pragma once

#include "common/hash.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <string>

namespace sluice::old_ledgers {

/// A layout as the sluice of its time made it.
struct OldLedger {
  const char* name;
  int version;
  bool has_prompt_hash;
};

inline constexpr std::array<OldLedger, 15> all{{{"1", 1, false},
                                                {"1WithPromptHash", 1, true},
                                                {"2", 2, true},
                                                {"3", 3, true},
                                                {"4", 4, true},
                                                {"5", 5, true},
                                                {"6", 6, true},
                                                {"7", 7, true},
                                                {"8", 8, true},
                                                {"9", 9, true},
                                                {"10", 10, true},
                                                {"11", 11, true},
                                                {"12", 12, true},
                                                {"13", 13, true},
                                                {"14", 14, true}}};

/// What the entries of each old ledger are of.
inline const Digest old_key = sha256("key");
inline const Digest old_answer = sha256("answer");

/// A file of that time: a run that ended, one that did not, a result, a pin, and whatever else the version
/// has.
void make(const OldLedger& old, const std::filesystem::path& file);

/// Name, type, and whether it may be null and is a key, of each column of each table.
std::map<std::string, std::string> layout_of(const std::filesystem::path& file);
int version_in(const std::filesystem::path& file);

}  // namespace sluice::old_ledgers
