#include "common/files.hpp"
#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/corpus/corpus_folder.hpp"
#include "coordinator/corpus/fixture_file.hpp"
#include "coordinator/corpus/review_page.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/display/text_table.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/suite/fixtures/fixture.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* review_examples =
    "Shows each generated fixture without a review beside its code, and takes a\n"
    "letter: a (accept), e (edit with $VISUAL or $EDITOR), r (reject), s (skip) or q\n"
    "(quit). The files hold the state, so you can continue at any time. Rejected\n"
    "fixtures move to DIR/.rejected; while they are there, they are not generated\n"
    "again.\n"
    "Examples:\n"
    "  sluice review evals/auto\n"
    "  sluice review evals/auto --list\n"
    "  sluice review evals/auto --accept auto-1f0c --reject auto-77aa,auto-9b21\n"
    "Exit code 0: done; 2: no terminal, bad fixtures, no such fixture, or a file that\n"
    "cannot be written.";

/// A folder for a file that somebody edits, gone with this.
class EditFolder {
 public:
  EditFolder() {
    std::error_code error;
    path_ = (fs::temp_directory_path(error) / "sluice-review-XXXXXX").string();
    made_ = !error && ::mkdtemp(path_.data()) != nullptr;
  }
  EditFolder(const EditFolder&) = delete;
  EditFolder& operator=(const EditFolder&) = delete;
  ~EditFolder() {
    std::error_code ignored;
    if (made_) fs::remove_all(path_, ignored);
  }
  bool is_made() const { return made_; }
  /// It stays, since what is in it is nowhere else.
  void keep() { made_ = false; }
  std::string file(const std::string& name) const { return (fs::path(path_) / name).string(); }

 private:
  std::string path_;
  bool made_ = false;
};

std::string editor() {
  for (const char* const variable : {"VISUAL", "EDITOR"}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return value;
  }
  return "";
}

/// SIGINT and SIGQUIT are ignored while it lives.
class SignalsIgnored {
 public:
  SignalsIgnored() : interrupt_(::signal(SIGINT, SIG_IGN)), quit_(::signal(SIGQUIT, SIG_IGN)) {
    ::sigemptyset(&signals_);
    ::sigaddset(&signals_, SIGINT);
    ::sigaddset(&signals_, SIGQUIT);
  }
  ~SignalsIgnored() {
    ::signal(SIGINT, interrupt_);
    ::signal(SIGQUIT, quit_);
  }
  SignalsIgnored(const SignalsIgnored&) = delete;
  SignalsIgnored& operator=(const SignalsIgnored&) = delete;

  const sigset_t& signals() const { return signals_; }

 private:
  void (*interrupt_)(int);
  void (*quit_)(int);
  sigset_t signals_{};
};

/// Waits for the editor. usage_invalid if it cannot be started or says that it failed.
Result<void> run_editor(const std::string& command, const std::string& file) {
  const auto failed = [&](const std::string& why) {
    return fail(Reason::usage_invalid, "the editor \"" + excerpt(command, 80) + "\" " + why);
  };
  // It may be a command with flags; the file's name is no part of the shell's text.
  std::array<std::string, 5> words{"/bin/sh", "-c", command + " \"$1\"", "sh", file};
  std::array<char*, 6> arguments{words[0].data(), words[1].data(), words[2].data(),
                                 words[3].data(), words[4].data(), nullptr};
  // Ctrl-C is the editor's as long as it has the terminal.
  const SignalsIgnored ignored;
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigdefault(&attributes, &ignored.signals());
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t editing = -1;
  const int code = ::posix_spawn(&editing, "/bin/sh", nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (code != 0) return failed("cannot be started: " + std::generic_category().message(code));
  int status = 0;
  while (::waitpid(editing, &status, 0) < 0) {
    if (errno != EINTR) return failed("cannot be waited for");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return failed("did not end well; nothing is changed");
  return {};
}

/// A person goes through fixtures. What went wrong with one of them is shown, and it is asked about again.
class Review {
 public:
  explicit Review(std::string folder) : folder_(std::move(folder)) {}

  /// Returns false when there is no more input, or the person has quit.
  bool ask_about(CorpusFixture& one, const std::string& place) {
    show(one, place);
    for (;;) {
      std::cout << "[a]ccept [e]dit [r]eject [s]kip [q]uit? " << std::flush;
      std::string answer;
      if (!std::getline(std::cin, answer)) return false;
      const char letter = answer.empty() ? '?' : to_lower(answer)[0];
      if (letter == 'q') return false;
      if (letter == 's') return true;
      if (letter == 'a' && done(accept(one), accepted_)) return true;
      if (letter == 'r' && done(reject_fixture(folder_, one), rejected_)) return true;
      if (letter == 'e' && edit(one)) {
        if (!awaits_review(one.fixture)) return done({}, accepted_);
        show(one, place);
      }
      // Somebody else may be at work on it.
      if (!is_as_read(one)) {
        if (!read_again(one)) return true;
        show(one, place);
      }
      if (std::string_view("aer").find(letter) == std::string_view::npos)
        std::cout << "Type one of the letters.\n";
    }
  }

  std::string summary(std::size_t of) const {
    const std::size_t left = of - accepted_ - rejected_ - done_by_others_;
    return wording::grouped(accepted_) + " accepted, " + wording::grouped(rejected_) + " rejected, " +
           wording::grouped(left) + " left.\n";
  }

  static Result<void> accept(const CorpusFixture& one) {
    const auto text = accepted_fixture(one.text, one.file);
    if (!text) return fail(text.error());
    return replace_fixture(one, *text);
  }

 private:
  static void show(const CorpusFixture& one, const std::string& place) {
    std::cout << "\n" << review_page(one.fixture, place, one.file, output_columns());
  }

  /// Whether it still asks for a review, now that its file has changed.
  bool read_again(CorpusFixture& one) {
    auto text = read_file(one.file, defaults::max_fixture_bytes);
    if (!text) {
      ++done_by_others_;
      std::cout << printable(one.file) << " is gone: somebody has rejected or moved it.\n";
      return false;
    }
    ParsedFixture now = parse_fixture(*text, one.file);
    if (!now.findings.empty()) {
      report_findings(now.findings);
      return false;
    }
    one.fixture = std::move(now.fixture);
    one.text = std::move(*text);
    if (awaits_review(one.fixture)) return true;
    ++done_by_others_;
    std::cout << printable(one.file) << " was reviewed by somebody else.\n";
    return false;
  }

  static bool done(const Result<void>& outcome, std::size_t& count) {
    if (outcome) ++count;
    if (!outcome) report_error(outcome.error());
    return outcome.has_value();
  }

  /// Whether the fixture was changed. The person edits a copy, which takes its place once it is a fixture.
  static bool edit(CorpusFixture& one) {
    const std::string command = editor();
    if (command.empty()) {
      report_error("no editor is named: set VISUAL or EDITOR, or change " + one.file + " by yourself");
      return false;
    }
    EditFolder folder;
    const std::string copy = folder.file("fixture.toml");  // An id may lead anywhere.
    const auto refuse = [](const Error& error) {
      report_error(error);
      return false;
    };
    if (!is_as_read(one)) {
      std::cout << "Somebody has changed it meanwhile.\n";
      return false;
    }
    if (!folder.is_made())
      return refuse({Reason::output_failed, "no temporary folder can be made (see TMPDIR)"});
    if (const auto copied = write_whole_file("fixture", copy, one.text); !copied)
      return refuse(copied.error());
    for (;;) {
      if (const auto edited = run_editor(command, copy); !edited) return refuse(edited.error());
      auto text = read_file(copy, defaults::max_fixture_bytes);
      if (!text) return refuse({text.error().reason, copy + " " + text.error().message});
      if (*text == one.text) return false;
      ParsedFixture now = parse_fixture(*text, one.file);
      if (now.findings.empty() && now.fixture.id != one.fixture.id)
        now.findings.push_back({one.file, now.id_line, "the id must stay \"" + one.fixture.id + "\""});
      if (now.findings.empty()) {
        if (const auto replaced = replace_fixture(one, *text); !replaced) {
          folder.keep();
          return refuse({replaced.error().reason, replaced.error().message + "; your text is in " + copy});
        }
        one.fixture = std::move(now.fixture);
        one.text = std::move(*text);
        return true;
      }
      report_findings(now.findings);
      if (!wants_to_edit_again()) return false;
    }
  }

  static bool wants_to_edit_again() {
    for (;;) {
      std::cout << "Edit it again? Else it stays as it was. [Y/n] " << std::flush;
      std::string answer;
      if (!std::getline(std::cin, answer)) return false;
      const char letter = answer.empty() ? 'y' : to_lower(answer)[0];
      if (letter == 'y') return true;
      if (letter == 'n' || letter == 'q') return false;
    }
  }

  std::string folder_;
  std::size_t accepted_ = 0;
  std::size_t rejected_ = 0;
  std::size_t done_by_others_ = 0;
};

struct ReviewCommand {
  std::string folder;
  bool list = false;
  std::vector<std::string> accept;
  std::vector<std::string> reject;

  int run() const {
    std::error_code error;
    if (!fs::is_directory(folder, error))
      return report_error(folder + " is no folder; name the --output-dir of `sluice generate-corpus`");
    auto corpus = read_corpus(folder);
    if (!corpus) return report_findings(corpus.error());
    std::vector<CorpusFixture> waiting;
    for (auto& [id, one] : corpus->fixtures) {
      if (awaits_review(one.fixture)) waiting.push_back(std::move(one));
    }
    const bool settles = !accept.empty() || !reject.empty();
    if (settles && list) return report_error("--list only lists: leave it out, or --accept and --reject");
    if (settles) return settle(waiting);
    if (list) return print(waiting);
    if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
      return report_error(
          "a review needs a terminal; in a script use --list, --accept ID and --reject ID, or change the "
          "rationales in the files");
    }
    Review review(folder);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (!review.ask_about(waiting[i], wording::grouped(i + 1) + " of " + wording::grouped(waiting.size())))
        break;
    }
    std::cout << (waiting.empty() ? "Nothing awaits a review.\n" : review.summary(waiting.size()));
    return exit_ok;
  }

 private:
  static int print(const std::vector<CorpusFixture>& waiting) {
    TextTable table;
    table.columns = {{"id", false, false}, {"category", false, false}, {"name", false, false}};
    table.whole_names = true;
    constexpr std::size_t borders = 10;
    std::size_t taken = borders;
    std::size_t widest_id = 0;
    std::size_t widest_category = std::string_view("category").size();
    for (const CorpusFixture& one : waiting) {
      widest_id = std::max(widest_id, display_width(printable(one.fixture.id)));
      widest_category = std::max(widest_category, display_width(printable(one.fixture.category)));
    }
    taken += widest_id + widest_category;
    const std::size_t columns = output_columns();
    const std::size_t left = columns > taken + 10 ? columns - taken : 10;
    for (const CorpusFixture& one : waiting) {
      table.rows.push_back({printable(one.fixture.id), printable(one.fixture.category),
                            truncated_to(printable(one.fixture.name), left)});
    }
    std::cout << (waiting.empty() ? "Nothing awaits a review.\n" : drawn(table, columns));
    return exit_ok;
  }

  /// All ids are known before the first file changes.
  int settle(const std::vector<CorpusFixture>& waiting) const {
    const auto accepted = named(waiting, "--accept", accept);
    const auto rejected = named(waiting, "--reject", reject);
    if (!accepted) return report_error(accepted.error());
    if (!rejected) return report_error(rejected.error());
    for (const CorpusFixture* one : *accepted) {
      if (std::ranges::find(*rejected, one) != rejected->end())
        return report_error(one->fixture.id + " is both accepted and rejected; name it once");
    }
    for (const CorpusFixture* one : *accepted) {
      if (const auto done = Review::accept(*one); !done) return report_error(done.error());
    }
    for (const CorpusFixture* one : *rejected) {
      if (const auto done = reject_fixture(folder, *one); !done) return report_error(done.error());
    }
    std::cout << wording::grouped(accepted->size()) << " accepted, " << wording::grouped(rejected->size())
              << " rejected, " << wording::grouped(waiting.size() - accepted->size() - rejected->size())
              << " left.\n";
    return exit_ok;
  }

  /// By the whole id, or by as much of its beginning as no other has.
  static Result<const CorpusFixture*> with_id(const std::vector<CorpusFixture>& waiting,
                                              std::string_view flag, const std::string& id) {
    std::vector<const CorpusFixture*> begin_so;
    for (const CorpusFixture& one : waiting) {
      if (one.fixture.id == id) return &one;
      if (one.fixture.id.starts_with(id)) begin_so.push_back(&one);
    }
    if (begin_so.size() == 1) return begin_so.front();
    const std::string names = std::string(flag) + " names \"" + excerpt(id, 80) + "\", and ";
    if (begin_so.empty())
      return usage_error(names + "no such fixture awaits a review; --list shows those that do");
    return usage_error(names + wording::counted(begin_so.size(), "fixture") +
                       " that await a review begin so, " + begin_so[0]->fixture.id + " and " +
                       begin_so[1]->fixture.id + " among them; give more of the id");
  }

  static Result<std::vector<const CorpusFixture*>> named(const std::vector<CorpusFixture>& waiting,
                                                         std::string_view flag,
                                                         const std::vector<std::string>& lists) {
    const auto ids = names_of(flag, lists, "auto-1f0c,auto-77aa");
    if (!ids) return fail(ids.error());
    std::vector<const CorpusFixture*> found;
    for (const std::string& id : *ids) {
      const auto one = with_id(waiting, flag, id);
      if (!one) return fail(one.error());
      if (std::ranges::find(found, *one) == found.end()) found.push_back(*one);
    }
    return found;
  }
};

}  // namespace

Command add_review_command(CLI::App& program) {
  auto command = std::make_shared<ReviewCommand>();
  CLI::App* app = program.add_subcommand("review", "Review generated fixtures on a terminal");
  app->add_option("DIR", command->folder, "The folder that `sluice generate-corpus` wrote")
      ->required()
      ->type_name("");
  app->add_flag("--list", command->list, "Only list the fixtures without a review");
  app->add_option("--accept", command->accept, "Accept these, without a terminal; may be repeated")
      ->allow_extra_args(false)
      ->type_name("ID,ID");
  app->add_option("--reject", command->reject, "Reject these, without a terminal; may be repeated")
      ->allow_extra_args(false)
      ->type_name("ID,ID");
  app->footer(review_examples);
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
