#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// Why a connection to the coordinator did not come about.
struct Refusal {
  /// How well ZeroMQ says it: exactly, or by a hang-up, which has several causes.
  enum class Cause : std::uint8_t {
    not_listed,    ///< This worker's key.
    no_agreement,  ///< One side has keys, and the other has none.
    hang_up,       ///< No agreement either, or another coordinator's key, or nobody listens.
  };
  Cause cause;
  std::string why;  ///< In words for the worker's user.
};

/// How far a socket's connections have come at best.
enum class ConnectionStage : std::uint8_t {
  none,    ///< Nothing was tried.
  tried,   ///< Nobody has answered yet.
  failed,  ///< Refused, or there is no way to the host.
  open,    ///< Somebody took it.
  greeted  ///< And greeted as ZeroMQ does.
};
/// Where an event of ZeroMQ's monitor shows it.
ConnectionStage stage_of(std::uint16_t event);
/// Why a connection that has come so far in seconds brought nothing, in words for the worker's user; nothing
/// where it says nothing of that.
std::optional<std::string> unanswered(ConnectionStage stage, const std::string& endpoint);

/// The refusals since the coordinator was heard last. Where the two sides do not agree, which of them hangs
/// up first is luck at each connection, so that ZeroMQ tells this one cause now exactly and now by a hang-up.
class Refusals {
 public:
  struct News {
    bool is_another = false;  ///< `why` has changed.
    bool is_to_log = false;
  };

  /// A hang-up is to be logged once `defaults::hang_ups_in_a_row` came, and takes the place of an exact
  /// reason no earlier. Each reason is logged once, and of no_agreement and hang_up the first alone.
  News on_refusal(const Refusal& refusal);
  /// The reason that is known best; empty: none.
  const std::string& why() const { return why_; }
  /// The coordinator was heard.
  void clear() { *this = Refusals(); }

 private:
  std::string why_;
  bool is_exact_ = false;
  int hang_ups_ = 0;  ///< In a row.
  bool is_unlisted_logged_ = false;
  bool is_disagreement_logged_ = false;  ///< Or a hang-up.
};

}  // namespace sluice
