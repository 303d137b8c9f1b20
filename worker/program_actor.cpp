#include "worker/program_actor.hpp"

#include "common/command/command_pool.hpp"
#include "common/process/supervision.hpp"
#include "common/settings/request_body.hpp"
#include "worker/defaults.hpp"
#include "worker/http/http_messages.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

namespace sluice {

namespace {

/// The end of a program, by the actor's own number.
struct ProgramEnded {
  std::uint64_t number = 0;
  CommandEnd end;
};

}  // namespace

}  // namespace sluice

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ProgramEnded)

namespace sluice {

namespace {

using Kind = CommandEnd::Kind;
using Clock = std::chrono::steady_clock;

/// A call that a program answers.
struct ProgramCall {
  caf::strong_actor_ptr caller;
  std::uint64_t id = 0;  ///< The caller's.
  std::string address;   ///< `exec:NAME`, for messages.
  std::shared_ptr<const OwnFormat> program;
  /// Nothing: it has not. Written before the program's end is sent.
  std::shared_ptr<std::optional<Clock::time_point>> started =
      std::make_shared<std::optional<Clock::time_point>>();
};

struct ProgramsState {
  ProgramsState() = default;
  static inline const char* name = "programs";

  std::shared_ptr<CallLog> log;
  /// The state in which each program's files were last found to be those of the run's.
  std::map<std::shared_ptr<const OwnFormat>, std::string> found_equal;
  std::map<std::uint64_t, ProgramCall> calls;
  std::uint64_t next = 1;
  std::optional<CommandPool> pool;  ///< Its threads end before all else is gone.
};

using Programs = caf::stateful_actor<ProgramsState>;

BoundedCommand command_of(const HttpCall& call) {
  const OwnFormat& own = *call.request.program;
  BoundedCommand command;
  command.arguments = own.command;
  command.time_limit = call.total_timeout.count() > 0 ? call.total_timeout : defaults::longest_program;
  command.max_output_bytes = call.max_body;
  command.hidden_variables = own.hidden_variables;
  command.kept_variable = own.key_variable;
  command.kind = "program";
  command.for_more_time = "request_timeout_seconds would give it more";
  return command;
}

HttpFailure::Kind failure_kind(Kind kind, bool started) {
  switch (kind) {
    case Kind::not_started:
      return HttpFailure::Kind::could_not_connect;
    case Kind::too_slow:
      return HttpFailure::Kind::timed_out;
    case Kind::too_much:
      return HttpFailure::Kind::too_large;
    case Kind::cancelled:
      return started ? HttpFailure::Kind::cancelled : HttpFailure::Kind::permit_expired;
    default:
      return HttpFailure::Kind::program_failed;
  }
}

/// Its answers would be stored under the key of the program that the run began with. A file that was only
/// touched is the same, and is read once for that.
bool has_changed(ProgramsState& programs, const std::shared_ptr<const OwnFormat>& program) {
  if (program->command_identity.empty()) return false;
  std::string& known = programs.found_equal.try_emplace(program, program->command_state).first->second;
  std::string state = state_of_command(program->command);  // Before its files are read.
  if (state == known) return false;
  if (identity_of_command(program->command) != program->command_identity) return true;
  known = std::move(state);
  return false;
}

HttpFailure changed_program(const std::string& address) {
  return {HttpFailure::Kind::program_changed,
          "a file that the command of " + address +
              " names changed during the run: run again, or set cache_identity if the program writes to that "
              "file itself",
          {}};
}

void send_done(Programs* self, const caf::strong_actor_ptr& caller, HttpDone done) {
  HttpCallsDone message;
  message.done.push_back(std::move(done));
  self->send(caf::actor_cast<caf::actor>(caller), std::move(message));
}

void start(Programs* self, HttpCall call) {
  auto& state = self->state;
  if (has_changed(state, call.request.program)) {
    HttpDone done;
    done.id = call.id;
    done.failure = changed_program(call.request.url);
    return send_done(self, self->current_sender(), std::move(done));
  }
  const std::uint64_t number = state.next++;
  ProgramCall& made = state.calls[number];
  made.caller = self->current_sender();
  made.id = call.id;
  made.address = call.request.url;
  made.program = call.request.program;
  auto may_start = [window = call.window, log = state.log, members = call.log_members, started = made.started,
                    case_time = call.case_time_left, taken = Clock::now()](BoundedCommand& command) {
    const BootTime now = boot_clock_now();
    if (window && (now < window->from || now > window->to)) return false;
    const auto began = Clock::now();
    if (case_time.count() > 0) {
      const auto left = case_time - std::chrono::floor<std::chrono::milliseconds>(began - taken);
      if (left.count() <= 0) return false;
      command.time_limit = std::min(command.time_limit, left);
    }
    *started = began;
    if (log && !members.empty()) log->write(now, members);
    return true;
  };
  BoundedCommand command = command_of(call);
  state.pool->submit(number, std::move(command), whole_body(call.request), std::move(may_start));
}

void take(Programs* self, ProgramEnded& ended) {
  auto& state = self->state;
  const auto call = state.calls.extract(ended.number);
  if (call.empty()) return;
  const auto& [caller, id, address, program, started] = call.mapped();
  HttpDone done;
  done.id = id;
  done.started = started->has_value();
  // Without its wait for a place, which is no latency of the program's.
  if (done.started)
    done.elapsed = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - **started);
  if (ended.end.kind == Kind::done && has_changed(state, program)) {
    done.failure = changed_program(address);
  } else if (ended.end.kind == Kind::done) {
    done.response = {200, {}, std::move(ended.end.output)};
  } else {
    done.failure = HttpFailure{failure_kind(ended.end.kind, done.started), std::move(ended.end.message),
                               std::move(ended.end.errors)};
    if (ended.end.kind == Kind::not_started) done.started = false;
  }
  send_done(self, caller, std::move(done));
}

caf::behavior programs_behavior(Programs* self, std::shared_ptr<CallLog> log) {
  auto& state = self->state;
  state.log = std::move(log);
  state.pool.emplace(defaults::most_programs,
                     [to = caf::actor_cast<caf::actor>(self)](std::uint64_t number, CommandEnd end) {
                       caf::anon_send(to, ProgramEnded{number, std::move(end)});
                     });
  end_on_exception(self);
  return {
      [self](HttpCalls& more) {
        for (HttpCall& call : more.calls) start(self, std::move(call));
      },
      [self](const HttpCancel& cancel) {
        for (const auto& [number, call] : self->state.calls) {
          if (call.id != cancel.id || call.caller != self->current_sender()) continue;
          return self->state.pool->cancel(number);
        }
      },
      [self](ProgramEnded& ended) { take(self, ended); },
  };
}

}  // namespace

caf::actor spawn_programs(caf::actor_system& system, std::shared_ptr<CallLog> log) {
  return system.spawn(programs_behavior, std::move(log));
}

}  // namespace sluice
