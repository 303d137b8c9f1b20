#include "common/command/command_pool.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace sluice {

CommandPool::~CommandPool() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    waiting_.clear();
    for (Worker& worker : workers_) worker.stop.request();
  }
  changed_.notify_all();
  for (Worker& worker : workers_) {
    if (worker.thread.joinable()) worker.thread.join();
  }
}

void CommandPool::submit(std::uint64_t id, BoundedCommand command, std::string input, MayStart may_start) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({id, std::move(command), std::move(input), std::move(may_start)});
  if (waiting_.size() > idle_ && workers_.size() < most_) {
    Worker& worker = workers_.emplace_back();
    try {
      worker.thread = std::thread([this, &worker] { serve(worker); });
    } catch (const std::system_error&) {
      // The threads that there are do its work, if there is one.
      workers_.pop_back();
      if (workers_.empty()) {
        waiting_.pop_back();
        throw;
      }
    }
  }
  changed_.notify_one();
}

void CommandPool::cancel(std::uint64_t id) {
  std::unique_lock lock(mutex_);
  const auto running =
      std::ranges::find_if(workers_, [id](const Worker& one) { return one.is_busy && one.id == id; });
  if (running != workers_.end()) return running->stop.request();
  const auto waits = std::ranges::find(waiting_, id, &Job::id);
  if (waits == waiting_.end()) return;
  waiting_.erase(waits);
  lock.unlock();
  done_(id, {CommandEnd::Kind::cancelled, "", "it was cancelled before it began"});
}

void CommandPool::serve(Worker& worker) {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    --idle_;
    if (ends_) return;
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    worker.stop.clear();
    worker.id = job.id;
    worker.is_busy = true;
    lock.unlock();
    CommandEnd end{CommandEnd::Kind::cancelled, "", "it came too late to start"};
    if (!job.may_start || job.may_start(job.command))
      end = run_to_its_end(job.command, job.input, &worker.stop);
    lock.lock();
    worker.is_busy = false;
    if (ends_) return;
    lock.unlock();
    done_(job.id, std::move(end));
    lock.lock();
  }
}

}  // namespace sluice
