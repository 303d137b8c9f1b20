#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <utility>

namespace sluice {

/// Blocks in their order, each of which is read on a thread of its own while the one before is used. `read`
/// is called once for each block, one call at a time, and must outlive this object's end, which waits for a
/// call under way. Throws what `read` throws. Not thread-safe.
template <class Block>
class ReadAhead {
 public:
  using Read = std::function<Block(std::size_t index)>;

  ReadAhead(Read read, std::size_t count) : read_(std::move(read)), count_(count) {}

  std::size_t count() const { return count_; }
  /// REQUIRES: called less often than there are blocks.
  Block next() {
    Block block = following_.valid() ? following_.get() : read_(taken_);
    if (++taken_ < count_) following_ = std::async(std::launch::async, read_, taken_);
    return block;
  }

 private:
  Read read_;
  std::size_t count_;
  std::size_t taken_ = 0;
  std::future<Block> following_;  ///< Last: its end waits for the thread.
};

}  // namespace sluice
