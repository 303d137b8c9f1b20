// People go through generated fixtures: on a terminal, at the same time, and whatever the files hold.
#include "tests/integration/corpus_workbench.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/terminal_process.hpp"

#include <string>
#include <vector>

namespace sluice::corpus_test {

class CorpusReview : public CorpusWorkbench {};

TEST_F(CorpusReview, OnATerminal) {
  write_files("py", "#", "response = requests.get(url, verify=False)  " + std::string(100, '#'), 5);
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(generate(simulator, {"--quiet"})).exit_code, 0);
  const auto before = written(out())["tls"];
  ASSERT_EQ(before.size(), 5u);
  const std::vector<std::string> files(before.begin(), before.end());
  // An editor that first leaves no fixture, and then a good one.
  const fs::path editor = folder() / "editor.sh";
  write_text(editor,
             "if [ -e '" + (folder() / "done").string() +
                 "' ]; then sed -i 's/verify=False/verify=No/; s/requires human review/seen/' \"$1\"\n"
                 "else touch '" +
                 (folder() / "done").string() + "'; echo broken >> \"$1\"; fi\n");
  const std::string prompt = "[q]uit? ";
  TerminalProcess review(
      {program_path("sluice"), "review", out().string()},
      {{"VISUAL", "sh " + editor.string()}, {"TERM", "xterm"}, {"HOME", folder().string()}});
  const std::string page = review.read_to(prompt);
  EXPECT_NE(page.find("1 of 5"), std::string::npos) << page;
  EXPECT_NE(page.find("tls/cert_verification/enabled = false"), std::string::npos) << page;
  EXPECT_NE(page.find("2 | response = requests.get(url, verify=False)"), std::string::npos) << page;
  EXPECT_EQ(page.find(std::string(80, '#')), std::string::npos) << "lines are cut to the terminal";
  review.type("x\n");
  EXPECT_NE(review.read_to(prompt).find("Type one of the letters"), std::string::npos);
  review.type("a\n");
  EXPECT_NE(review.read_to(prompt).find("2 of 5"), std::string::npos);
  review.type("r\n");
  EXPECT_NE(review.read_to(prompt).find("3 of 5"), std::string::npos);
  review.type("e\n");
  EXPECT_NE(review.read_to("[Y/n] ").find("not valid TOML"), std::string::npos);
  review.type("y\n");
  EXPECT_NE(review.read_to("[Y/n] "), "") << "the broken line is still there, as the person left it";
  review.type("n\n");
  EXPECT_NE(review.read_to(prompt), "") << "the fixture is as it was";
  review.type("e\n");
  EXPECT_NE(review.read_to(prompt).find("4 of 5"), std::string::npos)
      << "what asks for no review any more is done";
  review.type("s\n");
  EXPECT_NE(review.read_to(prompt).find("5 of 5"), std::string::npos);
  review.type("q\n");
  EXPECT_NE(review.read_to("left.").find("2 accepted, 1 rejected, 2 left"), std::string::npos);
  EXPECT_FALSE(fs::exists(out() / "tls" / files[1]));
  EXPECT_TRUE(fs::exists(out() / ".rejected" / files[1]));
  EXPECT_NE(read_text(out() / "tls" / files[2]).find("verify=No"), std::string::npos);
  EXPECT_EQ(run_sluice({"validate-fixtures", "--fixtures", out().string()}).exit_code, 0);
  const auto list = run_sluice({"review", out().string(), "--list"});
  EXPECT_EQ(list.output.find(fs::path(files[0]).stem().string()), std::string::npos);
  EXPECT_NE(list.output.find(fs::path(files[3]).stem().string()), std::string::npos);
  EXPECT_NE(list.output.find(fs::path(files[4]).stem().string()), std::string::npos);
}

TEST_F(CorpusReview, ByTwoAtOnce) {
  write_files("py", "#", "response = requests.get(url, verify=False)", 4);
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(generate(simulator, {"--quiet"})).exit_code, 0);
  const auto names = written(out())["tls"];
  ASSERT_EQ(names.size(), 4u);
  const std::vector<std::string> files(names.begin(), names.end());
  const auto place = [&](std::size_t i) { return out() / "tls" / files[i]; };
  // While this one edits the third, somebody else changes it.
  const fs::path editor = folder() / "editor.sh";
  write_text(editor, "echo '# of another' >> '" + place(2).string() + "'; echo '# mine' >> \"$1\"\n");
  const std::string prompt = "[q]uit? ";
  TerminalProcess review({program_path("sluice"), "review", out().string()},
                         {{"VISUAL", "sh " + editor.string()},
                          {"HOME", folder().string()},
                          {"TMPDIR", folder().string()}});  // The refused text stays there.
  ASSERT_NE(review.read_to(prompt), "");
  const std::string changed = read_text(place(0)) + "# of another\n";
  write_text(place(0), changed);
  review.type("a\n");
  const std::string again = review.read_to(prompt);
  EXPECT_NE(again.find("review it again"), std::string::npos) << again;
  EXPECT_NE(again.find("1 of 4"), std::string::npos) << "shown anew: " << again;
  EXPECT_EQ(read_text(place(0)), changed) << "nothing is written over it";
  review.type("a\n");
  EXPECT_NE(review.read_to(prompt).find("2 of 4"), std::string::npos);
  EXPECT_TRUE(read_text(place(0)).ends_with("# of another\n"));
  ASSERT_EQ(run_sluice({"review", out().string(), "--reject", fs::path(files[1]).stem().string()}).exit_code,
            0);
  review.type("r\n");
  const std::string third = review.read_to(prompt);
  EXPECT_NE(third.find("is gone"), std::string::npos) << third;
  EXPECT_NE(third.find("3 of 4"), std::string::npos) << third;
  review.type("e\n");
  const std::string kept = review.read_to(prompt);
  EXPECT_NE(kept.find("your text is in"), std::string::npos) << kept;
  EXPECT_TRUE(read_text(place(2)).ends_with("# of another\n"));
  review.type("q\n");
  EXPECT_NE(review.read_to("left.").find("1 accepted, 0 rejected, 2 left"), std::string::npos);
}

TEST_F(CorpusReview, StaysInItsFolderWhateverTheIds) {
  write_files("py", "#", "response = requests.get(url, verify=False)", 1);
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(generate(simulator, {"--quiet"})).exit_code, 0);
  const fs::path file = out() / "tls" / *written(out())["tls"].begin();
  std::string text = read_text(file);
  const auto at = text.find("id = \"auto-");
  text.replace(at, text.find('\n', at) - at, "id = \"../../../escaped\"");
  write_text(file, text);
  const auto refused = run_sluice({"review", out().string(), "--reject", "../../../escaped"});
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_NE(refused.errors.find("no name of a file"), std::string::npos) << refused.errors;
  EXPECT_EQ(read_text(file), text);
  // The copy for the editor lies in a folder of its own.
  const fs::path editor = folder() / "editor.sh";
  write_text(editor, "echo \"edits $1\"; sed -i 's/requires human review/seen/' \"$1\"\n");
  TerminalProcess review({program_path("sluice"), "review", out().string()},
                         {{"VISUAL", "sh " + editor.string()}, {"HOME", folder().string()}});
  ASSERT_NE(review.read_to("[q]uit? "), "");
  review.type("e\n");
  const std::string page = review.read_to("left.");
  EXPECT_EQ(page.find("edits " + fs::temp_directory_path().string() + "/escaped"), std::string::npos) << page;
  EXPECT_NE(page.find("sluice-review-"), std::string::npos) << page;
  EXPECT_EQ(page.find(".."), std::string::npos) << page;
  EXPECT_NE(page.find("1 accepted"), std::string::npos) << page;
}

TEST_F(CorpusReview, TakesTheBeginningOfAnId) {
  write_files("py", "#", "response = requests.get(url, verify=False)", 3);
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(generate(simulator, {"--quiet"})).exit_code, 0);
  const auto names = written(out())["tls"];
  ASSERT_EQ(names.size(), 3u);
  const std::string id = fs::path(*names.begin()).stem();
  const auto refused = run_sluice({"review", out().string(), "--accept", "auto-"});
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_NE(refused.errors.find("3 fixtures that await a review begin so"), std::string::npos)
      << refused.errors;
  const auto taken = run_sluice({"review", out().string(), "--accept", id.substr(0, id.size() - 1)});
  EXPECT_EQ(taken.exit_code, 0) << taken.errors;
  EXPECT_NE(taken.output.find("1 accepted, 0 rejected, 2 left"), std::string::npos) << taken.output;
}

}  // namespace sluice::corpus_test
