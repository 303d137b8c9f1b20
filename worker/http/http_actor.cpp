#include "worker/http/http_actor.hpp"

#include "worker/defaults.hpp"
#include "worker/http/curl_loop.hpp"
#include "worker/http/http_messages.hpp"
#include "worker/http/transfer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/message_handler.hpp>
#include <caf/send.hpp>

namespace sluice {

namespace {

class HttpActor : public caf::blocking_actor {
 public:
  HttpActor(caf::actor_config& config, std::shared_ptr<CallLog> log, bool calls_come)
      : caf::blocking_actor(config), log_(std::move(log)), calls_come_(calls_come) {}

  const char* name() const override { return "http"; }

  /// Called on other threads. The bell is rung only when the loop waits, or is about to.
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) override {
    caf::blocking_actor::enqueue(std::move(element), unit);
    if (waiting_.exchange(false)) loop_.ring();
  }

  void act() override {
    caf::message_handler handler{
        [this](HttpCalls& more) {
          for (auto& call : more.calls) start(std::move(call));
        },
        [this](const HttpCancel& cancel_call) { cancel(cancel_call.id); },
        [this](const caf::exit_msg& exit) {
          fail_state(exit.reason);
          stopping_ = true;
        },
    };
    if (calls_come_) curl_runs();
    while (!stopping_) {
      take_messages(handler);
      if (stopping_) break;
      hand_on();  // Before the wait: calls that could not start, or were cancelled.
      turn();
      collect_done();
      hand_on();
    }
    cancel_all();
    hand_on();
  }

 private:
  struct PooledTransfer : Transfer {
    caf::strong_actor_ptr caller;
    std::size_t position = 0;  ///< In busy_.
  };

  struct Answers {
    caf::strong_actor_ptr caller;
    HttpCallsDone message;
  };

  void take_messages(caf::message_handler& handler) {
    for (int taken = 0; taken < defaults::max_http_messages_per_turn && has_next_message() && !stopping_;
         ++taken) {
      auto element = dequeue();
      caller_ = element->sender;
      auto message = element->move_content_to_message();
      handler(message);
    }
    caller_ = nullptr;
  }

  void turn() {
    // Raised before the mailbox is looked at: whoever enqueues after that look finds it raised and rings.
    waiting_.exchange(true);
    loop_.turn(has_next_message() ? std::chrono::milliseconds(0) : defaults::longest_http_wait);
    waiting_.exchange(false);
  }

  /// False if curl cannot be loaded. It is with the first call, if not before.
  bool curl_runs() {
    if (!loop_.started() && load_curl()) loop_.start(defaults::max_connections);
    return loop_.started();
  }

  /// Answers a call that cannot be begun.
  void refuse(const HttpCall& call, std::string why) {
    HttpDone done;
    done.id = call.id;
    done.failure = HttpFailure{HttpFailure::Kind::other, std::move(why)};
    reply(caller_, std::move(done));
  }

  void start(HttpCall call) {
    if (!curl_runs()) return refuse(call, load_curl().error().message);
    auto transfer = idle_transfer();
    if (!transfer->usable()) return refuse(call, "curl cannot start a call: out of memory");
    transfer->caller = caller_;
    transfer->begin(std::move(call), log_.get());
    const auto code = loop_.add(transfer->handle());
    transfer->position = busy_.size();
    busy_.push_back(std::move(transfer));
    if (code != CURLM_OK) {
      end(*busy_.back(), busy_.back()->abandon({HttpFailure::Kind::other, curl().multi_strerror(code)}));
    }
  }

  std::unique_ptr<PooledTransfer> idle_transfer() {
    if (idle_.empty()) {
      auto fresh = std::make_unique<PooledTransfer>();
      if (fresh->usable()) loop_.adopt(fresh->handle());
      return fresh;
    }
    auto transfer = std::move(idle_.back());
    idle_.pop_back();
    return transfer;
  }

  void collect_done() {
    while (const auto finished = loop_.next_finished()) {
      void* owner = nullptr;
      curl().easy_getinfo(finished->easy, CURLINFO_PRIVATE, &owner);
      auto& transfer = static_cast<PooledTransfer&>(*static_cast<Transfer*>(owner));
      if (transfer.wants_warm_up(finished->code)) {
        loop_.remove(transfer.handle());
        transfer.begin_warm_up();
        if (loop_.add(transfer.handle()) == CURLM_OK) continue;
        end(transfer, transfer.finish(CURLE_ABORTED_BY_CALLBACK));
        continue;
      }
      auto done = transfer.finish(finished->code);
      loop_.remove(transfer.handle());
      end(transfer, std::move(done));
    }
  }

  void cancel(std::uint64_t id) {
    const auto found = std::ranges::find_if(
        busy_, [&](const auto& transfer) { return transfer->id() == id && transfer->caller == caller_; });
    if (found != busy_.end()) cancel(**found, "was cancelled");
  }

  void cancel(PooledTransfer& transfer, const char* what) {
    loop_.remove(transfer.handle());
    end(transfer,
        transfer.abandon({HttpFailure::Kind::cancelled, "the call to " + transfer.peer() + " " + what}));
  }

  void cancel_all() {
    while (!busy_.empty()) cancel(*busy_.back(), "was cancelled: this process ends");
  }

  /// Answers the caller, with the next hand_on, and puts the handle, with its settings, back into the pool.
  void end(PooledTransfer& transfer, HttpDone done) {
    reply(std::exchange(transfer.caller, nullptr), std::move(done));
    const auto position = transfer.position;
    idle_.push_back(std::move(busy_[position]));
    if (position + 1 != busy_.size()) {
      busy_[position] = std::move(busy_.back());
      busy_[position]->position = position;
    }
    busy_.pop_back();
  }

  void reply(const caf::strong_actor_ptr& caller, HttpDone done) {
    if (!caller) return;
    auto found = std::ranges::find(answers_, caller, &Answers::caller);
    if (found == answers_.end()) found = answers_.insert(found, Answers{caller, {}});
    found->message.done.push_back(std::move(done));
  }

  /// One message a caller for everything that has ended.
  void hand_on() {
    for (auto& [caller, message] : answers_) {
      send(caf::actor_cast<caf::actor>(caller), std::move(message));
    }
    answers_.clear();
  }

  std::shared_ptr<CallLog> log_;
  bool calls_come_;
  CurlLoop loop_;  ///< Outlives every handle: members go in reverse order.
  std::vector<std::unique_ptr<PooledTransfer>> busy_;
  std::vector<std::unique_ptr<PooledTransfer>> idle_;
  std::vector<Answers> answers_;  ///< To be handed on; of few callers.
  caf::strong_actor_ptr caller_;  ///< Of the message under way.
  std::atomic<bool> waiting_{false};
  bool stopping_ = false;
};

}  // namespace

caf::actor spawn_http(caf::actor_system& system, std::shared_ptr<CallLog> log, bool calls_come) {
  return system.spawn<HttpActor, caf::detached>(std::move(log), calls_come);
}

}  // namespace sluice
