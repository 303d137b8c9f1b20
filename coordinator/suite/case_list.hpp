#pragma once

#include "common/error.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/prompts/arm.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

class RecordedAnswers;

/// A file whose cases are read one at a time, on demand.
class CaseFile {
 public:
  virtual ~CaseFile() = default;
  /// The case at a place that the file's index named. file_unreadable if it cannot be read any more, or is
  /// no longer what was indexed. Thread-safe.
  virtual Result<std::shared_ptr<Case>> read(std::uint64_t offset, std::uint32_t length,
                                             std::uint64_t check) const = 0;
};

/// A case that stays valid as long as this is held.
using CaseRef = std::shared_ptr<const Case>;

/// The cases of a suite. Those of fixtures and YAML tests are held; those of a JSON Lines file stay there,
/// and take some 60 bytes each here, so that a million of them fit. Reading is thread-safe, changing is not.
class CaseList {
 public:
  CaseList() = default;
  CaseList(std::initializer_list<Case> cases);

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  bool has_arms() const { return !arms_.empty(); }
  /// Whether any case stays in its file, so that reading it takes more than a look.
  bool reads_files() const { return files_.size() > 1; }
  /// The case whole. Never fails for one that is held.
  Result<CaseRef> read(std::size_t index) const;
  std::string_view id(std::size_t index) const;
  std::string_view category(std::size_t index) const;
  /// As Case::arm.
  std::uint32_t arm(std::size_t index) const { return arm_of(entries_.at(index)); }

  void push_back(Case held);
  /// A case that stays in its file.
  struct Place {
    std::uint64_t offset = 0;
    std::uint32_t length = 0;
    std::uint64_t check = 0;  ///< Of the bytes there, for CaseFile::read.
    std::uint32_t line = 0;
  };
  /// Cases of one file follow one another.
  void push_back(std::shared_ptr<const CaseFile> file, Place place, std::string_view id,
                 std::string_view category);

  /// By id, byte by byte.
  void sort_by_id();
  /// Keeps the cases that are wanted, in their order. `wanted` is asked about all of them before any goes.
  void keep_if(const std::function<bool(std::size_t index)>& wanted);
  void truncate(std::size_t size);
  /// Each case once for each arm, as `TEST@ARM` with the messages of the arm's prompt, by id. REQUIRES: none
  /// has an arm yet; a prompt that an arm names is one of the suite's.
  CaseList under(std::span<const Arm> arms) const;
  /// From here on cases have these answers.
  void take(std::shared_ptr<const RecordedAnswers> answers) { recorded_ = std::move(answers); }
  bool has_answer(std::size_t index) const;
  /// Whether any case under the arm (0 without arms) has none, so that somebody is asked.
  bool lacks_answers(std::uint32_t arm) const;
  /// Whether any of these answers calls a tool.
  bool has_recorded_calls() const;
  /// For tests: a held case, to be changed in place (but for its id and category).
  Case& held(std::size_t index);

 private:
  struct Entry {
    std::uint64_t position = 0;  ///< Of a held case in held_, or the offset in the file.
    std::uint64_t check = 0;
    std::uint64_t id_begin = 0;  ///< In ids_.
    std::uint32_t id_length = 0;
    std::uint32_t length = 0;
    std::uint32_t category = 0;  ///< In categories_.
    std::uint32_t file = 0;      ///< In files_; held if there is none.
    std::uint32_t line = 0;      ///< Of one that stays in its file.
    std::uint32_t in_arms = 0;   ///< Its test's number (Case::test) * arms_.size() + its arm's; 0: no arms.
  };

  Entry& add(std::string_view id, std::string_view category);
  std::uint32_t arm_of(const Entry& entry) const {
    return has_arms() ? static_cast<std::uint32_t>(entry.in_arms % arms_.size()) : 0;
  }
  Result<CaseRef> read_test(const Entry& entry) const;

  std::vector<Entry> entries_;
  std::vector<std::shared_ptr<Case>> held_;
  std::vector<std::shared_ptr<const CaseFile>> files_{nullptr};  ///< The first stands for held_.
  std::string ids_;
  std::vector<std::string> categories_;
  std::shared_ptr<const RecordedAnswers> recorded_;  ///< Null: none.
  std::vector<std::optional<std::uint32_t>> arms_;   ///< The prompt of each; empty: the run has no arms.
  std::map<std::string, std::uint32_t, std::less<>> category_numbers_;
};

}  // namespace sluice
