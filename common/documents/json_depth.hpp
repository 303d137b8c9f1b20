#pragma once

#include "common/defaults.hpp"

#include <cstddef>
#include <string_view>

namespace sluice {

/// True if brackets (outside strings) nest deeper than `limit`; cheap enough to run before each parse. A
/// document tree far beyond 100 levels would be walked and destroyed recursively.
bool nests_deeper_than(std::string_view json, std::size_t limit);

/// The text as a tree of nlohmann's, which copies, compares and writes trees by recursion: discarded if the
/// text is no JSON, or nests deeper than `limit`. For whatever sluice did not write a moment ago, its own
/// files in a home among it.
template <class Tree>
Tree parse_tree(std::string_view json, std::size_t limit = defaults::max_checked_depth) {
  if (nests_deeper_than(json, limit)) return Tree(Tree::value_t::discarded);
  return Tree::parse(json.begin(), json.end(), nullptr, false);
}

}  // namespace sluice
