#pragma once

#include "tests/support/workbench.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace sluice::support {

/// A suite of two capitals whose answers a file has.
class CapitalsWorkbench : public Workbench {
 protected:
  CapitalsWorkbench() {
    write_text(folder() / "suite.yaml",
               "suite: capitals\ntests:\n"
               "  - {id: france, input: {prompt: capital 1}, expected: {type: must_contain, text: Paris}}\n"
               "  - {id: spain, input: {prompt: capital 2}, expected: {type: must_contain, text: Madrid}}\n");
    answer("Paris", "Lisbon </script><script>document.title = 'broken'</script>");
  }
  void answer(const std::string& france, const std::string& spain) {
    const nlohmann::json first{{"id", "france"}, {"answer", france}};
    const nlohmann::json second{{"id", "spain"}, {"answer", spain}};
    write_text(folder() / "answers.jsonl", first.dump() + "\n" + second.dump() + "\n");
  }
  static std::string replaced(std::string text, const std::string& old, const std::string& by) {
    return text.replace(text.find(old), old.size(), by);
  }
  Finished run(const Flags& more = {}) {
    return run_sluice(Flags{"run", "suite.yaml", "--answers", "answers.jsonl"} + more);
  }
};

}  // namespace sluice::support
