#pragma once

#include "common/completion.hpp"
#include "common/error.hpp"
#include "common/hash.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace sluice {

/// The answers that one worker process was given, on disk (delivery.md, "The cache in a fleet"). What was
/// stored survives the death of the process, not the loss of power. One process owns a directory; any number
/// may read one that nobody owns. Thread-safe: all but moving.
class AnswerCache {
 public:
  /// Opens the directory for reading and writing; makes it if it is not there. Errors: cache_in_use if
  /// another process (or another AnswerCache) has it, cache_failed for all else, naming the directory.
  static Result<AnswerCache> open(const std::filesystem::path& dir);
  /// Opens an existing cache for reading alone; the answers are those at this moment. Errors as above.
  static Result<AnswerCache> open_read_only(const std::filesystem::path& dir);

  AnswerCache(AnswerCache&&) noexcept;
  AnswerCache& operator=(AnswerCache&&) noexcept;
  ~AnswerCache();

  /// Drawn when the directory was made, and kept: 32 hex digits. Affinity goes by it.
  const std::string& id() const;
  const std::filesystem::path& directory() const;

  /// The answer stored under the key, if any. A damaged entry is an error that names it (cache_failed), never
  /// a wrong answer.
  Result<std::optional<Completion>> get(const Digest& key) const;
  /// The final non-answer (refusal, truncation, unparsable) stored under the key, if any: for cached mode,
  /// once there is no answer. Errors as `get`.
  Result<std::optional<Completion>> get_outcome(const Digest& key) const;
  /// Stores the completion as an answer or, if `non_answer` is set, as an outcome, in place of what is there
  /// of that kind. Error: cache_failed (also when opened for reading alone).
  Result<void> put(const Digest& key, const Completion& completion);
  /// Forgets answer and outcome. No error if there are none.
  Result<void> erase(const Digest& key);

 private:
  struct State;
  explicit AnswerCache(std::unique_ptr<State> state);
  static Result<AnswerCache> open_with(const std::filesystem::path& dir, bool read_only);

  std::unique_ptr<State> state_;
};

}  // namespace sluice
