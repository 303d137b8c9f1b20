#pragma once

#include "common/command/bounded_command.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace sluice {

/// Runs programs on threads of its own, so many at a time, in the order in which they came: whoever asks for
/// one does not wait for it. Thread-safe.
class CommandPool {
 public:
  /// Called on one of the threads, once for each program that was submitted and not dropped.
  using Done = std::function<void(std::uint64_t id, CommandEnd end)>;
  /// Called on one of the threads.
  using MayStart = std::function<bool(BoundedCommand&)>;

  /// `most` > 0 run at a time.
  CommandPool(unsigned most, Done done) : most_(most), done_(std::move(done)) {}
  CommandPool(const CommandPool&) = delete;
  CommandPool& operator=(const CommandPool&) = delete;
  /// Drops what waits, kills what runs, and waits for the threads, which answer nothing more.
  ~CommandPool();

  /// `id` is the caller's own. `may_start`, asked when its turn has come, may shorten its time limit; false:
  /// it is not run, and ends as `cancelled`. Where the system gives no more threads, those that there are run
  /// it; without any std::system_error is thrown.
  void submit(std::uint64_t id, BoundedCommand command, std::string input, MayStart may_start = {});
  /// Kills the program, or drops it if it waits: either way it is answered as `cancelled`. Nothing happens if
  /// it has ended.
  void cancel(std::uint64_t id);

 private:
  struct Job {
    std::uint64_t id = 0;
    BoundedCommand command;
    std::string input;
    MayStart may_start;
  };
  struct Worker {
    std::thread thread{};
    CommandStop stop{};
    bool is_busy = false;
    std::uint64_t id = 0;  ///< Of what it runs.
  };

  void serve(Worker& worker);

  const unsigned most_;
  const Done done_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::list<Worker> workers_;  ///< Stay where they are.
  unsigned idle_ = 0;
  bool ends_ = false;
};

}  // namespace sluice
