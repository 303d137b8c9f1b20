#pragma once

#include "common/documents/finding.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice {

/// What is lost or changed so that a model is asked something else, or an answer judged otherwise, than
/// there. The severest first.
enum class Loss : std::uint8_t {
  everything,  ///< Nothing is imported without it: an error, and no note.
  all_checks,  ///< Of a test, which a placeholder judges.
  test,
  variable,  ///< It is empty.
  prompt,
  provider,
  check,
  change,  ///< Nothing is lacking, and a request or a verdict is another than there.
  none,
};

/// How often each is lost.
using Losses = std::array<std::size_t, static_cast<std::size_t>(Loss::none)>;

/// What an import leaves out or changes. The same said of several places stands once, at the first. And what
/// it cannot do without.
class ImportNotes {
 public:
  void add(const std::string& file, std::uint32_t line, std::string message, Loss loss = Loss::none);
  /// Counts what no note of its own is for; `what` tells it from others there.
  void count(const std::string& file, std::uint32_t line, const std::string& what, Loss loss);
  Losses losses() const;
  std::vector<Finding> take_errors() { return std::exchange(errors_, {}); }
  /// By file and line, each with the number of further places.
  std::vector<Finding> take();

 private:
  struct Note {
    Finding finding;
    std::set<std::uint32_t> lines;  ///< All at which the same is said.
  };
  std::vector<Note> notes_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;  ///< Of notes, by file and message.
  std::array<std::set<std::tuple<std::string, std::uint32_t, std::string>>, std::tuple_size_v<Losses>> lost_;
  std::vector<Finding> errors_;
};

}  // namespace sluice
