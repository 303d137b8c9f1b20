#include "coordinator/perturb/custom_command.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace sluice {
namespace {

PerturbationCommand shell(std::string script) {
  return {{"sh", "-c", std::move(script)}};
}

std::string failure_of(const PerturbationCommand& command, std::string_view text = "text\n") {
  const auto result = run_perturbation_command(command, text);
  return result ? "succeeded with: " + *result : result.error().message;
}

TEST(CustomCommand, GivesBackWhatTheProgramWrites) {
  EXPECT_EQ(run_perturbation_command({{"cat"}}, "a\tb\n").value(), "a\tb\n");
  EXPECT_EQ(run_perturbation_command({{"tr", "a-z", "A-Z"}}, "abc").value(), "ABC");
  EXPECT_EQ(run_perturbation_command({{"cat"}}, "").value(), "");
}

TEST(CustomCommand, CarriesAnyBytesAndMoreThanAPipeHolds) {
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += static_cast<char>(i * 7);
  EXPECT_EQ(run_perturbation_command({{"cat"}}, text).value(), text);
}

TEST(CustomCommand, NeedNotReadItsInput) {
  const std::string text(1'000'000, 'x');
  EXPECT_EQ(run_perturbation_command({{"true"}}, text).value(), "");
  EXPECT_EQ(run_perturbation_command({{"head", "-c", "3"}}, text).value(), "xxx");
}

TEST(CustomCommand, ReadsItsInputByNameToo) {
  EXPECT_EQ(run_perturbation_command({{"cat", "/dev/stdin"}}, "text").value(), "text");
}

TEST(CustomCommand, NamesTheExitCodeAndWhatTheProgramSaid) {
  EXPECT_EQ(failure_of({{"false"}}), "the perturbation command \"false\" ended with exit code 1");
  EXPECT_EQ(failure_of(shell("echo lost it >&2; exit 7")),
            "the perturbation command \"sh\" ended with exit code 7; its standard error says: lost it");
  EXPECT_EQ(failure_of(shell("kill -9 $$")), "the perturbation command \"sh\" was ended by signal 9");
}

TEST(CustomCommand, QuotesOnlyTheBeginningOfALongComplaint) {
  const auto message = failure_of(shell("yes | head -c 1000000 >&2; exit 1"));
  EXPECT_LT(message.size(), 700u);
  EXPECT_NE(message.find("says: y\ny\n"), std::string::npos);
}

TEST(CustomCommand, SaysThatAProgramDoesNotExist) {
  const auto result = run_perturbation_command({{"no-such-perturbation"}}, "");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::usage_invalid);
  EXPECT_EQ(result.error().message,
            "the perturbation command \"no-such-perturbation\" cannot be started: No such file or directory");
  EXPECT_EQ(failure_of({{}}), "the perturbation command is empty; name a program");
}

TEST(CustomCommand, IsKilledWhenItsTimeIsOver) {
  using std::chrono::milliseconds;
  EXPECT_EQ(failure_of({{"sleep", "600"}, milliseconds(20)}),
            "the perturbation command \"sleep\" took longer than 20 ms");
  // Its children hold the pipes; or it has closed them itself.
  EXPECT_EQ(failure_of({{"sh", "-c", "sleep 600 & wait"}, milliseconds(20)}),
            "the perturbation command \"sh\" took longer than 20 ms");
  EXPECT_EQ(failure_of({{"sh", "-c", "exec >&- 2>&-; sleep 600"}, milliseconds(20)}),
            "the perturbation command \"sh\" took longer than 20 ms");
}

TEST(CustomCommand, IsKilledWhenItWritesTooMuch) {
  PerturbationCommand endless{{"yes"}};
  endless.max_output_bytes = 1000;
  EXPECT_EQ(failure_of(endless), "the perturbation command \"yes\" wrote more than 1000 bytes");

  PerturbationCommand exact{{"cat"}};
  exact.max_output_bytes = 4;
  EXPECT_EQ(run_perturbation_command(exact, "1234").value(), "1234");
  EXPECT_EQ(failure_of(exact, "12345"), "the perturbation command \"cat\" wrote more than 4 bytes");
}

TEST(CustomCommand, DoesNotSeeKeys) {
  ::setenv("SLUICE_TEST_API_KEY", "sk-secret", 1);
  ::setenv("SLUICE_TEST_API_KEY_NAME", "visible", 1);
  const auto environment = run_perturbation_command({{"env"}}, "").value();
  ::unsetenv("SLUICE_TEST_API_KEY");
  ::unsetenv("SLUICE_TEST_API_KEY_NAME");
  EXPECT_EQ(environment.find("sk-secret"), std::string::npos);
  EXPECT_NE(environment.find("SLUICE_TEST_API_KEY_NAME=visible"), std::string::npos);
}

}  // namespace
}  // namespace sluice
