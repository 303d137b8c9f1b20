// The ledger's runs in a browser: who is answered, what the pages have, and a run that goes on.
#include "tests/support/loopback_http.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/workbench.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice::view_test {

using namespace support;

class View : public Workbench {
 protected:
  View() {
    write_text(folder() / "suite.yaml",
               "suite: capitals\ntests:\n"
               "  - {id: france, input: {prompt: capital 1}, expected: {type: must_contain, text: Paris}}\n"
               "  - {id: spain, input: {prompt: capital 2}, expected: {type: must_contain, text: Madrid}}\n");
  }
  Finished run(const std::string& france, const std::string& spain, const Flags& more = {}) {
    const nlohmann::json first{{"id", "france"}, {"answer", france}};
    const nlohmann::json second{{"id", "spain"}, {"answer", spain}};
    write_text(folder() / "answers.jsonl", first.dump() + "\n" + second.dump() + "\n");
    return run_sluice(Flags{"run", "suite.yaml", "--answers", "answers.jsonl"} + more);
  }

  void serve() {
    server_.emplace(start_sluice({"view"}));
    const std::string before = "http://127.0.0.1:";
    ASSERT_TRUE(eventually([&] { return server_->output().ends_with("until Ctrl-C\n"); }))
        << server_->errors();
    const std::string output = server_->output();
    ASSERT_TRUE(output.starts_with(before)) << output;
    const auto slash = output.find('/', before.size());
    port_ = output.substr(before.size(), slash - before.size());
    folder_of_pages_ = output.substr(slash, output.find(' ') - slash);
  }
  std::string own_host() const { return "127.0.0.1:" + port_; }

  /// The whole answer of a page: status line, headers and what it has.
  std::string ask(const std::string& page, const std::string& method = "GET", const std::string& host = "",
                  const std::string& more_headers = "") {
    return ask_at(folder_of_pages_ + page, method, host, more_headers);
  }
  std::string ask_at(const std::string& path, const std::string& method = "GET", std::string host = "",
                     const std::string& more_headers = "") {
    if (host.empty()) host = own_host();
    return ask_http(own_host(),
                    method + " " + path + " HTTP/1.0\r\nHost: " + host + "\r\n" + more_headers + "\r\n");
  }
  static bool has(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
  }
  static bool has_browser() { return std::system("command -v chromium >/dev/null 2>&1") == 0; }
  /// What a page has become once its scripts have run.
  std::string in_browser(const std::string& address, const std::string& flags = "") {
    const std::string dom = (folder() / "dom.html").string();
    const std::string command = "chromium --headless=new --no-sandbox --disable-gpu " + flags +
                                " --user-data-dir='" + (folder() / "browser").string() + "' --dump-dom '" +
                                address + "' >'" + dom + "' 2>/dev/null";
    return std::system(command.c_str()) == 0 ? read_text(dom) : "";
  }
  /// A page of a run whose end view.js sees first, and whose whole page it gets when it asks again for it.
  std::string after_the_end(const std::string& whole_page) {
    std::string whole = nlohmann::json(whole_page).dump();
    for (auto at = whole.find("</"); at != std::string::npos; at = whole.find("</", at + 1))
      whole.insert(at + 1, 1, '\\');
    write_text(folder() / "live.html",
               "<body><p id=\"connection\" hidden></p><section id=\"live\" data-version=\"1\" "
               "data-refresh=\"/progress\">running</section>\n<script>let lost = 1;\n"
               "window.fetch = async (address) => {\n"
               "  if (address !== '/progress' && lost-- > 0) throw new Error('lost');\n"
               "  return { ok: true, text: async () => address === '/progress' ? "
               "'<section id=\"live\" data-version=\"2\">ended</section>' : " +
                   whole +
                   " };\n};\n"
                   "document.addEventListener('cases', (event) => {\n"
                   "  document.body.dataset.got = event.detail.querySelector('.cases').textContent;\n"
                   "});</script>\n<script>" +
                   read_text(source_path("config/report/view.js")) + "</script></body>\n");
    return in_browser("file://" + (folder() / "live.html").string(), "--virtual-time-budget=30000");
  }
  std::optional<ExitCode> end() {
    server_->signal(SIGINT);
    return server_->wait();
  }

  std::optional<Process> server_;
  std::string port_;
  std::string folder_of_pages_;  ///< `/TOKEN/`
};

TEST_F(View, ListsRunsShowsOneAndComparesTwo) {
  run("Paris", "Lisbon </script><script>alert(1)</script>");
  run("Lyon", "Madrid");
  serve();
  const std::string list = ask("");
  EXPECT_TRUE(list.starts_with("HTTP/1.1 200 OK")) << list;
  EXPECT_TRUE(has(list, ">capitals</td>")) << list;
  EXPECT_TRUE(has(list, "1 failed"));
  EXPECT_TRUE(has(list, ">Cost</th>")) << list;
  const std::string page = ask("run?id=last~1");
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200 OK")) << page;
  EXPECT_TRUE(has(page, "\"answer\": \"Lisbon \\u003c/script>")) << page;
  EXPECT_FALSE(has(page, "<script>alert"));
  EXPECT_TRUE(has(page, "<a href=\"./\">All runs</a>"));
  const std::string both = ask("compare?base=last%7E1&current=last");
  EXPECT_TRUE(both.starts_with("HTTP/1.1 200 OK")) << both;
  EXPECT_TRUE(has(both, "1 check that broke")) << both;
  EXPECT_TRUE(has(both, "\"answer\": \"Paris\"")) << "of the base";
  EXPECT_TRUE(has(both, "\"answer\": \"Lyon\"")) << "beside that of the current one";
  const std::string itself = ask("compare?base=last&current=last");
  EXPECT_TRUE(itself.starts_with("HTTP/1.1 400")) << itself;
  EXPECT_TRUE(has(itself, "cannot be compared with itself")) << itself;
  const auto one = run_sluice({"show", "last~1", "france"});
  EXPECT_FALSE(has(one.output, "Lyon")) << "the file of now has other answers: " << one.output;
  EXPECT_EQ(end(), 0);
}

TEST_F(View, ComparesRunsByTheTestsThatTheSuiteStillHas) {
  run("Paris", "Madrid");
  std::string suite = read_text(folder() / "suite.yaml");
  suite.resize(suite.find("  - {id: spain"));
  write_text(folder() / "suite.yaml", suite);
  write_text(folder() / "answers.jsonl", R"({"id": "france", "answer": "Lyon"})");
  run_sluice({"run", "suite.yaml", "--answers", "answers.jsonl"});
  serve();
  const std::string both = ask("compare?base=last%7E1&current=last");
  EXPECT_TRUE(both.starts_with("HTTP/1.1 200 OK")) << both;
  EXPECT_TRUE(has(both, "1 check that broke")) << both;
  EXPECT_TRUE(has(both, "lacks 1 case of")) << both;
  EXPECT_EQ(end(), 0);
}

TEST_F(View, AnswersNobodyElseAndNothingElse) {
  run("Paris", "Madrid");
  serve();
  EXPECT_TRUE(ask("", "GET", "evil.example:" + port_).starts_with("HTTP/1.1 403")) << "DNS rebinding";
  EXPECT_TRUE(ask("", "GET", "127.0.0.1").starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(ask("", "GET", "localhost:" + port_).starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(ask("", "POST").starts_with("HTTP/1.1 4"));
  const auto sent_by = [&](const std::string& site) {
    return ask("run?id=last", "GET", "", "Sec-Fetch-Site: " + site + "\r\n");
  };
  EXPECT_TRUE(sent_by("cross-site").starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(sent_by("same-origin").starts_with("HTTP/1.1 200"));
  for (const char* path : {"suite.yaml", "../suite.yaml", "run/../../suite.yaml", "%2e%2e%2fsuite.yaml",
                           "home/ledger.db", "run?id=../suite.yaml", "run?id=zzz", "run?id=last~7"}) {
    const std::string answer = ask(path);
    EXPECT_EQ(answer.substr(8, 2), " 4") << path << answer;
    EXPECT_FALSE(has(answer, "suite: capitals")) << path;
  }
  for (const char* path : {"", "run?id=last", "progress?id=last", "compare?base=last&current=last"}) {
    const std::string answer = ask(path);
    EXPECT_TRUE(has(answer, "\r\nContent-Security-Policy: default-src 'none'; ")) << path << answer;
    EXPECT_TRUE(has(answer, "frame-ancestors 'none'\r\n")) << path;
    EXPECT_TRUE(has(answer, "\r\nX-Content-Type-Options: nosniff\r\n"));
    EXPECT_TRUE(has(answer, "\r\nCache-Control: no-store\r\n"));
    EXPECT_TRUE(has(answer, "\r\nCross-Origin-Resource-Policy: same-origin\r\n"));
  }
}

// The first page set a cookie, which a browser sent to every other server on 127.0.0.1.
TEST_F(View, AnswersWhoHasTheTokenAlone) {
  run("Paris", "Madrid");
  serve();
  const std::string token = folder_of_pages_.substr(1, 64);
  EXPECT_EQ(folder_of_pages_, "/" + token + "/") << server_->output();
  const std::string wrong(token.rbegin(), token.rend());
  for (const std::string page : {"", "run?id=last", "progress?id=last", "compare?base=last&current=last"}) {
    for (const std::string& path : {"/" + page, "/" + wrong + "/" + page}) {
      const std::string refused =
          ask_at(path, "GET", "", "Cookie: sluice_view_" + port_ + "=" + token + "\r\n");
      EXPECT_TRUE(refused.starts_with("HTTP/1.1 403")) << path << refused;
      EXPECT_TRUE(has(refused, "open the whole address that it printed")) << refused;
      EXPECT_FALSE(has(refused, token) || has(refused, "capitals")) << refused;
    }
    const std::string answer = ask(page);
    EXPECT_FALSE(has(answer, token)) << "no page repeats it: " << page;
    EXPECT_FALSE(has(answer, "Set-Cookie")) << answer;
    EXPECT_TRUE(has(answer, "\r\nReferrer-Policy: no-referrer\r\n")) << page;
    EXPECT_FALSE(has(answer, "href=\"/") || has(answer, "action=\"/"))
        << "links stay in the folder: " << page;
  }
  EXPECT_TRUE(ask("").starts_with("HTTP/1.1 200"));
}

TEST_F(View, APastRunNamesNoWorkersThatNobodyKnows) {
  run("Paris", "Madrid");
  serve();
  EXPECT_FALSE(has(ask("run?id=last"), "0 workers"));
  EXPECT_FALSE(has(run_sluice({"report", "last"}).output, "0 workers"));
}

TEST_F(View, ShowsWhatTheLedgerNotedWhereTheSuiteIsAnother) {
  keep_no_copy();
  run("Paris", "Lisbon");
  write_text(folder() / "suite.yaml",
             "suite: capitals\ntests:\n  - {id: italy, input: {prompt: capital 3}, "
             "expected: {type: must_contain, text: Rome}}\n");
  serve();
  const std::string page = ask("run?id=last");
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200 OK")) << page;
  EXPECT_TRUE(has(page, "<p class=\"warning\">")) << "and why: " << page;
  EXPECT_TRUE(has(page, "<td>spain</td>")) << "what did not pass";
  EXPECT_EQ(server_->errors(), "") << "what is wrong stands on the page";
}

// They were shown as the run had kept them, which redacted less.
TEST_F(View, WhatCasesMissedIsRedactedByThePatternsOfNow) {
  keep_no_copy();
  std::string suite = read_text(folder() / "suite.yaml");
  suite.replace(suite.find("text: Madrid"), 12, "text: ana@madrid.es");
  write_text(folder() / "suite.yaml", suite);
  ASSERT_EQ(run("Paris", "ana@madrid.es", {"--export-baseline", "base.json"}).exit_code, 0);
  EXPECT_EQ(run("Paris", "Lisbon", {"--baseline", "base.json"}).exit_code, 1);
  suite.replace(suite.find("id: france"), 10, "id: italy");
  write_text(folder() / "suite.yaml", suite);
  write_text(folder() / "sluice.toml", read_text(folder() / "sluice.toml") + "name = 'ana@[a-z.]+'\n");
  serve();
  const std::string page = ask("run?id=last");
  EXPECT_TRUE(has(page, "<td>spain</td>")) << page;
  EXPECT_TRUE(has(page, "[redacted name]")) << page;
  EXPECT_FALSE(has(page, "ana@madrid.es")) << page;
}

TEST_F(View, FollowsARunThatGoesOnAndHoldsItNotUp) {
  auto simulator = start_simulator({R"({"latency_ms": 0, "times": 12})", R"({"fault": "hang"})"}, {});
  auto going = start_sluice(live(simulator) + Flags{"--drain-timeout", "0"});
  serve();
  const auto shows = [&](const std::string& path, const std::string& words) {
    return eventually([&] { return has(ask(path), words); });
  };
  EXPECT_TRUE(shows("progress?id=last", "12 of " + std::to_string(fixture_count()) + " trials"))
      << ask("progress?id=last");
  const std::string page = ask("run?id=last");
  EXPECT_TRUE(has(page, "data-refresh=\"progress?id=")) << page;
  EXPECT_TRUE(has(page, "<strong>Running</strong>")) << page;
  std::size_t cases = 0;
  for (auto at = page.find("\"status\": \""); at != std::string::npos;
       at = page.find("\"status\": \"", at + 1))
    ++cases;
  EXPECT_EQ(cases, 12u) << "those that have come";
  EXPECT_TRUE(has(ask(""), ">running</span>"));
  going.signal(SIGINT);
  EXPECT_EQ(finish(going).exit_code, 2);
  EXPECT_TRUE(shows("progress?id=last", "<strong>Ended: error</strong>")) << ask("progress?id=last");
  EXPECT_FALSE(has(ask("progress?id=last"), "data-refresh")) << "nothing is left to ask for";
}

TEST_F(View, ABrowserTakesItsPages) {
  if (!has_browser()) GTEST_SKIP() << "there is no chromium here";
  run("Paris", "Lisbon");
  run("Lyon", "Madrid");
  serve();
  const std::string pages = "http://" + own_host() + folder_of_pages_;
  EXPECT_TRUE(has(in_browser(pages + "run?id=last"), "data-ready=\"2\""))
      << "its policy lets the page's script run";
  const std::string both = in_browser(pages + "compare?base=last~1&current=last");
  EXPECT_TRUE(has(both, "data-ready=\"2\"")) << both.substr(0, 2000);
  EXPECT_TRUE(has(both, "differs between the runs")) << "a row for each case, of both runs";
}

TEST_F(View, NoPageRunsAProgram) {
  const auto trace = folder() / "trace.txt";
  const auto finished = run_sluice({"run", "suite.yaml", "--mode", "mock", "--perturb-command",
                                    "word=echo ran >>'" + trace.string() + "'; cat; printf ' please'"});
  ASSERT_NE(finished.exit_code, 2) << finished.errors;
  ASSERT_TRUE(std::filesystem::remove(trace)) << "the run itself ran it";
  serve();
  const std::string page = ask("run?id=last");
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200 OK")) << page;
  EXPECT_TRUE(has(page, "<p class=\"warning\">")) << page;
  EXPECT_TRUE(has(page, "`sluice report ")) << page;
  const std::string both = ask("compare?base=last&current=last");
  EXPECT_TRUE(has(both, "`sluice report ")) << both;
  EXPECT_FALSE(std::filesystem::exists(trace)) << "looking at a run ran its command";
  EXPECT_EQ(server_->errors(), "");
  EXPECT_EQ(run_sluice({"report", "last"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(trace)) << "as the page said";
}

TEST_F(View, APageWhoseServerFailsAtTheRunsEndAsksAgain) {
  if (!has_browser()) GTEST_SKIP() << "there is no chromium here";
  const std::string dom = after_the_end("<script class=\"cases\">[1, 2]</script>");
  EXPECT_TRUE(has(dom, "<section id=\"live\"")) << dom;
  EXPECT_FALSE(has(dom, "data-refresh=\"/progress\"")) << "its end has not come: " << dom;
  EXPECT_TRUE(has(dom, "data-got=\"[1, 2]\"")) << "the cases came: " << dom;
}

TEST_F(View, APageWithoutCasesTakesThoseThatAreThereFromNobody) {
  if (!has_browser()) GTEST_SKIP() << "there is no chromium here";
  const std::string dom = after_the_end("<p class=\"cases\">none of them</p>");
  EXPECT_TRUE(has(dom, "<section id=\"live\"")) << dom;
  EXPECT_FALSE(has(dom, "data-refresh=\"/progress\"")) << "its end has not come: " << dom;
  EXPECT_FALSE(has(dom, "data-got=")) << dom;
}

TEST_F(View, APortThatIsTakenIsNamed) {
  serve();
  const auto taken = run_sluice({"view", "--port", port_});
  EXPECT_EQ(taken.exit_code, 2);
  EXPECT_TRUE(has(taken.errors, "pages cannot be served at 127.0.0.1:" + port_)) << taken.errors;
  EXPECT_EQ(run_sluice({"view", "--port", "70000"}).exit_code, 2);
  EXPECT_TRUE(has(ask(""), "No run is recorded yet")) << "a home without a ledger";
  EXPECT_TRUE(ask("run?id=last").starts_with("HTTP/1.1 404"));
}

}  // namespace sluice::view_test
