#pragma once

#include "common/files.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::support {

/// A peer of a ZeroMQ socket on this machine that has no ZeroMQ: says on the connection whatever the test
/// wants, and reads nothing that it is not asked to.
class RawConnection {
 public:
  /// `endpoint`: tcp://127.0.0.1:PORT. The greeting of ZMTP 3 without encryption, and no more.
  explicit RawConnection(const std::string& endpoint);

  /// Ends the handshake as a DEALER, and reads what the other side says of it.
  void join();
  /// False once the other side has hung up.
  bool send(std::string_view bytes);
  /// Whether the other side hangs up, while this one reads nothing that waits, and says something all the
  /// time.
  bool is_cut();
  /// Whether it has, by now.
  bool has_hung_up() const;

  /// A frame; `more` of the same message follow.
  static std::string frame(std::string_view content, bool more);

 private:
  std::string read(std::size_t bytes);

  FileDescriptor socket_;
};

}  // namespace sluice::support
