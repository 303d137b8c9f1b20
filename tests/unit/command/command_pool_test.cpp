#include "common/command/command_pool.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <system_error>

#include <gtest/gtest.h>
#include <pthread.h>

namespace sluice {
namespace {

BoundedCommand of(std::vector<std::string> arguments) {
  BoundedCommand command;
  command.arguments = std::move(arguments);
  command.time_limit = std::chrono::minutes(1);
  command.max_output_bytes = 1000;
  return command;
}

/// What a pool answers.
class Answers {
 public:
  CommandPool::Done taker() {
    return [this](std::uint64_t id, CommandEnd end) {
      const std::lock_guard lock(mutex_);
      ends_[id] = std::move(end);
      changed_.notify_all();
    };
  }
  CommandEnd await(std::uint64_t id) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ends_.contains(id); });
    return ends_[id];
  }
  bool has(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    return ends_.contains(id);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, CommandEnd> ends_;
};

TEST(CommandPool, AnswersEachProgramOnce) {
  Answers answers;
  CommandPool pool(2, answers.taker());
  for (std::uint64_t id = 1; id <= 20; ++id) pool.submit(id, of({"cat"}), std::to_string(id));
  for (std::uint64_t id = 1; id <= 20; ++id) EXPECT_EQ(answers.await(id).output, std::to_string(id));
  pool.submit(21, of({"no-such-program"}), "");
  EXPECT_EQ(answers.await(21).kind, CommandEnd::Kind::not_started);
}

TEST(CommandPool, RunsSoManyAtATimeAndCancelsBothKinds) {
  Answers answers;
  CommandPool pool(1, answers.taker());
  pool.submit(1, of({"sleep", "600"}), "");
  pool.submit(2, of({"cat"}), "second");
  pool.submit(3, of({"cat"}), "third");
  pool.cancel(2);
  EXPECT_EQ(answers.await(2).kind, CommandEnd::Kind::cancelled);
  EXPECT_FALSE(answers.has(3)) << "the first one holds the only place";
  pool.cancel(1);
  EXPECT_EQ(answers.await(1).kind, CommandEnd::Kind::cancelled);
  EXPECT_EQ(answers.await(3).output, "third");
  pool.cancel(4);
}

TEST(CommandPool, KillsWhatRunsWhenItEnds) {
  Answers answers;
  const auto began = std::chrono::steady_clock::now();
  {
    CommandPool pool(2, answers.taker());
    for (std::uint64_t id = 1; id <= 5; ++id) pool.submit(id, of({"sleep", "600"}), "");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
  EXPECT_FALSE(answers.has(1));
}

/// As long as it lives the system gives this process no thread.
class NoThreads {
 public:
  NoThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t beyond_memory;
    ::pthread_attr_init(&beyond_memory);
    ::pthread_attr_setstacksize(&beyond_memory, std::size_t{1} << 47U);
    ::pthread_setattr_default_np(&beyond_memory);
    ::pthread_attr_destroy(&beyond_memory);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
  ~NoThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_{};
};

TEST(CommandPool, GoesOnWithTheThreadsThatItGets) {
  Answers answers;
  CommandPool pool(2, answers.taker());
  pool.submit(1, of({"sleep", "600"}), "");
  {
    const NoThreads none;
    pool.submit(2, of({"cat"}), "second");
  }
  pool.cancel(1);
  EXPECT_EQ(answers.await(2).output, "second");
}

TEST(CommandPool, ThatGetsNoThreadSaysSoAndEndsAsUsual) {
  Answers answers;
  CommandPool pool(2, answers.taker());
  {
    const NoThreads none;
    EXPECT_THROW(pool.submit(1, of({"cat"}), "first"), std::system_error);
  }
  pool.submit(2, of({"cat"}), "second");
  EXPECT_EQ(answers.await(2).output, "second");
  EXPECT_FALSE(answers.has(1));
}

}  // namespace
}  // namespace sluice
