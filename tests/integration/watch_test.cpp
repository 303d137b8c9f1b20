// `sluice run --watch`: a change runs the suite again, and asks only what has changed.

#include "tests/support/workbench.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

namespace sluice::watch_test {

using namespace support;

class Watch : public Workbench {
 protected:
  void write_suite(const std::string& question) {
    std::filesystem::create_directories((folder() / "suite"));
    std::ofstream(suite())
        << "suite: watched\nmodel: m\nsettings: {provider: openai}\ntests:\n"
           "  - {id: first, input: {prompt: \"One?\"}, expected: {type: must_not_contain, text: zzz}}\n"
           "  - {id: second, input: {prompt: \""
        << question << "\"}, expected: {type: must_not_contain, text: zzz}}\n";
  }
  std::string suite() const { return ((folder() / "suite") / "suite.yaml").string(); }
};

TEST_F(Watch, AChangeRunsItAgainAndAsksOnlyWhatHasChanged) {
  auto simulator = start_simulator();
  write_suite("Two?");
  auto watching =
      start_sluice(Flags{"run", suite(), "--mode", "live", "--base-url", simulator.url() + "/v1", "--watch",
                         "--report", "json=" + ((folder() / "suite") / "report.json").string()});
  const auto waits = [&](std::size_t times) {
    return eventually([&] {
      std::size_t found = 0;
      const auto text = watching.errors();
      for (auto at = text.find("waiting for a change"); at != std::string::npos;
           at = text.find("waiting for a change", at + 1))
        ++found;
      return found >= times;
    });
  };
  ASSERT_TRUE(waits(1)) << watching.errors();
  write_suite("And two?");
  ASSERT_TRUE(waits(2)) << watching.errors();
  EXPECT_NE(watching.errors().find("suite.yaml changed"), std::string::npos) << watching.errors();
  std::ofstream(suite()) << "suite: [";
  ASSERT_TRUE(waits(3)) << "a mistake does not end it: " << watching.errors();
  write_suite("And two?");
  ASSERT_TRUE(waits(4)) << watching.errors();
  watching.signal(SIGINT);
  const auto finished = finish(watching);
  EXPECT_EQ(finished.exit_code, 0) << "that of the last run: " << finished.errors;
  std::size_t answered = 0;
  for (const auto& event : simulator.final_events()) answered += event.kind == "answer" ? 1 : 0;
  EXPECT_EQ(answered, 3u) << "what had not changed came from the cache";
}

TEST_F(Watch, RunsThatOthersTakePartInAreNotWatched) {
  write_suite("Two?");
  const auto refused = run_sluice({"run", suite(), "--watch", "--resume"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("--watch goes with neither"), std::string::npos) << refused.errors;
}

}  // namespace sluice::watch_test
