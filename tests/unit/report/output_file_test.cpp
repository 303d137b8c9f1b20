#include "coordinator/output/output_file.hpp"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {
int umasks_set = 0;
}  // namespace

/// The C library's, counted.
extern "C" mode_t umask(mode_t mask) noexcept {
  ++umasks_set;
  return static_cast<mode_t>(::syscall(SYS_umask, mask));
}

namespace sluice {
namespace {

namespace fs = std::filesystem;

class OutputFile : public ::testing::Test {
 protected:
  OutputFile() {
    std::string name = (fs::temp_directory_path() / "sluice-output-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~OutputFile() override { fs::remove_all(folder); }

  static std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  // Nothing may be left behind beside the files that are meant.
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  fs::path folder;
};

ContentWriter writes(std::string text) {
  return [text = std::move(text)](Sink& sink) -> Result<void> {
    sink.write(text);
    return {};
  };
}

TEST_F(OutputFile, IsWrittenWhole) {
  const fs::path path = folder / "report.json";
  ASSERT_TRUE(write_whole_file("report", path.string(), writes("one")));
  EXPECT_EQ(content(path), "one");
  EXPECT_EQ(fs::status(path).permissions() & fs::perms::owner_write, fs::perms::owner_write);
  ASSERT_TRUE(write_whole_file("report", path.string(), writes("two")));
  EXPECT_EQ(content(path), "two");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFile, KeepsTheModeOfTheFileThatItReplaces) {
  const fs::path path = folder / "report.json";
  std::ofstream(path) << "old";
  fs::permissions(path, fs::perms(0640));
  ASSERT_TRUE(write_whole_file("report", path.string(), writes("new")));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
}

// It was 0 for a moment, for all threads.
TEST_F(OutputFile, ANewFileHasTheModeOfTheUmaskWhichStaysAsItIs) {
  const mode_t before = ::umask(027);
  umasks_set = 0;
  const auto written = write_whole_file("report", (folder / "report.json").string(), writes("new"));
  EXPECT_EQ(umasks_set, 0);
  ::umask(before);
  ASSERT_TRUE(written);
  EXPECT_EQ(fs::status(folder / "report.json").permissions(), fs::perms(0640));
}

TEST_F(OutputFile, FollowsASymbolicLink) {
  std::ofstream(folder / "real.json") << "old";
  fs::create_symlink("real.json", folder / "link.json");
  ASSERT_TRUE(write_whole_file("report", (folder / "link.json").string(), writes("new")));
  EXPECT_TRUE(fs::is_symlink(folder / "link.json"));
  EXPECT_EQ(content(folder / "real.json"), "new");
}

TEST_F(OutputFile, FollowsASymbolicLinkThatLeadsToNoFileYet) {
  fs::create_directory(folder / "artefacts");
  fs::create_symlink("artefacts/real.json", folder / "link.json");
  ASSERT_TRUE(write_whole_file("report", (folder / "link.json").string(), writes("new")));
  EXPECT_TRUE(fs::is_symlink(folder / "link.json"));
  EXPECT_EQ(content(folder / "artefacts" / "real.json"), "new");
  fs::create_symlink("nowhere/real.json", folder / "broken.json");
  EXPECT_FALSE(write_whole_file("report", (folder / "broken.json").string(), writes("new")));
  EXPECT_TRUE(fs::is_symlink(folder / "broken.json"));
}

TEST_F(OutputFile, AFailureOfTheWriterLeavesTheOldFile) {
  const fs::path path = folder / "report.json";
  std::ofstream(path) << "old";
  const auto outcome = write_whole_file("report", path.string(), [](Sink& sink) -> Result<void> {
    sink.write("half");
    return fail(Reason::ledger_failed, "the ledger is gone");
  });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reason, Reason::ledger_failed);
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFile, AMissingFolderAFolderAndAFullDeviceAreNamed) {
  const auto message = [](const std::string& path) {
    const auto outcome = write_whole_file("report", path, writes("text"));
    EXPECT_FALSE(outcome);
    if (outcome) return std::string();
    EXPECT_EQ(outcome.error().reason, Reason::output_failed);
    return outcome.error().message;
  };
  const std::string missing = (folder / "none" / "report.json").string();
  EXPECT_EQ(message(missing), "the report cannot be written to \"" + missing +
                                  "\": the folder does not exist; create it or name another file");
  EXPECT_EQ(message(folder.string()),
            "the report cannot be written to \"" + folder.string() + "\": it is a folder; name another file");
  EXPECT_EQ(
      message("/dev/full"),
      "the report cannot be written to \"/dev/full\": no space is left on the device; free some or write to "
      "another place");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFile, MessagesNameWhatIsWritten) {
  const auto path = (folder / "none" / "base.json").string();
  const auto early = check_output_path("baseline", path);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().message, "the baseline cannot be written to \"" + path +
                                       "\": the folder does not exist; create it or name another file");
  const auto late = write_whole_file("cassette", path, writes("text"));
  ASSERT_FALSE(late);
  EXPECT_TRUE(late.error().message.starts_with("the cassette cannot be written to \"" + path + "\": "))
      << late.error().message;
  EXPECT_TRUE(check_output_path("baseline", (folder / "base.json").string()));
}

// In a child of its own, since the limits hold for the whole process.
template <class Check>
int in_child(const Check& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

TEST_F(OutputFile, ALimitOnFileSizesIsAnErrorNotASignal) {
  const fs::path path = folder / "report.json";
  std::ofstream(path) << "old";
  const int outcome = in_child([&] {
    const rlimit limit{4096, 4096};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 10;
    const auto written = write_whole_file("report", path.string(), writes(std::string(10000, 'x')));
    if (written) return 11;
    if (written.error().reason != Reason::output_failed) return 12;
    return written.error().message.find("limit on file sizes") == std::string::npos ? 13 : 0;
  });
  EXPECT_EQ(outcome, 0);
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(files(), 1u);
}

// The temporary file's name was longer than a name may be.
TEST_F(OutputFile, ANameMayBeAsLongAsTheSystemAllows) {
  const fs::path longest = folder / std::string(255, 'x');
  EXPECT_TRUE(check_output_path("report", longest.string()));
  const auto written = write_whole_file("report", longest.string(), writes("text"));
  EXPECT_TRUE(written) << written.error().message;
  EXPECT_EQ(content(longest), "text");
  EXPECT_FALSE(check_output_path("report", (folder / std::string(256, 'x')).string()));
}

// Signals of a run are read by a thread, and no handler runs.
TEST_F(OutputFile, AThreadThatTakesASignalRemovesAHalfWrittenFile) {
  const fs::path path = folder / "report.json";
  std::size_t left = 1;
  const auto written = write_whole_file("report", path.string(), [&](Sink& sink) -> Result<void> {
    sink.write("half");
    std::thread(remove_unfinished_output).join();
    left = files();
    return {};
  });
  EXPECT_FALSE(written);
  EXPECT_EQ(left, 0u);
  remove_unfinished_output();  // Of none it does nothing.
}

// `sluice cache export` that was interrupted left its temporary file.
TEST_F(OutputFile, ASignalLeavesNoHalfWrittenFile) {
  const fs::path path = folder / "answers.cassette";
  std::ofstream(path) << "old";
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int outcome = in_child([&] {
      const auto written = write_whole_file("cassette", path.string(), [signal](Sink& sink) -> Result<void> {
        sink.write("half");
        ::raise(signal);
        return {};
      });
      return written ? 10 : 11;
    });
    EXPECT_EQ(outcome, 100 + signal) << "ends by the signal, as before";
    EXPECT_EQ(content(path), "old");
    EXPECT_EQ(files(), 1u);
  }
}

TEST_F(OutputFile, ASignalThatSomebodyElseHandlesIsLeftToThem) {
  const int outcome = in_child([&] {
    if (::signal(SIGTERM, [](int) {}) == SIG_ERR) return 10;
    const std::string path = (folder / "report.json").string();
    const auto written = write_whole_file("report", path, [](Sink& sink) -> Result<void> {
      ::raise(SIGTERM);
      sink.write("whole");
      return {};
    });
    if (!written) return 11;
    ::raise(SIGTERM);
    return 0;
  });
  EXPECT_EQ(outcome, 0);
  EXPECT_EQ(content(folder / "report.json"), "whole");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFile, StandardOutputReportsAFullDeviceAndAClosedPipe) {
  std::fflush(stdout);  // Or the child writes what the test program has written so far.
  const auto into = [](int descriptor) {
    return in_child([descriptor] {
      if (::dup2(descriptor, STDOUT_FILENO) < 0) return 10;
      const auto written = write_stdout("report", writes("text"));
      return written ? 0 : written.error().reason == Reason::output_failed ? 1 : 2;
    });
  };
  const int full = ::open("/dev/full", O_WRONLY);
  EXPECT_EQ(into(full), 1);
  ::close(full);

  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(into(ends[1]), 0);
  char text[8] = {};
  EXPECT_EQ(::read(ends[0], text, sizeof text - 1), 4);
  EXPECT_STREQ(text, "text");
  ::close(ends[0]);
  EXPECT_EQ(into(ends[1]), 1);
  ::close(ends[1]);

  const fs::path path = folder / "out";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0644);
  EXPECT_EQ(into(file), 0);
  ::close(file);
  EXPECT_EQ(content(path), "text");
}

TEST_F(OutputFile, PipesAreWrittenDirectly) {
  const fs::path path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  // A reader that is there from the start, so that nothing waits.
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(write_whole_file("report", path.string(), writes("through")));
  char text[16] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 7);
  EXPECT_STREQ(text, "through");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(path));
}

}  // namespace
}  // namespace sluice
