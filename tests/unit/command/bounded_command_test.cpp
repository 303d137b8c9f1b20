#include "common/command/bounded_command.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

/// A perturbation's, so that its messages say what allows more.
BoundedCommand command(std::vector<std::string> arguments) {
  BoundedCommand command{std::move(arguments), std::chrono::minutes(1), 4u << 20};
  command.kind = "perturbation command";
  command.for_more_time = "perturb_timeout_seconds would give it more";
  command.for_more_output = "perturb_max_bytes would allow more";
  return command;
}

BoundedCommand shell(std::string script) {
  return command({"sh", "-c", std::move(script)});
}

std::string failure_of(const BoundedCommand& command, std::string_view text = "text\n") {
  const auto result = run_bounded(command, text);
  return result ? "succeeded with: " + *result : result.error().message;
}

TEST(RunBounded, GivesBackWhatTheProgramWrites) {
  EXPECT_EQ(run_bounded(command({"cat"}), "a\tb\n").value(), "a\tb\n");
  EXPECT_EQ(run_bounded(command({"tr", "a-z", "A-Z"}), "abc").value(), "ABC");
  EXPECT_EQ(run_bounded(command({"cat"}), "").value(), "");
}

TEST(RunBounded, CarriesAnyBytesAndMoreThanAPipeHolds) {
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += static_cast<char>(i * 7);
  EXPECT_EQ(run_bounded(command({"cat"}), text).value(), text);
}

TEST(RunBounded, NeedNotReadItsInput) {
  const std::string text(1'000'000, 'x');
  EXPECT_EQ(run_bounded(command({"echo"}), text).value(), "\n");
  EXPECT_EQ(run_bounded(command({"head", "-c", "3"}), text).value(), "xxx");
}

TEST(RunBounded, ReadsItsInputByNameToo) {
  EXPECT_EQ(run_bounded(command({"cat", "/dev/stdin"}), "text").value(), "text");
}

TEST(RunBounded, NamesTheExitCodeAndWhatTheProgramWrote) {
  EXPECT_EQ(failure_of(command({"false"})), "the perturbation command \"false\" ended with exit code 1");
  EXPECT_EQ(failure_of(shell("echo lost it >&2; exit 7")),
            "the perturbation command \"sh\" ended with exit code 7; its standard error says: lost it");
  EXPECT_EQ(failure_of(shell("kill -9 $$")), "the perturbation command \"sh\" was ended by signal 9");
}

TEST(RunToItsEnd, HandsItsErrorsOverBeforeTheyAreShortened) {
  const auto end = run_to_its_end(shell("seq 300 >&2; exit 7"), "");
  EXPECT_EQ(end.message, "the perturbation command \"sh\" ended with exit code 7");
  EXPECT_TRUE(end.errors.starts_with("1\n2\n"));
  EXPECT_EQ(with_errors("it failed", end.errors, 11), "it failed; its standard error says: ...298\n299\n300");
  EXPECT_EQ(with_errors("it failed", "why", 3), "it failed; its standard error says: why");
  EXPECT_EQ(with_errors("it failed", "\u00e4b", 2), "it failed; its standard error says: ...b");
  EXPECT_EQ(with_errors("it failed", "", 3), "it failed");
}

TEST(RunToItsEnd, DropsTheWordThatItHasOnlyTheEndOf) {
  const auto end = run_to_its_end(shell("printf secret-of-old >&2; printf ' %4090s' last >&2; exit 7"), "");
  EXPECT_EQ(end.errors.find("old"), std::string::npos) << end.errors.substr(0, 20);
  EXPECT_TRUE(end.errors.ends_with("last"));
}

TEST(RunBounded, ThatWritesNothingHasFailed) {
  EXPECT_EQ(failure_of(command({"true"})), "the perturbation command \"true\" wrote nothing");
  EXPECT_EQ(failure_of(shell("echo lost it >&2")),
            "the perturbation command \"sh\" wrote nothing; its standard error says: lost it");
  EXPECT_EQ(run_bounded(command({"true"}), "").value(), "");
}

TEST(RunBounded, IsCalledWhatItsUserCallsIt) {
  auto command = shell("exit 3");
  command.shown = "exit 3";
  EXPECT_EQ(failure_of(command), "the perturbation command \"exit 3\" ended with exit code 3");
}

TEST(RunBounded, QuotesOnlyTheEndOfALongComplaint) {
  const auto message = failure_of(shell("yes | head -c 1000000 >&2; echo the cause >&2; exit 1"));
  EXPECT_LT(message.size(), 700u);
  EXPECT_NE(message.find("says: ..."), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with("y\nthe cause")) << message;
}

TEST(RunBounded, RunsInTheFolderThatIsNamed) {
  auto where = command({"pwd"});
  where.folder = "/";
  EXPECT_EQ(run_bounded(where, "").value(), "/\n");
  where.folder = "/no-such-folder";
  EXPECT_EQ(run_to_its_end(where, "").kind, CommandEnd::Kind::not_started);
}

TEST(RunCommand, IsStoppedByAnotherThread) {
  CommandStop stop;
  stop.request();
  const auto ended = run_to_its_end(command({"sleep", "600"}), "", &stop);
  EXPECT_EQ(ended.kind, CommandEnd::Kind::cancelled);
  EXPECT_EQ(ended.message, "the perturbation command \"sleep\" was cancelled");
  EXPECT_EQ(run_to_its_end(shell("exec >&- 2>&-; sleep 600"), "", &stop).kind, CommandEnd::Kind::cancelled);
  stop.clear();
  EXPECT_EQ(run_to_its_end(command({"cat"}), "text", &stop).output, "text");
}

TEST(RunBounded, ReportsThatAProgramDoesNotExist) {
  const auto result = run_bounded(command({"no-such-perturbation"}), "");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::usage_invalid);
  EXPECT_EQ(result.error().message,
            "the perturbation command \"no-such-perturbation\" cannot be started: No such file or directory");
  EXPECT_EQ(run_to_its_end(command({"no-such-perturbation"}), "").error_number, ENOENT);
  EXPECT_EQ(run_to_its_end(command({"/"}), "").error_number, EACCES);
  EXPECT_EQ(failure_of(command({})), "the perturbation command is empty; name a program");
  EXPECT_EQ(run_to_its_end(command({}), "").error_number, 0);
}

TEST(RunBounded, IsKilledWhenItsTimeIsOver) {
  using std::chrono::milliseconds;
  const auto in_20_ms = [](BoundedCommand command) {
    command.time_limit = milliseconds(20);
    return failure_of(command);
  };
  EXPECT_EQ(in_20_ms(command({"sleep", "600"})),
            "the perturbation command \"sleep\" took longer than 20 ms; perturb_timeout_seconds would give "
            "it more");
  // Its children hold the pipes; or it has closed them itself.
  for (const char* script : {"sleep 600 & wait", "exec >&- 2>&-; sleep 600"}) {
    EXPECT_EQ(
        in_20_ms(shell(script)),
        "the perturbation command \"sh\" took longer than 20 ms; perturb_timeout_seconds would give it more");
  }
}

/// The ends of a pipe that programs inherit.
struct InheritedPipe {
  InheritedPipe() { opened = ::pipe(ends.data()) == 0; }
  ~InheritedPipe() {
    for (const int end : ends) ::close(end);
  }
  InheritedPipe(const InheritedPipe&) = delete;
  InheritedPipe& operator=(const InheritedPipe&) = delete;

  std::array<int, 2> ends{-1, -1};
  bool opened = false;
};

/// The next byte, or "" at the end: when every process that could write has ended.
std::string next_byte(int fd) {
  constexpr int patience_ms = 60'000;
  pollfd readable{fd, POLLIN, 0};
  if (::poll(&readable, 1, patience_ms) <= 0) return "nothing for a minute";
  char byte = 0;
  return ::read(fd, &byte, 1) == 1 ? std::string(1, byte) : "";
}

TEST(RunBounded, DoesNotOutliveTheProcessThatStartedIt) {
  InheritedPipe pipe;
  ASSERT_TRUE(pipe.opened);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto out = std::to_string(pipe.ends[1]);
    (void)run_bounded(shell("sleep 600 & printf r >&" + out + "; wait"), "text");
    ::_exit(0);
  }
  ::close(std::exchange(pipe.ends[1], -1));
  EXPECT_EQ(next_byte(pipe.ends[0]), "r");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(next_byte(pipe.ends[0]), "") << "the shell or its child is still there";
}

TEST(RunBounded, LeavesNoChildBehind) {
  EXPECT_EQ(run_bounded(command({"cat"}), "a").value(), "a");
  EXPECT_FALSE(run_bounded(command({"no-such-perturbation"}), "a"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(RunBounded, IsKilledWhenItWritesTooMuch) {
  auto endless = command({"yes"});
  endless.max_output_bytes = 1000;
  EXPECT_EQ(
      failure_of(endless),
      "the perturbation command \"yes\" wrote more than 1000 bytes; perturb_max_bytes would allow more");

  auto exact = command({"cat"});
  exact.max_output_bytes = 4;
  EXPECT_EQ(run_bounded(exact, "1234").value(), "1234");
  EXPECT_EQ(failure_of(exact, "12345"),
            "the perturbation command \"cat\" wrote more than 4 bytes; perturb_max_bytes would allow more");
}

// It was waited for until it ended by itself.
TEST(RunBounded, IsKilledAlsoInAGroupOfItsOwn) {
  const auto began = std::chrono::steady_clock::now();
  auto endless = command({"timeout", "60", "yes"});
  endless.max_output_bytes = 1000;
  EXPECT_NE(failure_of(endless).find("wrote more than 1000 bytes"), std::string::npos);
  auto slow = command({"setsid", "sh", "-c", "sleep 60 & wait"});
  slow.time_limit = std::chrono::milliseconds(100);
  EXPECT_NE(failure_of(slow).find("took longer than 100 ms"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
}

TEST(RunBounded, DoesNotSeeKeys) {
  ::setenv("SLUICE_TEST_API_KEY", "sk-secret", 1);
  ::setenv("SLUICE_TEST_API_KEY_NAME", "visible", 1);
  ::setenv("SLUICE_TEST_TOKEN", "sk-other-secret", 1);
  auto env = command({"env"});
  env.hidden_variables = {"SLUICE_TEST_TOKEN"};
  const auto environment = run_bounded(env, "").value();
  ::unsetenv("SLUICE_TEST_API_KEY");
  ::unsetenv("SLUICE_TEST_API_KEY_NAME");
  ::unsetenv("SLUICE_TEST_TOKEN");
  EXPECT_EQ(environment.find("sk-"), std::string::npos);
  EXPECT_NE(environment.find("SLUICE_TEST_API_KEY_NAME=visible"), std::string::npos);
}

}  // namespace
}  // namespace sluice
