// The page that a run leaves behind, in a real browser where there is one.
#include "tests/integration/capitals_workbench.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace sluice::html_report_test {

using namespace support;

class Pages : public CapitalsWorkbench {
 protected:
  /// The page once its scripts have run; empty where there is no browser.
  std::string in_browser(const std::string& page) {
    const std::string dom = (folder() / "dom.html").string();
    const std::string command = "chromium --headless=new --no-sandbox --disable-gpu --user-data-dir='" +
                                (folder() / "browser").string() + "' --dump-dom 'file://" +
                                (folder() / page).string() + "' >'" + dom + "' 2>/dev/null";
    return std::system(command.c_str()) == 0 ? read_text(dom) : "";
  }
};

TEST_F(Pages, ABrowserListsTheCasesAndRunsNothingOfAnAnswer) {
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no chromium here";
  EXPECT_EQ(run({"--report", "html=report.html", "--report", "csv=cases.csv"}).exit_code, 1);
  const std::string dom = in_browser("report.html");
  EXPECT_NE(dom.find("data-ready=\"2\""), std::string::npos) << dom.substr(0, 2000);
  EXPECT_NE(dom.find("2 of 2 shown"), std::string::npos);
  EXPECT_EQ(dom.find("<title>broken"), std::string::npos);
  EXPECT_TRUE(read_text(folder() / "cases.csv").starts_with("id,name,")) << "and a file for spreadsheets";
}

TEST_F(Pages, ABrowserShowsArmsAsAGrid) {
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no chromium here";
  write_text(folder() / "arms.yaml",
             "suite: arms\narms:\n  - {name: one, model: gpt-x, provider: openai}\n"
             "  - {name: two, model: gpt-y, provider: openai}\ntests:\n"
             "  - {id: france, input: {prompt: capital}, expected: {type: must_contain, text: Paris}}\n");
  run_sluice({"run", "arms.yaml", "--mode", "mock", "--report", "html=report.html"});
  const std::string dom = in_browser("report.html");
  EXPECT_NE(dom.find("1 of 1 shown"), std::string::npos) << dom.substr(0, 2000);
  EXPECT_NE(dom.find("<th data-arm=\"two\"><button type=\"button\">two</button></th>"), std::string::npos);
  for (const char* cell : {"<td data-arm=\"one\"><details><summary><span class=\"status fail\">fail</span>",
                           "<td data-arm=\"two\"><details><summary><span class=\"status fail\">fail</span>"})
    EXPECT_NE(dom.find(cell), std::string::npos) << cell;
}

}  // namespace sluice::html_report_test
